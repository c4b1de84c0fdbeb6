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


def products_of(setting: str, converted: float | None, seconds: Seconds) -> float | None:
    """How many products in CSR, or updates by compact AZ, a conversion takes as long as; None where that is unknown."""
    one = seconds.get((setting, "csr" if setting == "format" else COMPACT))
    return None if converted is None or not one else converted / one


def in_turns(
    works: Mapping[tuple[str, str], Callable[[], object]], number: int
) -> Iterator[dict[tuple[str, str], list[float]]]:
    """Seconds of some works so far, by name, after each round; the first round is not timed."""
    seconds: dict[tuple[str, str], list[float]] = {name: [] for name in works}
    for round_ in range(number + 1):
        for name, work in works.items():
            begun = time.perf_counter()
            work()
            if round_:
                seconds[name].append(time.perf_counter() - begun)
        if round_:
            yield seconds


def medians(seconds: Mapping[tuple[str, str], Sequence[float]]) -> dict[tuple[str, str], float]:
    """The median of each."""
    return {name: float(np.median(each)) for name, each in seconds.items() if each}


def waited(device: Device, work: Callable[[], Any]) -> None:
    """Do some work of a device, and wait for it."""
    work()
    device.synchronize()
