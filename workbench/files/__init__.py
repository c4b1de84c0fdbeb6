"""Files of users: how they are opened, unpacked and read, and how they are written."""

from workbench.files.reading import opened, read_bytes
from workbench.files.temporary import TemporaryFolder
from workbench.files.writing import EndedBySignal, check_target, ended_in_order, replacing, unbroken, with_ending, write

__all__ = [
    "EndedBySignal",
    "TemporaryFolder",
    "check_target",
    "ended_in_order",
    "opened",
    "read_bytes",
    "replacing",
    "unbroken",
    "with_ending",
    "write",
]
