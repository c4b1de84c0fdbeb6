"""Kernel text in the common subset of CUDA C and OpenCL C, one small module a kernel; nothing here runs anything."""
