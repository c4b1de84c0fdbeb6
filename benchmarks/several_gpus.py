"""One GPU against one for each rank of MPI: whole solves, in the same minutes.

    python -m benchmarks several_gpus [--quick] [--output FOLDER]

Every round makes the same solve on one GPU, on all GPUs with NCCL, and on all with copies through pinned host memory.
The solve on one GPU is that of the first rank while the others wait. Times are of the iterations alone, over their
number; the setup is given separately.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import report

MULTILEVEL = {"preconditioner": "neumann:2", "coarse": "multilevel"}
CASES: tuple[tuple[str, int, dict[str, str], int], ...] = (
    ("poisson7", 512, {"preconditioner": "jacobi"}, 3),
    ("bubbles-3d", 256, {**MULTILEVEL, "deflation": "levelset:64"}, 3),
    ("bubbles-3d", 512, {**MULTILEVEL, "deflation": "levelset:128"}, 2),
)
"""Problem, n, the blocks, and rounds."""
QUICK = (
    ("poisson7", 64, {"preconditioner": "jacobi"}, 1),
    ("bubbles-3d", 33, {**MULTILEVEL, "deflation": "levelset:8"}, 1),
)
ONE, NCCL, PINNED = "one GPU", "NCCL", "pinned memory"


def figures(quick: bool = False, device: str = "cuda", ranks: int = 0) -> dict[str, Any]:
    """What `python -m benchmarks` prints. ranks: as many as there are GPUs."""
    from workbench.devices.discovery import cuda_devices

    ranks = ranks or len(cuda_devices().devices)
    if ranks < 2:
        return {"not run": f"{ranks} CUDA devices here, and two are needed"}
    beside = Path(sys.executable).with_name("mpiexec")
    mpiexec = str(beside) if beside.exists() else shutil.which("mpiexec")
    if mpiexec is None:
        return {"not run": "no mpiexec here"}
    threads = {"NUMBA_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // ranks))}
    chosen = [device, "quick" if quick else "all"]
    command = [mpiexec, "-n", str(ranks), sys.executable, "-m", "mpi4py", "-m", "benchmarks.several_gpus", *chosen]
    done = subprocess.run(command, env={**os.environ, **threads}, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))


def measured(case: tuple[str, int, dict[str, str], int], device: str, world: Any) -> dict[str, Any]:
    """One case, on every rank."""
    from workbench.devices import ranks
    from workbench.devices.cuda import nccl
    from workbench.run import Run, configure, run_through

    name, n, blocks, rounds = case
    configuration = configure(name, {"n": n}, device=device, **blocks)
    between, found = nccl.between, {key: [] for key in (ONE, NCCL, PINNED)}
    # The first round compiles.
    for _ in range(1 + rounds):
        if world.rank == 0:
            ranks.enter(None)
            found[ONE].append(_row(run_through(Run(configuration))))
        world.Barrier()
        ranks.enter(world)
        for link in (NCCL, PINNED):
            nccl.between = between if link == NCCL else lambda *_: None
            try:
                found[link].append(_row(run_through(Run(configuration))))
            finally:
                nccl.between = between
        if world.rank == 0:
            report(f"{name} {n}", {key: rows[-1] for key, rows in found.items()})
    return {"problem": f"{name} {n}", **blocks, **_medians(found)} if world.rank == 0 else {}


def _row(result: Any) -> dict[str, Any]:
    summary = result.summary
    return {
        "iterations": summary["iterations"],
        "ms": 1e3 * summary["iteration_seconds"] / summary["iterations"],
        "setup_s": summary["setup_seconds"],
        "true": summary["true_relative_residual"],
        "notes": [note for note in result.provenance["notes"] if "device" in note],
    }


def _medians(found: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Of each way, without the first round: iterations, milliseconds, setup; and how often one GPU takes as long."""
    kept: dict[str, Any] = {}
    for way, rows in found.items():
        times = [row["ms"] for row in rows[1:]]
        kept[way] = {**rows[-1], "ms": statistics.median(times), "all_ms": times}
        kept[way]["setup_s"] = statistics.median(row["setup_s"] for row in rows[1:])
    alone = [row["ms"] for row in found[ONE][1:]]
    for way in (NCCL, PINNED):
        ratios = np.divide(alone, [row["ms"] for row in found[way][1:]])
        kept[way]["times_faster"] = float(np.median(ratios))
    return kept


def main(device: str, which: str) -> None:
    """A rank."""
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    rows = [measured(case, device, world) for case in (QUICK if which == "quick" else CASES)]
    if world.rank == 0:
        print(json.dumps({"ranks": world.size, "cases": rows}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
