"""Players, which select actions, and the player specs that describe them."""
