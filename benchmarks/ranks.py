"""Ranks of MPI on this machine: against threads, against PETSc, counts, memory, a whole solve, the model.

    python -m benchmarks ranks [--quick] [--output FOLDER]

`per_iteration`: 2 ranks and all threads make some iterations in turn, and with Jacobi also PETSc's KSPCG on AIJ with 2
ranks; medians over the rounds, and the median over rounds of ratios within a round. `counts`: iterations of 20 pairs of
levels on 1 to 4 ranks, with the largest difference of x from that on one rank. `memory`: the sum of the ranks' highest
resident memory, in which shared libraries count once for each. `whole`: setup and solve on 2 ranks against PETSc's GAMG
on 2 ranks, which gets the assembled matrix; the start of the processes is not counted for either. `model`: published
strong scaling next to the model of ranks (`workbench.extensions.papers.strong_scaling`).
"""

from __future__ import annotations

import dataclasses
import os
import re
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import whole_solves
from benchmarks.common import attempts, median_ratio, report
from workbench.extensions.mpi.run.start import START
from workbench.extensions.papers.strong_scaling import compared
from workbench.run import Run, Stopping, configure, run_through

MULTILEVEL = {"coarse": "multilevel", "variant": "a-def2"}
ENDLESS = Stopping(rtol=1e-300, maxiter=10**7, stagnation=10**9)
RANKS = (1, 2, 3, 4)
FULL = {"n": 128, "rounds": 7, "iterations": 6, "memory_n": 256, "pairs": 20, "ranks": RANKS}
QUICK = {"n": 24, "rounds": 2, "iterations": 6, "memory_n": 32, "pairs": 3, "ranks": RANKS[:2]}
WARM_UP = 3
PAIRS: tuple[tuple[str, int, dict[str, str]], ...] = (
    ("two-layer", 33, {}),
    ("two-layer", 33, {"preconditioner": "neumann:2", "deflation": "stripes"}),
    ("two-layer", 47, {"preconditioner": "neumann:2", "deflation": "stripes", "variant": "a-def2"}),
    ("two-layer", 29, {"deflation": "blocks:5", "variant": "bnn"}),
    ("two-layer", 31, {"solver": "pipecg", "preconditioner": "neumann:1"}),
    ("poisson5", 27, {"solver": "gropp"}),
    ("poisson5", 35, {"preconditioner": "none"}),
    ("poisson5", 25, {"deflation": "blocks:4", "variant": "a-def1"}),
    ("poisson7", 13, {}),
    ("poisson7", 15, {"solver": "pipecg"}),
    ("poisson7", 17, {"preconditioner": "neumann:2", "deflation": "blocks:3"}),
    ("poisson7", 13, {"solver": "cgcg", "deflation": "planes"}),
    ("bubbles-3d", 17, {"preconditioner": "neumann:2"}),
    ("bubbles-3d", 17, {"preconditioner": "neumann:2", "deflation": "levelset:5"}),
    ("bubbles-3d", 19, {"preconditioner": "neumann:3", "deflation": "levelset:4", **MULTILEVEL}),
    ("bubbles-3d", 21, {"preconditioner": "neumann:1", "deflation": "levelset:6", "coarse": "sparse"}),
    ("bubbles-3d", 15, {"solver": "pipecg", "deflation": "levelset:4", "variant": "a-def2"}),
    ("slabs-3d", 15, {"preconditioner": "neumann:2", "deflation": "levelset:4"}),
    ("slabs-3d", 17, {"deflation": "planes"}),
    ("slabs-3d", 13, {"solver": "gropp", "preconditioner": "neumann:2"}),
)


def figures(quick: bool = False) -> dict[str, Any]:
    """What `python -m benchmarks ranks` prints. A part that fails has its sentence instead."""
    size = QUICK if quick else FULL
    # PETSc runs under the mpiexec of this environment.
    os.environ["PATH"] = os.pathsep.join((f"{sys.prefix}{os.sep}bin", os.environ["PATH"]))
    about = {"load": os.getloadavg()[0], "ranks": 2, "threads": os.cpu_count()}
    parts: dict[str, Callable[[], Any]] = {
        **{f"per_iteration {name}": lambda blocks=blocks: per_iteration(blocks, size) for name, blocks in firsts(size)},
        "counts": lambda: counts(size),
        "memory": lambda: memory(size["memory_n"]),
        "whole": lambda: whole(size),
        "model": model,
    }
    return {**about, **attempts(parts), "load_at_the_end": os.getloadavg()[0]}


def firsts(size: dict[str, Any]) -> list[tuple[str, dict[str, str]]]:
    """The pairs of levels that are timed per iteration."""
    deflation = f"levelset:{size['n'] // 4}"
    return [
        ("jacobi", {"preconditioner": "jacobi"}),
        ("neumann:2", {"preconditioner": "neumann:2"}),
        ("multilevel", {"preconditioner": "neumann:2", "deflation": deflation, **MULTILEVEL}),
    ]


def per_iteration(blocks: dict[str, str], size: dict[str, Any]) -> dict[str, Any]:
    """Milliseconds of an iteration on 2 ranks, with all threads, and of PETSc where M is Jacobi."""
    made = {name: Run(_endless(size["n"], ranks, blocks)) for name, ranks in (("2 ranks", 2), ("threads", 1))}
    contestants: dict[str, Callable[[int], float]] = {
        name: lambda count, run=run: _advance(run, count) for name, run in made.items()
    }
    with tempfile.TemporaryDirectory() as folder:
        if blocks == {"preconditioner": "jacobi"} and (python := whole_solves.PETSC.python()):
            job = _job(made["threads"], Path(folder)) | {"cycle": "jacobi", "rtol": 1e-300}
            contestants["PETSc, 2 ranks"] = lambda count: _petsc(python, job, 10 * count)
        for run in contestants.values():
            run(WARM_UP)
        seconds: dict[str, list[float]] = {name: [] for name in contestants}
        for _ in range(size["rounds"]):
            for name, run in contestants.items():
                seconds[name].append(run(size["iterations"]))
    for run in made.values():
        run.cancel()
    first, *others = seconds
    return {
        "ms": {name: 1e3 * statistics.median(times) for name, times in seconds.items()},
        "least_ms": {name: 1e3 * min(times) for name, times in seconds.items()},
        f"{first} over threads": median_ratio(seconds[first], seconds["threads"]),
        **{f"{name} over {first}": median_ratio(seconds[name], seconds[first]) for name in others if name != "threads"},
    }


def _endless(n: int, ranks: int, blocks: dict[str, str]) -> Any:
    parameters = {"n": n, **whole_solves.SIDE}
    return configure("bubbles-3d", parameters, ranks=ranks, x0="zero", stopping=ENDLESS, **blocks)


def _advance(run: Run, count: int) -> float:
    """Seconds of each of so many iterations more."""
    seconds, made = run.iteration_seconds, run.iterations
    while run.iterations < made + count:
        # Ranks make several iterations at a command.
        if not run.step(made + count - run.iterations):
            raise RuntimeError(f"ended at iteration {run.iterations}: {run.detail}")
    return (run.iteration_seconds - seconds) / (run.iterations - made)


def _job(run: Run, folder: Path) -> dict[str, Any]:
    """Files of a system in CSR form for PETSc, as `contestants/petsc_amg.py` takes them."""
    system = run.setup.system
    matrix = system.operator.to_csr()
    np.savez(folder / "A.npz", data=matrix.data, indices=matrix.indices, indptr=matrix.indptr)
    np.save(folder / "b.npy", system.b)
    paths = {"matrix": str(folder / "A.npz"), "b": str(folder / "b.npy"), "answer": str(folder / "x")}
    return {**paths, "singular": system.null_space is not None}


def _petsc(python: str, job: dict[str, Any], most: int) -> float:
    reply = whole_solves.PETSC.play(python, 2, {**job, "most": most})
    return reply["iterate_s"] / reply["iterations"]


def counts(size: dict[str, Any]) -> dict[str, Any]:
    """Iterations of each pair on each number of ranks, to 1e-9 in ||r||."""
    rows, differences = [], []
    for name, n, blocks in PAIRS[: size["pairs"]]:
        found = [
            run_through(Run(configure(name, {"n": n}, ranks=ranks, stopping=Stopping(rtol=1e-9), **blocks)))
            for ranks in size["ranks"]
        ]
        one = found[0].x
        difference = max(float(abs(result.x - one).max() / abs(one).max()) for result in found)
        rows.append({"problem": f"{name} {n}", **blocks, "iterations": [result.iterations for result in found]})
        rows[-1] |= {"converged": all(result.converged for result in found), "difference of x": difference}
        differences.append(max(abs(result.iterations - found[0].iterations) for result in found))
        report("counts", rows[-1])
    return {
        "ranks": list(size["ranks"]),
        "most iterations apart": max(differences),
        "largest difference of x": max(row["difference of x"] for row in rows),
        "all converged": all(row["converged"] for row in rows),
        "pairs": rows,
    }


def memory(n: int) -> dict[str, Any]:
    """A multilevel solve on 4 ranks, and the sum of their highest resident memory."""
    blocks = {"preconditioner": "neumann:2", "deflation": f"levelset:{n // 4}", **MULTILEVEL}
    run = Run(configure("bubbles-3d", {"n": n, **whole_solves.SIDE}, ranks=4, x0="zero", **blocks))
    pids = [pid for _, pid in run.setup.ranks.present.processes]
    highest = [0] * len(pids)
    more = True
    while more:
        more = run.step()
        highest = [max(old, new) for old, new in zip(highest, map(_highest, pids), strict=True)]
    result = run.result()
    return {
        "n": n,
        "converged": result.converged,
        "iterations": result.iterations,
        "setup_s": result.setup_seconds,
        "iterate_s": result.iteration_seconds,
        "rank_bytes": highest,
        "bytes": sum(highest),
        "here_bytes": _highest(os.getpid()),
    }


def _highest(pid: int) -> int:
    """The highest resident memory of a process in bytes, 0 where it has ended or does not say."""
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def whole(size: dict[str, Any]) -> dict[str, Any]:
    """Setup and solve to 1e-6 on 2 ranks, ours and PETSc's GAMG, in turn; the first round only warms up."""
    python = whole_solves.PETSC.python()
    configuration = configure(
        "bubbles-3d",
        {"n": size["n"], **whole_solves.SIDE},
        ranks=2,
        x0="zero",
        preconditioner="neumann:2",
        deflation=f"levelset:{size['n'] // 4}",
        stopping=Stopping(rtol=whole_solves.RTOL, maxiter=2000),
        **MULTILEVEL,
    )
    alone = Run(dataclasses.replace(configuration, ranks=1))
    times: dict[str, list[float]] = {"ours": [], "GAMG": []}
    with tempfile.TemporaryDirectory() as folder:
        job = _job(alone, Path(folder)) | {"cycle": "gamg", "rtol": whole_solves.RTOL}
        rows: dict[str, Any] = {}
        for _ in range(1 + min(3, size["rounds"])):
            result = run_through(Run(configuration))
            start = sum(phase["seconds"] for phase in result.summary["setup_phases"] if phase["name"] == START)
            rows["ours"] = {
                "iterations": result.iterations,
                "start_s": start,
                "setup_s": result.setup_seconds - start,
                "iterate_s": result.iteration_seconds,
                "residual": result.true_relative_residual,
            }
            if python:
                rows["GAMG"] = whole_solves.PETSC.play(python, 2, job)
            for name, row in rows.items():
                times[name].append(row["setup_s"] + row["iterate_s"])
            report("whole", rows)
    seconds = {name: statistics.median(each[1:]) for name, each in times.items() if each}
    ratio = {"GAMG over ours": median_ratio(times["GAMG"][1:], times["ours"][1:])} if python else {}
    return {"n": size["n"], "seconds": seconds, **ratio, "last": rows}


def model() -> dict[str, Any]:
    """Modelled over published times on Mox, by specification and with two fitted numbers."""
    found: dict[str, Any] = {}
    for label, fitted in (("by specification", False), ("bandwidth and latency fitted", True)):
        comparison = compared(fitted=fitted)
        found[label] = {
            "node bandwidth": comparison.machine.bandwidth.value,
            "network latency": comparison.machine.required("network_latency").value,
            "pipelined CG overtakes CG at ranks, published and modelled": comparison.crossing,
            **{
                f"{curve.solver}, modelled over published": [float(x) for x in np.quantile(curve.ratios, (0, 0.5, 1))]
                for curve in comparison.curves
            },
        }
    return found
