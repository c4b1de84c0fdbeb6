"""Races and parameter sweeps."""
