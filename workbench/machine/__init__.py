"""What this machine is and has. Importing it is cheap; `doctor` measures and asks the drivers."""

from workbench.machine.describe import describe_machine

__all__ = ["describe_machine"]
