"""The CPU back end: kernels that LLVM compiles."""

from workbench.devices.cpu.device import Cpu

__all__ = ["Cpu"]
