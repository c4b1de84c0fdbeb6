"""Descriptions and performance profiles of machines. Importing it is cheap; `doctor` measures and queries drivers."""

from workbench.machines.describe import describe_machine

__all__ = ["describe_machine"]
