"""Players: who selects an action in a position, and the text that makes one."""
