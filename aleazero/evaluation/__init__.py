"""Evaluation: matches with reproducible dice, gates, ratings, and regret compared with exact values."""
