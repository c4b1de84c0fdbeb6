"""Time of the first `workbench solve` on a machine, whose kernels must be compiled, and of a later one.

    python -m benchmarks first_solve [--quick] [--output FOLDER]

Each command is run three times (--quick: once) with an empty kernel cache, and after each once more, on the cores and,
where it is there, on CUDA. Seconds are of the setup with all compilation, and of the whole command; medians. `kernels`:
files of machine code for the cores.
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

from benchmarks.block import found

COMMANDS = (
    ("poisson5", "--n", "64"),
    ("two-layer", "--n", "128", "--preconditioner", "neumann:2", "--deflation", "stripes"),
    (
        "bubbles-3d",
        "--n",
        "64",
        "--preconditioner",
        "neumann:2",
        "--deflation",
        "levelset:16",
        "--coarse",
        "multilevel",
    ),
)
"""One method on one level, the first command of the README, and one with many levels."""
DEVICES = ("cpu", "cuda")
ROUNDS = 3


def figures(quick: bool = False) -> list[dict[str, Any]]:
    """What `python -m benchmarks` prints."""
    places = [device for device in DEVICES if found(device)]
    return [row((*command, "--device", device), 1 if quick else ROUNDS) for command in COMMANDS for device in places]


def row(command: tuple[str, ...], rounds: int) -> dict[str, Any]:
    """The medians of one command, and how many kernels of the cores it compiles."""
    first, later, kernels = [], [], 0
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            first.append(solve(command, folder))
            later.append(solve(command, folder))
            kernels = len(list(Path(folder, "machine-code").iterdir()))
    made: dict[str, Any] = {"solve": " ".join(command), "kernels": kernels}
    for name, times in (("first", first), ("later", later)):
        made[f"{name}_setup_s"], made[f"{name}_whole_s"] = map(statistics.median, zip(*times, strict=True))
    return made


def solve(command: tuple[str, ...], cache: str) -> tuple[float, float]:
    """Seconds of the setup with compilation, and of the whole command, with its kernels kept in the folder `cache`."""
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "workbench.cli", "solve", *command, "--json"],
        env=os.environ | {"WORKBENCH_CACHE": cache, "CUPY_CACHE_DIR": str(Path(cache, "cupy"))},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    summary = json.loads(done.stdout)
    return summary["setup_seconds"] + summary["compile_seconds"], time.perf_counter() - begun
