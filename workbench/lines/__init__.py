"""Paper lines: the lines of an algorithm as text, parsed, typed, checked and planned into few passes; no device."""

from workbench.lines.types import LinesError

__all__ = ["LinesError"]
