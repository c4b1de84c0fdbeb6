"""The processor as this process may use it: its model, cores and caches, within the limits of a container.

Everything is read from files of the system or printed by its tools, in a few milliseconds.
"""

from __future__ import annotations

import math
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from workbench.process.limits import CGROUPS, cpu_share, text_of

CPUS = Path("/sys/devices/system/cpu")
"""The folder in which Linux describes each hardware thread."""
TIMEOUT = 10.0
"""Seconds after which a tool of the system counts as missing."""


def model() -> str:
    """The name of the processor as its maker writes it; else the architecture."""
    if sys.platform == "darwin":
        return _first_line("sysctl", "-n", "machdep.cpu.brand_string") or platform.machine()
    for line in _lines(Path("/proc/cpuinfo")):
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return value.strip()
    # On ARM /proc/cpuinfo has numbers only; lscpu knows their names.
    for line in _output("lscpu").splitlines():
        if line.startswith("Model name:"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def logical_cores() -> int:
    """The number of hardware threads of the machine."""
    return os.cpu_count() or 1


def usable_cores(root: Path = CGROUPS) -> int:
    """The number of hardware threads that this process may keep busy, at least 1.

    The smaller one of its affinity and of its container's share of the processor, rounded up. root: the folder of
    cgroups.
    """
    share = cpu_share(root)
    threads = len(allowed_threads())
    return threads if share is None else max(1, min(threads, math.ceil(share)))


def physical_cores() -> int:
    """The number of cores that this process may run on; two hardware threads of one core count once."""
    cores = {text_of(CPUS / f"cpu{thread}" / "topology" / "thread_siblings_list") for thread in allowed_threads()}
    if None not in cores:
        return len(cores)
    import psutil

    return min(psutil.cpu_count(logical=False) or logical_cores(), len(allowed_threads()))


def last_level_cache() -> int | None:
    """Bytes of the last-level caches of the cores that this process uses, added up; None where none is reported."""
    caches: dict[tuple[int, str], int] = {}
    """Bytes by the level of a cache and the hardware threads that share it."""
    for thread in allowed_threads():
        for folder in (CPUS / f"cpu{thread}" / "cache").glob("index*"):
            size, sharing = text_of(folder / "size"), text_of(folder / "shared_cpu_list")
            # Linux writes KiB, as in "32768K".
            if size and sharing and size.endswith("K"):
                caches[int(text_of(folder / "level") or 0), sharing] = int(size[:-1]) << 10
    last = max((level for level, _ in caches), default=0)
    return sum(size for (level, _), size in caches.items() if level == last) or None


def allowed_threads() -> frozenset[int]:
    """The numbers of the hardware threads that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(0))
    return frozenset(range(logical_cores()))


def _lines(path: Path) -> Iterator[str]:
    """The lines of a file; none if it cannot be read. One by one: /proc/cpuinfo of hundreds of cores takes long."""
    try:
        with path.open() as file:
            yield from (line.rstrip("\n") for line in file)
    except OSError:
        return


def _output(*command: str) -> str:
    """The output of a tool; empty if it is missing or does not answer."""
    try:
        return subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False, timeout=TIMEOUT
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def _first_line(*command: str) -> str:
    return _output(*command).partition("\n")[0].strip()
