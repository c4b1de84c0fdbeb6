"""The processor as this process may use it: its model, cores, caches and memory, limits of containers included.

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

import psutil

try:
    import resource
except ImportError:  # Windows
    resource = None

CPUS = Path("/sys/devices/system/cpu")
CGROUPS = Path("/sys/fs/cgroup")


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
    allowed = len(_allowed())
    return allowed if share is None else max(1, min(allowed, math.ceil(share)))


def physical_cores() -> int:
    """The cores behind the hardware threads that this process may run on; two threads of one core count once."""
    siblings = {_text(CPUS / f"cpu{cpu}" / "topology" / "thread_siblings_list") for cpu in _allowed()}
    if None not in siblings:
        return len(siblings)
    return min(psutil.cpu_count(logical=False) or logical_cores(), len(_allowed()))


def cpu_share(root: Path = CGROUPS) -> float | None:
    """How many hardware threads' worth of time a container's quota grants, None without a quota."""
    shares: list[float] = []
    for folder in _cgroup_folders(root, "cpu"):
        quota, _, period = (_text(folder / "cpu.max") or "max").partition(" ")
        if quota == "max":
            quota, period = _text(folder / "cpu.cfs_quota_us"), _text(folder / "cpu.cfs_period_us")
        if quota and period and float(quota) > 0:
            shares.append(float(quota) / float(period))
    return min(shares, default=None)


def memory() -> tuple[int, int]:
    """Bytes of memory in all, and bytes that can still be had without swapping, limits of a container and of this
    process included."""
    system = psutil.virtual_memory()
    total, free = system.total, system.available
    for limit, used in (*_memory_limits(CGROUPS), *_data_limit()):
        total, free = min(total, limit), min(free, max(0, limit - used))
    return total, free


def last_level_cache() -> int | None:
    """Bytes of all last-level caches together that this process's cores use, None if the system does not say."""
    caches: dict[tuple[int, str], int] = {}
    for cpu in _allowed():
        for folder in (CPUS / f"cpu{cpu}" / "cache").glob("index*"):
            size, shared = _text(folder / "size"), _text(folder / "shared_cpu_list")
            if size and shared and size.endswith("K"):
                caches[int(_text(folder / "level") or 0), shared] = int(size[:-1]) << 10
    last = max((level for level, _ in caches), default=0)
    return sum(size for (level, _), size in caches.items() if level == last) or None


def _data_limit() -> Iterator[tuple[int, int]]:
    """Limit and use, in bytes, of the memory that this process may write (RLIMIT_DATA), where there is a limit."""
    if resource is None or (limit := resource.getrlimit(resource.RLIMIT_DATA)[0]) == resource.RLIM_INFINITY:
        return
    for line in _lines(Path("/proc/self/status")):
        if line.startswith("VmData:"):
            yield limit, 1024 * int(line.split()[1])


def _memory_limits(root: Path) -> Iterator[tuple[int, int]]:
    """Limit and use, in bytes, of each enclosing group that has a limit."""
    for folder in _cgroup_folders(root, "memory"):
        for limit_file, used_file in (
            ("memory.max", "memory.current"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        ):
            limit, used = _text(folder / limit_file), _text(folder / used_file)
            if limit and used and limit != "max":
                yield int(limit), int(used)


def _cgroup_folders(root: Path, controller: str, membership: Path = Path("/proc/self/cgroup")) -> Iterator[Path]:
    """The folders of the control groups that limit this process, of version 1 and 2, innermost first.

    A limit of an outer group binds as well, so all ancestors are named. Inside a container the listed path may be the
    host's, which is not mounted; then the mount's root is the container's own group.
    """
    for line in _lines(membership):
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        mount = root / controller if controllers else root
        folder = mount / path.lstrip("/")
        while folder != mount:
            yield folder
            folder = folder.parent
        yield mount


def _allowed() -> set[int]:
    """The numbers of the hardware threads that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(logical_cores()))


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None


def _lines(path: Path) -> Iterator[str]:
    """Line by line, since /proc/cpuinfo takes long to write for hundreds of cores."""
    try:
        with path.open() as file:
            yield from (line.rstrip("\n") for line in file)
    except OSError:
        return


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=10).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def _first_line(*command: str) -> str:
    return _output(*command).partition("\n")[0].strip()
