"""Sequences of linear systems, solved one after another."""
