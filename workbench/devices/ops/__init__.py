"""Operators with one class for all devices: a kernel of the kernel language, the arrays that it has, and its cost."""
