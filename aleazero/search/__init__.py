"""The search: one tree search over explicit chance, compiled for kernel games and plain for any."""
