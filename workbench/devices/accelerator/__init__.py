"""The accelerator device, common to OpenCL and CUDA; each implements `Runtime`."""
