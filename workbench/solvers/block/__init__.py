"""Conjugate gradient methods for many right-hand sides: A X = B with block vectors (N, s)."""
