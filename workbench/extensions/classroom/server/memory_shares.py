"""A limit on the memory of all pages together: each may take its share of what the others have left."""

from __future__ import annotations

import asyncio
import contextlib
import re
import sys
from collections.abc import Callable
from pathlib import Path

from workbench.errors import InputError, quoted
from workbench.process import limits

try:
    import resource
except ImportError:  # Windows, where there are no such limits
    resource = None

UNITS = {"MB": 10**6, "GB": 10**9}
LEAST = 10**8
"""Bytes. Less is not enough to show a page."""


LEAST_FREE = 256 << 20
"""Bytes that are free for one more page to be opened."""
EVERY = 0.5
"""Seconds between two distributions."""


def bytes_of(text: str) -> int:
    """The bytes of a text such as 1.5GB or 800 MB. Raises InputError for any other, and on systems without
    such limits."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([MG]B)\s*", text, re.IGNORECASE)
    nbytes = int(float(found[1]) * UNITS[found[2].upper()]) if found else 0
    if nbytes < LEAST:
        raise InputError(f"a limit on memory is at least 100MB, with its unit, as in 1.5GB; got {text[:40]!r}")
    if sys.platform != "linux":
        raise InputError(f"a limit of {text} on memory needs Linux; leave it out on this system")
    return nbytes


def data_bytes(pid: int) -> int:
    """The bytes of a process that RLIMIT_DATA counts (VmData): private memory that can be written, such as heap, arrays
    and stacks of threads. RLIMIT_AS would also count libraries and files that are mapped. Raises OSError where the
    process has ended."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmData:"):
            return 1024 * int(line.split()[1])
    raise OSError(f"the system does not report the memory of process {pid}")


def all_bytes(text: str) -> int | None:
    """The bytes of a text such as 70% (of the machine's memory) or 12GB; None for an empty one. Raises InputError."""
    if not text:
        return None
    found = re.fullmatch(r"\s*(\d{1,3})\s*%\s*", text)
    if found is None:
        return bytes_of(text)
    if not 1 <= int(found[1]) <= 100:
        raise InputError(f"pages may take 1% to 100% of the memory, or a size such as 12GB; got {quoted(text)}")
    return limits.memory()[0] * int(found[1]) // 100


class MemoryShares:
    """Limits of the processes of pages, which together allocate at most `total` bytes.

    What is left is divided again every `EVERY` seconds: a page with a turn on the machine has as many parts as there
    are pages, every other one has one. So a sum of limits is never above the total, however fast pages allocate; and
    what is too large for a share raises MemoryError in its page alone. most: bytes that a single page may take, or
    None. RLIMIT_DATA counts memory when it is allocated, also before it is used: a page that does nothing counts
    93 MB by the stacks of its threads, and takes some 75 MB.
    """

    def __init__(self, total: int | None, most: int | None) -> None:
        self.total, self._most = total, most
        self._pages: dict[int, tuple[int, Callable[[], bool]]] = {}
        """By process: the bytes with which it began, and whether it has a turn."""
        self._timer: asyncio.TimerHandle | None = None

    def add(self, pid: int, has_turn: Callable[[], bool]) -> None:
        """Limit one more process from now on. has_turn: true while it has a turn on the machine. Raises OSError where
        the process has ended."""
        began = data_bytes(pid)
        if self._most is not None and resource is not None:
            # The hard limit too, which no process raises again.
            resource.prlimit(pid, resource.RLIMIT_DATA, (began + self._most, began + self._most))
        self._pages[pid] = (began, has_turn)
        self.divide()

    def free(self) -> int | None:
        """Bytes that no page has taken; None without a total."""
        if self.total is None:
            return None
        return self.total - sum(taken for _, taken in self._taken().values())

    def divide(self) -> None:
        """Give each page its share of what is free, and do so again later while there is one."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.total is None or resource is None:
            return
        taken = self._taken()
        rest = max(0, self.total - sum(each for _, each in taken.values()))
        parts = {pid: len(taken) if self._pages[pid][1]() else 1 for pid in taken}
        for pid, (data, _) in taken.items():
            began, _turn = self._pages[pid]
            limit = data + rest * parts[pid] // sum(parts.values())
            hard = resource.RLIM_INFINITY if self._most is None else began + self._most
            with contextlib.suppress(OSError):
                resource.prlimit(pid, resource.RLIMIT_DATA, (limit if self._most is None else min(limit, hard), hard))
        if taken:
            self._timer = asyncio.get_running_loop().call_later(EVERY, self.divide)

    def _taken(self) -> dict[int, tuple[int, int]]:
        """By process, the bytes that RLIMIT_DATA counts, and those that it has taken. Ended ones are forgotten."""
        found = {}
        for pid, (began, _) in list(self._pages.items()):
            try:
                data = data_bytes(pid)
            except OSError:
                del self._pages[pid]
            else:
                found[pid] = data, max(0, data - began)
        return found
