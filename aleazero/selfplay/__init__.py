"""Self-play: the environment that plays chance, and episodes of agents in it."""
