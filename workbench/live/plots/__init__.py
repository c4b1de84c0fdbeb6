"""Convergence, timeline, roofline and spectrum."""
