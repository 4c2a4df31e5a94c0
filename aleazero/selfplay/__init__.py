"""Self-play: games that players play for the sake of their samples."""
