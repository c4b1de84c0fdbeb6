"""The accelerator device, common to OpenCL and CUDA; each implements `Runtime`."""

from workbench.devices.accelerator.device import Accelerator, as_accelerator

__all__ = ["Accelerator", "as_accelerator"]
