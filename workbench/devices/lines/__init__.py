"""Paper lines on a device: programs bound to memory, and run step by step or as a function of arrays."""

from workbench.devices.lines.compiled import Compiled
from workbench.devices.lines.workspace import Workspace
from workbench.lines import LinesError

__all__ = ["Compiled", "LinesError", "Workspace"]
