"""The tree search in plain Python: for object games, and as the reference implementation."""
