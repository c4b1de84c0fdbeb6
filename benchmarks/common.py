"""What the benchmarks share: interleaved timing and medians."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from workbench.errors import error_message
from workbench.machines.describe import describe_machine


def interleaved(contestants: dict[str, Callable[[], Any]], rounds: int) -> dict[str, list[float]]:
    """Seconds of every call, contestants interleaved, so that a drift of the machine affects all alike."""
    for run in contestants.values():
        run()
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            begun = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - begun)
    return seconds


def report(what: str, outcome: Any) -> None:
    """Report the result of one contestant on standard error at once: standard output is for the figures."""
    print(f"{what}: {outcome}", file=sys.stderr, flush=True)


def attempts(cases: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """The figures of every case, reported as it ends; one that fails has its sentence instead."""
    found: dict[str, Any] = {}
    for name, measure in cases.items():
        try:
            found[name] = measure()
        except Exception as error:
            found[name] = {"failed": error_message(error, "the benchmark")}
        report(name, found[name])
    return found


def publish(name: str, figures: Any, output: Path | None) -> None:
    """Print figures as JSON with the machine's description, and write them to NAME.json in a folder."""
    text = json.dumps({"benchmark": name, "machine": describe_machine(), "figures": figures}, indent=2, default=str)
    print(text, flush=True)
    if output:
        output.mkdir(parents=True, exist_ok=True)
        (output / f"{name}.json").write_text(text + "\n")


def median_ratio(slow: list[float], fast: list[float]) -> float:
    """The median over rounds of the ratio of times in the same round."""
    return statistics.median(a / b for a, b in zip(slow, fast, strict=True))
