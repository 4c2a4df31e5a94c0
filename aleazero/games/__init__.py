"""Games: the contract, the State facade, and the rules of each game that ships."""
