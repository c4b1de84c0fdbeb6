"""What the benchmarks share: interleaved timing and medians."""

from __future__ import annotations

import json
import statistics
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


def publish(name: str, figures: Any, output: Path | None) -> None:
    """Print figures as JSON with the machine's description, and write them to NAME.json in a folder."""
    text = json.dumps({"benchmark": name, "machine": describe_machine(), "figures": figures}, indent=2, default=str)
    print(text, flush=True)
    if output:
        output.mkdir(parents=True, exist_ok=True)
        (output / f"{name}.json").write_text(text + "\n")


def median_ratio(slow: list[float], fast: list[float]) -> float:
    """The median over rounds of how many times longer the one took than the other in the same round."""
    return statistics.median(a / b for a, b in zip(slow, fast, strict=True))
