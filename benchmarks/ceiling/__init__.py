"""Upper bound of the speed of the search: the same closed-loop search in C++, measured in the same process."""
