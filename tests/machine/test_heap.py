"""Freed memory goes back to the system."""

from __future__ import annotations

import psutil
import pytest

from workbench.machine.heap import _malloc_trim, give_back


@pytest.mark.skipif(_malloc_trim() is None, reason="not glibc")
def test_freed_memory_between_kept_objects_is_returned():
    process = psutil.Process()
    kept, freed = [], []
    for _ in range(2000):
        freed.append(bytearray(100_000))
        kept.append(bytearray(2_000))
    del freed
    before = process.memory_info().rss
    give_back()
    assert before - process.memory_info().rss > 100_000_000
    assert len(kept) == 2000


def test_it_may_be_called_at_any_time():
    give_back()
    give_back()
