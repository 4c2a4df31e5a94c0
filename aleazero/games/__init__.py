"""Games: the game contract, loading and checking games, and the rules of the bundled games."""
