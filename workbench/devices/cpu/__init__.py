"""The CPU back end, compiled by numba."""

from workbench.devices.environment import check_environment

# Before numba is imported, which has no sentence for it.
check_environment()

from workbench.devices.cpu.device import Cpu  # noqa: E402

__all__ = ["Cpu"]
