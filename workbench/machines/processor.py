"""The processor as this process may use it: its model, cores and caches, limits of containers included.

Everything is read from the system's files in a few milliseconds; what a system does not report is None.
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


def model() -> str:
    """The processor's name, as its maker writes it."""
    if sys.platform == "darwin":
        return _first_line("sysctl", "-n", "machdep.cpu.brand_string") or platform.machine()
    for line in _lines(Path("/proc/cpuinfo")):
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return value.strip()
    # ARM's /proc/cpuinfo holds numbers only; lscpu knows the names that belong to them.
    for line in _output("lscpu").splitlines():
        if line.startswith("Model name:"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def logical_cores() -> int:
    """All hardware threads of the machine."""
    return os.cpu_count() or 1


def usable_cores(root: Path = CGROUPS) -> int:
    """The hardware threads that this process may keep busy: its affinity and its container's share, rounded up."""
    share = cpu_share(root)
    threads = len(allowed())
    return threads if share is None else max(1, min(threads, math.ceil(share)))


def physical_cores() -> int:
    """The cores behind the hardware threads that this process may run on; two threads of one core count once."""
    siblings = {text_of(CPUS / f"cpu{cpu}" / "topology" / "thread_siblings_list") for cpu in allowed()}
    if None not in siblings:
        return len(siblings)
    import psutil

    return min(psutil.cpu_count(logical=False) or logical_cores(), len(allowed()))


def last_level_cache() -> int | None:
    """Bytes of all last-level caches together that this process's cores use, None if the system does not say."""
    caches: dict[tuple[int, str], int] = {}
    for cpu in allowed():
        for folder in (CPUS / f"cpu{cpu}" / "cache").glob("index*"):
            size, shared = text_of(folder / "size"), text_of(folder / "shared_cpu_list")
            if size and shared and size.endswith("K"):
                caches[int(text_of(folder / "level") or 0), shared] = int(size[:-1]) << 10
    last = max((level for level, _ in caches), default=0)
    return sum(size for (level, _), size in caches.items() if level == last) or None


def allowed() -> frozenset[int]:
    """The numbers of the hardware threads that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(0))
    return frozenset(range(logical_cores()))


def _lines(path: Path) -> Iterator[str]:
    """Line by line, since /proc/cpuinfo takes long to write for hundreds of cores."""
    try:
        with path.open() as file:
            yield from (line.rstrip("\n") for line in file)
    except OSError:
        return


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=10).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def _first_line(*command: str) -> str:
    return _output(*command).partition("\n")[0].strip()
