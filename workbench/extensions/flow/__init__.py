"""Sequences of linear systems: flows whose interface moves, heat that spreads, and records of both.

A `SystemSequence` is a problem of which a run solves the first system and a `Sequence` all of them.
"""
