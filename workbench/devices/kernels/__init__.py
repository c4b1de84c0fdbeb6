"""Kernel texts in the common subset of CUDA C and OpenCL C, a module for each family; nothing here runs anything."""
