"""Sizes of memory as texts, and the memory that a process has allocated."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from workbench.errors import InputError

UNITS = {"MB": 10**6, "GB": 10**9}
LEAST = 10**8
"""Bytes. Less is not enough to show a page."""


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
