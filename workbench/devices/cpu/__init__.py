"""The CPU back end, compiled by numba."""

from workbench.devices.cpu.device import Cpu

__all__ = ["Cpu"]
