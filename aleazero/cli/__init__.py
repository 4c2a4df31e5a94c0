"""The command ``aleazero``: one file a verb. Nothing slow is imported before a verb runs."""
