"""Runs with many right-hand sides."""
