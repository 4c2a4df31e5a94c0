"""Replay: the store of samples, from the games of self-play to the batches of training."""
