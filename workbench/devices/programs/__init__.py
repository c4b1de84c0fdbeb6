"""Paper lines on a device: programs bound to memory, and run step by step or as a function of arrays."""

from workbench.devices.programs.workspace import Compiled, Workspace
from workbench.lines import LinesError

__all__ = ["Compiled", "LinesError", "Workspace"]
