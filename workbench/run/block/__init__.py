"""Runs with many right-hand sides."""

from workbench.run.block.driver import BlockRun

__all__ = ["BlockRun"]
