"""The one accelerator device; what differs between OpenCL and CUDA is a `Runtime`."""

from workbench.devices.accelerator.device import Accelerator, as_accelerator

__all__ = ["Accelerator", "as_accelerator"]
