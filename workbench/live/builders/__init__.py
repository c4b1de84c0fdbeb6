"""Builders of problems: bubbles, formulas, matrices."""
