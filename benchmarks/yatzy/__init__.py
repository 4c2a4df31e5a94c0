"""Benefits and costs of explicit chance nodes in Yatzy."""
