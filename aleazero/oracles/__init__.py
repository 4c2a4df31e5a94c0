"""Oracles: exact values of solved games."""
