"""Evaluation: matches on played luck, and regret against exact values."""
