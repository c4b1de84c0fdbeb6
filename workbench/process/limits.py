"""Limits of this process: memory and processor time of its control groups, and the memory that it may write; and a
limit of the size to which a packed file may unpack."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Iterator
from pathlib import Path

from workbench.errors import MOST_UNKNOWNS, RANKS_WAIT, RUN_SECONDS, InputError, quoted

try:
    import resource
except ImportError:  # Windows
    resource = None

CGROUPS = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")
PAGE = resource.getpagesize() if resource else 4096
"""Bytes."""
UNPACKED_BYTES, UNPACKED_RATIO = 256 << 20, 50
"""A packed file may unpack to the larger of UNPACKED_BYTES and UNPACKED_RATIO times its size: runs take about 5 times,
matrices and traces 10."""
MOST_MEMBERS = 10_000
"""Members of an archive."""
RANKS_WAIT_SECONDS = 600.0
"""Seconds that a rank waits for the others in one call: the longest wait of a run in order is for one that compiles or
assembles what the others have already, some minutes on a loaded machine."""


def unpacked(packed: int) -> int:
    """Bytes that a gzip, ZIP or tar.gz file of `packed` bytes may unpack to, all its members together."""
    return max(UNPACKED_BYTES, UNPACKED_RATIO * packed)


def memory() -> tuple[int, int]:
    """Bytes of memory in all, and bytes still available without swapping, limits of a container and of this process
    included."""
    import psutil

    system = psutil.virtual_memory()
    total, free = system.total, system.available
    for limit, used in (*_memory_limits(CGROUPS), *_data_limit()):
        total, free = min(total, limit), min(free, max(0, limit - used))
    return total, free


def resident() -> int:
    """Bytes of this process in main memory. Cost: a microsecond on Linux, of a file that stays open."""
    file = _pages(os.getpid())
    if file is None:
        import psutil

        return psutil.Process().memory_info().rss
    return int(os.pread(file, 64, 0).split()[1]) * PAGE


@functools.lru_cache(1)
def _pages(process: int) -> int | None:
    """The open file with the pages of a process, which a forked one opens again; None where there is none."""
    try:
        return os.open(f"/proc/{process}/statm", os.O_RDONLY)
    except OSError:
        return None


def cpu_share(root: Path = CGROUPS) -> float | None:
    """The number of hardware threads whose time a container's quota grants, None without a quota."""
    shares: list[float] = []
    for folder in _cgroup_folders(root, "cpu"):
        quota, _, period = (text_of(folder / "cpu.max") or "max").partition(" ")
        if quota == "max":
            quota, period = text_of(folder / "cpu.cfs_quota_us"), text_of(folder / "cpu.cfs_period_us")
        if quota and period and float(quota) > 0:
            shares.append(float(quota) / float(period))
    return min(shares, default=None)


def _data_limit() -> Iterator[tuple[int, int]]:
    """Limit and use, in bytes, of the memory that this process may write (RLIMIT_DATA); nothing without a limit."""
    if resource is None or (limit := resource.getrlimit(resource.RLIMIT_DATA)[0]) == resource.RLIM_INFINITY:
        return
    for line in (text_of(Path("/proc/self/status")) or "").splitlines():
        if line.startswith("VmData:"):
            yield limit, 1024 * int(line.split()[1])


def _memory_limits(root: Path) -> Iterator[tuple[int, int]]:
    """Limit and use, in bytes, of each enclosing group that has a limit; files that were not read lately, which the
    system drops from memory before the limit is reached, are not counted as used."""
    for folder in _cgroup_folders(root, "memory"):
        for limit_file, used_file, dropped in (
            ("memory.max", "memory.current", "inactive_file"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ):
            limit, used = text_of(folder / limit_file), text_of(folder / used_file)
            if limit and used and limit != "max":
                counts = dict(line.split() for line in (text_of(folder / "memory.stat") or "").splitlines())
                yield int(limit), max(0, int(used) - int(counts.get(dropped, 0)))


def _cgroup_folders(root: Path, controller: str) -> Iterator[Path]:
    """The folders of the control groups that limit this process, of version 1 and 2, innermost first.

    A limit of an outer group binds as well, so all ancestors are named. Inside a container the listed path may be the
    host's, which is not mounted; then the mount's root is the container's own group.
    """
    for line in (text_of(MEMBERSHIP) or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        mount = root / controller if controllers else root
        folder = mount / path.lstrip("/")
        while folder != mount:
            yield folder
            folder = folder.parent
        yield mount


def text_of(path: Path) -> str | None:
    """The content of a file of the system without the line end, None if it cannot be read."""
    try:
        return path.read_text().strip()
    except OSError:
        return None


def page_unknowns(text: str) -> float:
    """The number of unknowns that a page allows a problem, infinite for an empty text. Raises InputError."""
    if text and not (text.isascii() and text.isdigit() and int(text) > 0):
        raise InputError(f"{MOST_UNKNOWNS} must be a count above 0, got {quoted(text)}; leave it empty for no limit")
    return int(text) if text else math.inf


def page_seconds(text: str) -> float:
    """The iteration time that a page allows each run, in s, infinite for an empty text. Raises InputError."""
    return _seconds(RUN_SECONDS, text, math.inf)


def ranks_wait(text: str) -> float:
    """The time that a rank waits for the others in one call, in s. Raises InputError."""
    return _seconds(RANKS_WAIT, text, RANKS_WAIT_SECONDS)


def _seconds(name: str, text: str, default: float) -> float:
    try:
        seconds = float(text or default)
    except ValueError:
        seconds = math.nan
    if not seconds > 0:
        empty = f"{default:g} s" if math.isfinite(default) else "no limit"
        raise InputError(f"{name} must be seconds above 0, got {quoted(text)}; leave it empty for {empty}")
    return seconds
