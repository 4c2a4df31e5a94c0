"""Training: from self-play to a stronger network. Only ``loss``, ``trainer`` and what calls them need torch."""
