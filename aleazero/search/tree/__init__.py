"""The compiled tree search: loop.py holds the main flow, the other files one step each."""
