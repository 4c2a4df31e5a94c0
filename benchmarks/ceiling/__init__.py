"""A ceiling for the search's speed: the same closed-loop search in C++, measured in the same process."""
