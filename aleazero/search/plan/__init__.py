"""The exact planner: expectimax over a graph of shared states."""
