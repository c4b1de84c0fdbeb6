"""What the benchmarks share: interleaved timing, medians, and a JSON file with the machine beside the numbers."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.machine.describe import describe_machine


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


def report(name: str, figures: dict[str, Any]) -> None:
    """Print the figures and write them, with the machine, to the file named as the first argument, if there is one."""
    document = {"benchmark": name, "machine": describe_machine(), "figures": figures}
    text = json.dumps(document, indent=2, default=str)
    print(text)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text + "\n")
