"""The OpenCL runtime, by PyOpenCL."""

from workbench.devices.opencl.runtime import OpenCL, choose

__all__ = ["OpenCL", "choose"]
