"""Times of works that take turns, and a conversion as a number of products."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.devices.protocol import Device
from workbench.settings import COMPACT

Seconds = Mapping[tuple[str, str], float]
"""Seconds by setting, format or az, and value."""
LEAST = 2e-4
"""Seconds that are timed at once, at least. A shorter work is repeated: a clock has steps of tens of nanoseconds, and
reading it takes as long."""


def products_of(setting: str, converted: float | None, seconds: Seconds) -> float | None:
    """How many products in CSR, or updates by compact AZ, a conversion takes as long as; None where that is unknown."""
    one = seconds.get((setting, "csr" if setting == "format" else COMPACT))
    return None if converted is None or not one else converted / one


def in_turns(
    works: Mapping[tuple[str, str], Callable[[], object]], number: int
) -> Iterator[dict[tuple[str, str], list[float]]]:
    """Seconds of some works so far, by name, after each round; the first round is not timed. A work of less than
    `LEAST` seconds is repeated within its turn, and has the mean of that."""
    seconds: dict[tuple[str, str], list[float]] = {name: [] for name in works}
    times = dict.fromkeys(works, 1)
    for work in works.values():
        work()
    for _ in range(number):
        for name, work in works.items():
            while (taken := _taken(work, times[name])) < LEAST:
                times[name] *= 2
            seconds[name].append(taken / times[name])
        yield seconds


def _taken(work: Callable[[], object], times: int) -> float:
    """Seconds of a work that is done some times."""
    begun = time.perf_counter()
    for _ in range(times):
        work()
    return time.perf_counter() - begun


def medians(seconds: Mapping[tuple[str, str], Sequence[float]]) -> dict[tuple[str, str], float]:
    """The median of each."""
    return {name: float(np.median(each)) for name, each in seconds.items() if each}


def waited(device: Device, work: Callable[[], Any]) -> None:
    """Do some work of a device, and wait for it."""
    work()
    device.synchronize()
