"""Oracles: exact values of games small enough to solve."""
