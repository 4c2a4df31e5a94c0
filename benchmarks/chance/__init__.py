"""Chance modes and the planner compared with exact values, at equal numbers of evaluations."""
