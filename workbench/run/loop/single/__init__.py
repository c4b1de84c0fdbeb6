"""Runs with one right-hand side."""
