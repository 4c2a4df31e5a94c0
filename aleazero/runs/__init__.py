"""A run: one training history and its directory, from one config file to a trained player."""
