"""What the benchmarks share: interleaved timing and medians."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any


def interleaved(contestants: dict[str, Callable[[], Any]], rounds: int) -> dict[str, list[float]]:
    """Seconds of every call, the contestants taking turns so that a drift of the machine hits all alike."""
    for run in contestants.values():
        run()
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            begun = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - begun)
    return seconds


def median_ratio(slow: list[float], fast: list[float]) -> float:
    """The median over rounds of how many times longer the one took than the other in the same round."""
    return statistics.median(a / b for a, b in zip(slow, fast, strict=True))
