"""A run: one training history and its directory, from one file of settings to a stronger player."""
