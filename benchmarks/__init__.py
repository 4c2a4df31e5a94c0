"""Benchmarks and studies of the repository; ``python -m benchmarks NAME`` runs one."""
