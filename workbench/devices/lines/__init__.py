"""Paper lines: the lines of an algorithm as text, checked, planned into few passes and compiled once per device."""

from workbench.devices.lines.language import LinesError
from workbench.devices.lines.workspace import Compiled, Workspace

__all__ = ["Compiled", "LinesError", "Workspace"]
