"""Check of numba's environment variables."""

from __future__ import annotations

import os

from workbench.errors import InputError


def check_environment() -> None:
    """Raise InputError where numba is configured to use no core, or not to compile."""
    cores = os.environ.get("NUMBA_NUM_THREADS", "1").strip()
    if not cores.isdecimal() or int(cores) < 1:
        raise InputError(f"NUMBA_NUM_THREADS is {cores!r}, and must be a number of cores from 1 on; unset or change it")
    if os.environ.get("NUMBA_DISABLE_JIT", "0").strip() not in ("", "0"):
        raise InputError("NUMBA_DISABLE_JIT keeps numba from compiling, and kernels must be compiled; unset it")
