"""Games in progress, for user interfaces and servers."""
