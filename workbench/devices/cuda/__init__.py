"""The CUDA runtime, by CuPy."""

from workbench.devices.cuda.runtime import Cuda

__all__ = ["Cuda"]
