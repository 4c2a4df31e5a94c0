"""Compiled code: compilation with numba, machine code on disk, and random streams for Python and for kernels."""
