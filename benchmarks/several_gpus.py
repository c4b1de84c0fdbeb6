"""One GPU against one for each rank of MPI: whole solves, in the same minutes.

    python -m benchmarks several_gpus [--quick] [--output FOLDER]

Every round makes the same solve on one GPU, on all GPUs with NCCL, and on all with copies through pinned host memory.
The solve on one GPU is that of the first rank while the others wait; all start from x0 = 0. Times are of the iterations
alone, over their number, and of setup and iterations together; the setup is without the assembly.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from typing import Any

from benchmarks.common import report

SIDE = {"sides": "z-:dirichlet"}
MULTILEVEL: dict[str, Any] = {"preconditioner": "neumann:2", "coarse": "multilevel"}
CASES: tuple[tuple[str, int, dict[str, Any], int], ...] = (
    ("poisson7", 512, {"preconditioner": "jacobi"}, 3),
    ("bubbles-3d", 256, {**MULTILEVEL, "deflation": "levelset:64", **SIDE}, 3),
    ("bubbles-3d", 512, {**MULTILEVEL, "deflation": "levelset:128", **SIDE}, 3),
)
"""Problem, n, further choices, and rounds."""
QUICK = (
    ("poisson7", 64, {"preconditioner": "jacobi"}, 1),
    ("bubbles-3d", 32, {**MULTILEVEL, "deflation": "levelset:8", **SIDE}, 1),
)
ONE, NCCL, PINNED = "one GPU", "NCCL", "pinned memory"


def figures(quick: bool = False, device: str = "cuda", ranks: int = 0) -> dict[str, Any]:
    """What `python -m benchmarks` prints. ranks: as many as there are GPUs."""
    from workbench.devices.discovery import cuda_devices
    from workbench.extensions.mpi.run.launcher import mpiexec

    ranks = ranks or len(cuda_devices().devices)
    if ranks < 2:
        return {"not run": f"{ranks} CUDA devices here, and two are needed"}
    threads = {"WORKBENCH_THREADS": str(max(1, (os.cpu_count() or 1) // ranks))}
    chosen = [device, "quick" if quick else "all"]
    command = [
        mpiexec(ranks),
        "-n",
        str(ranks),
        sys.executable,
        "-m",
        "mpi4py",
        "-m",
        "benchmarks.several_gpus",
        *chosen,
    ]
    done = subprocess.run(command, env={**os.environ, **threads}, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))


def measured(case: tuple[str, int, dict[str, Any], int], device: str, world: Any) -> dict[str, Any]:
    """One case, on every rank."""
    from workbench.extensions.mpi import this_rank as ranks
    from workbench.extensions.mpi.device import nccl
    from workbench.run import Run, configure, run_through
    from workbench.run.choices.rank_rules import slab

    name, n, blocks, rounds = case
    configuration = configure(name, {"n": n}, device=device, x0="zero", **blocks)
    whole = configuration.problem.assemble() if world.rank == 0 else None
    rows = configuration.problem.rows(slab(configuration, world.rank, world.size))
    between, found = nccl.between, {key: [] for key in (ONE, NCCL, PINNED)}
    # The first of several rounds compiles.
    for _ in range(rounds + (rounds > 1)):
        if whole:
            ranks.enter(None)
            found[ONE].append(_row(run_through(Run(configuration, whole))))
            report(f"{name} {n}, {ONE}", found[ONE][-1])
        world.Barrier()
        ranks.enter(world)
        for link in (NCCL, PINNED):
            nccl.between = between if link == NCCL else lambda *_: None
            try:
                found[link].append(_row(run_through(Run(configuration, rows))))
            finally:
                nccl.between = between
            if whole:
                report(f"{name} {n}, {link}", found[link][-1])
    return {"problem": f"{name} {n}", **blocks, **_medians(found, rounds)} if whole else {}


def _row(result: Any) -> dict[str, Any]:
    summary = result.summary
    return {
        "iterations": summary["iterations"],
        "ms": 1e3 * summary["iteration_seconds"] / summary["iterations"],
        "setup_s": summary["setup_seconds"],
        "together_s": summary["setup_seconds"] + summary["iteration_seconds"],
        "true": summary["true_relative_residual"],
        "phases": {part["name"]: round(part["seconds"], 2) for part in summary["setup_phases"]},
        "notes": [note for note in result.provenance["notes"] if "device" in note],
    }


def _medians(found: dict[str, list[dict[str, Any]]], rounds: int) -> dict[str, Any]:
    """Of each way, over the last rounds: iterations, milliseconds, setup, all of it; and how many times as fast as one
    GPU."""
    kept: dict[str, Any] = {}
    for way, rows in found.items():
        kept[way] = {**rows[-1], "setup_s": statistics.median(row["setup_s"] for row in rows[-rounds:])}
        for key, faster in (("ms", "times_faster"), ("together_s", "together_times_faster")):
            times, alone = ([row[key] for row in some[-rounds:]] for some in (rows, found[ONE]))
            kept[way] |= {key: statistics.median(times), f"all_{key}": times}
            kept[way][faster] = statistics.median(a / b for a, b in zip(alone, times, strict=True))
    return kept


def main(device: str, which: str) -> None:
    """A rank."""
    from mpi4py import MPI

    from workbench.cli.mpiexec import started
    from workbench.extensions.mpi import this_rank as ranks

    world = MPI.COMM_WORLD
    if world.size == 1:
        raise SystemExit(ranks.alone(started()))
    rows = [measured(case, device, world) for case in (QUICK if which == "quick" else CASES)]
    if world.rank == 0:
        print(json.dumps({"ranks": world.size, "cases": rows}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
