"""Choices of a run: its configuration, the rules that it obeys, and the texts that hold it."""
