"""Freed memory goes back to the system."""

from __future__ import annotations

import subprocess
import sys

import pytest

from workbench.machines.heap import _malloc_trim, give_back

FREED = """
import psutil
from workbench.machines.heap import give_back

kept, freed = [], []
for _ in range(2000):
    freed.append(bytearray(100_000))
    kept.append(bytearray(2_000))
del freed
before = psutil.Process().memory_info().rss
give_back()
print(before - psutil.Process().memory_info().rss)
"""
"""A process of its own: in one that has run other tests, free places of its heap may take the objects."""


@pytest.mark.skipif(_malloc_trim() is None, reason="not glibc")
def test_freed_memory_between_kept_objects_is_returned():
    printed = subprocess.run([sys.executable, "-c", FREED], check=True, capture_output=True, text=True).stdout
    assert int(printed) > 100_000_000


def test_it_may_be_called_at_any_time():
    give_back()
    give_back()
