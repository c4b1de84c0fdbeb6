"""Kernels on the cores: numba functions, compiled by another process, cached on disk, run by all cores."""

from workbench.jit.environment import check_environment

# Before numba is imported, which has no sentence for it.
check_environment()
