"""Time of the first `workbench solve` on a machine, whose kernels must be compiled, and of a later one.

    python -m benchmarks first_solve [--quick] [--output FOLDER]

Each command is run three times (--quick: once) with an empty kernel cache, and after each once more. Seconds are of the
setup with all compilation, and of the whole command; medians.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

COMMANDS = (
    ("poisson5", "--n", "64"),
    ("two-layer", "--n", "128", "--preconditioner", "neumann:2", "--deflation", "stripes"),
)
"""One method on one level, and the first command of the README."""
ROUNDS = 3


def figures(quick: bool = False) -> list[dict[str, Any]]:
    """What `python -m benchmarks` prints."""
    return [row(command, 1 if quick else ROUNDS) for command in COMMANDS]


def row(command: tuple[str, ...], rounds: int) -> dict[str, Any]:
    """The medians of one command, and how many kernels it compiles."""
    first, later, kernels = [], [], 0
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            first.append(solve(command, folder))
            later.append(solve(command, folder))
            kernels = len(list(Path(folder, "machine-code").iterdir()))
    found: dict[str, Any] = {"solve": " ".join(command), "kernels": kernels}
    for name, times in (("first", first), ("later", later)):
        found[f"{name}_setup_s"], found[f"{name}_whole_s"] = map(statistics.median, zip(*times, strict=True))
    return found


def solve(command: tuple[str, ...], cache: str) -> tuple[float, float]:
    """Seconds of the setup with compilation, and of the whole command, with its kernels kept in the folder `cache`."""
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "workbench.cli", "solve", *command, "--json"],
        env=os.environ | {"WORKBENCH_CACHE": cache},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    summary = json.loads(done.stdout)
    return summary["setup_seconds"] + summary["compile_seconds"], time.perf_counter() - begun
