"""The command ``aleazero``: one file per group of commands. Nothing slow is imported before a verb runs."""
