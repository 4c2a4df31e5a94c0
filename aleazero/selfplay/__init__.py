"""Self-play: environments, episodes, and games that players play for the sake of their samples."""
