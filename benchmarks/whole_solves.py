"""Whole solves, setup included: multilevel deflation against multigrid, on the cores or on an NVIDIA GPU.

    python -m benchmarks whole_solves [--quick] [--output FOLDER]

All get the assembled problem (peers its CSR matrix), start from x0 = 0 and end at ||b - A x|| <= 1e-6 ||b||, which is
recomputed for all. On a GPU setup includes the copy of A there, which `upload_s` gives singly. Ours is A-DEF2 with a
Neumann series, boxes of four cells per side (eight in 2D) split by phase, and the multilevel coarse solver; and CG with
our geometric multigrid alone; both in double precision like the rest and, for two phases, also in precision mixed. On
the cores the peers are PyAMG, and PETSc's GAMG and hypre's BoomerAMG with one and two MPI ranks; on a GPU AmgX's PCG
around its classical and aggregation cycles. Rounds are interleaved, the first only warms up, figures are medians.
`by_bytes_s` is the time in which a GPU copies the least bytes of the iterations.
"""

from __future__ import annotations

import gc
import importlib
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks import amgx as on_gpu
from benchmarks.amgx import RTOL, Row, solves
from benchmarks.pipelined import Library
from workbench import devices
from workbench.errors import InputError
from workbench.extensions.amgx import library as amgx
from workbench.extensions.amgx.preconditioner import Amgx
from workbench.operators import TwoPhaseStencil
from workbench.problems import LinearSystem
from workbench.run import Run, Stopping, configure, run_through
from workbench.settings import MIXED

SIDE = {"sides": "z-:dirichlet"}
RANDOM = {"count": 50, "layout": "random", "radius": 0.05, **SIDE}
MANY = {"count": 500, "layout": "random", "radius": 0.03, **SIDE}
CASES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("8 bubbles 64^3", "bubbles-3d", {"n": 64, **SIDE}),
    ("8 bubbles 128^3", "bubbles-3d", {"n": 128, **SIDE}),
    ("8 bubbles 192^3", "bubbles-3d", {"n": 192, **SIDE}),
    ("8 bubbles 256^3", "bubbles-3d", {"n": 256, **SIDE}),
    ("50 bubbles 128^3", "bubbles-3d", {"n": 128, **RANDOM}),
    ("50 bubbles 256^3", "bubbles-3d", {"n": 256, **RANDOM}),
    ("500 bubbles 128^3", "bubbles-3d", {"n": 128, **MANY}),
    ("500 bubbles 256^3", "bubbles-3d", {"n": 256, **MANY}),
    ("slabs 128^3", "slabs-3d", {"n": 128}),
    ("slabs 256^3", "slabs-3d", {"n": 256}),
    ("two-layer 1024^2", "two-layer", {"n": 1024}),
    ("two-layer 2048^2", "two-layer", {"n": 2048}),
    ("two-layer 4096^2", "two-layer", {"n": 4096}),
)
GPU_CASES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("8 bubbles 128^3", "bubbles-3d", {"n": 128, **SIDE}),
    ("8 bubbles 256^3", "bubbles-3d", {"n": 256, **SIDE}),
    ("50 bubbles 128^3", "bubbles-3d", {"n": 128, **RANDOM}),
    ("50 bubbles 256^3", "bubbles-3d", {"n": 256, **RANDOM}),
    ("500 bubbles 256^3", "bubbles-3d", {"n": 256, **MANY}),
    ("slabs 256^3", "slabs-3d", {"n": 256}),
    ("two-layer 2048^2", "two-layer", {"n": 2048}),
    ("two-layer 8192^2", "two-layer", {"n": 8192}),
    ("8 bubbles 512^3", "bubbles-3d", {"n": 512, **SIDE}),
)
MOST_OF_AMGX = 100_000_000
"""Unknowns up to which AmgX takes part: beyond, SciPy's assembly of the CSR matrix takes many minutes."""
BYTES = 74
"""Least bytes of an iteration of A-DEF2 with a Neumann series, for each unknown, in double precision."""
GOALS = {"together_s": 15, "without_upload_s": 5}
"""Times that the fastest of ours is to be faster than the fastest of AmgX, with the copies of A and without them."""
QUICK = (("8 bubbles 24^3", "bubbles-3d", {"n": 24, **SIDE}), ("two-layer 64^2", "two-layer", {"n": 64}))
ROUNDS = 3
FIRST = ("neumann:1", "neumann:2")
CELLS = {2: 8, 3: 4}
"""Cells per side of a box, by dimensions."""
MOST_OF_PYAMG, MOST_OF_PETSC = 3_000_000, 3_000_000
"""Unknowns up to which these take part on the cores: time and memory of a run stay within minutes and 16 GB."""
PETSC = Library(
    "PETSc",
    "petsc_amg.py",
    "WORKBENCH_PETSC_PYTHON",
    "make petsc, or on Debian: apt-get install python3-petsc4py libopenblas0",
    ranks=True,
)


def figures(quick: bool = False) -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    device = "cpu"
    if amgx.installed():
        try:
            device = devices.device("cuda").name
        except InputError:
            device = "cpu"
    made: dict[str, Any] = {"device": device}
    for label, name, parameters in QUICK if quick else CASES if device == "cpu" else GPU_CASES:
        made[label] = case(label, name, parameters, device, 1 if quick else ROUNDS)
        gc.collect()
    return made


def case(label: str, name: str, parameters: dict[str, Any], device: str, rounds: int) -> dict[str, Any]:
    """All contestants on one problem."""
    problem = configure(name, parameters).problem
    system = problem.assemble()
    size = system.operator.shape[0]
    runs: dict[str, Callable[[], Row]] = {}
    for precision in ("float64", MIXED) if isinstance(system.operator, TwoPhaseStencil) else ("float64",):
        setting = partial(_row, name, parameters, device, system, precision=precision)
        ending = "" if precision == "float64" else f", {precision}"
        for first in FIRST:
            runs[f"ours, {first}{ending}"] = partial(ours, setting, first, system, parameters["n"])
        runs[f"ours, mg{ending}"] = partial(setting, preconditioner="mg")
    peers = gpu_peers if device != "cpu" else cpu_peers
    with tempfile.TemporaryDirectory() as folder:
        runs |= dict(peers(system, Path(folder)))
        rows = solves(label, runs, rounds)
    for row in rows.values():
        if "together_s" in row:
            row["without_upload_s"] = row["together_s"] - row.get("upload_s", 0.0)
            row["us_per_unknown"] = 1e6 * row["without_upload_s"] / size
    made: dict[str, Any] = {"N": size, "solves": rows}
    if device == "cpu":
        return made
    bandwidth = on_gpu.copy_bandwidth()
    for name, row in rows.items():
        if "iterations" in row and name in {f"ours, {first}" for first in FIRST}:
            row["by_bytes_s"] = BYTES * size * row["iterations"] / bandwidth
    return {**made, "copy_GB_per_s": 1e-9 * bandwidth, "times_faster_than_amgx": against_amgx(rows)}


def against_amgx(rows: dict[str, Row]) -> dict[str, Any]:
    """The fastest of AmgX over the fastest of ours, with the goal; none where one of them did not run."""
    made = {}
    for key, goal in GOALS.items():
        theirs, own = (
            [row[key] for name, row in rows.items() if name.startswith(who) and key in row] for who in ("AmgX", "ours")
        )
        if theirs and own:
            made[key] = {"measured": min(theirs) / min(own), "goal": goal}
    return made


def ours(solve: Callable[..., Row], first: str, system: LinearSystem, n: int) -> Row:
    """A-DEF2 with the multilevel coarse solver."""
    parts = n // CELLS[len(system.grid or ())]
    space = f"levelset:{parts}" if system.phase is not None else f"blocks:{parts}"
    return solve(preconditioner=first, deflation=space, coarse="multilevel", variant="a-def2")


def _row(name: str, parameters: dict[str, Any], device: str, system: LinearSystem, **chosen: Any) -> Row:
    """One solve of ours."""
    stopping = Stopping(rtol=RTOL, maxiter=2000)
    configuration = configure(name, parameters, device=device, x0="zero", stopping=stopping, **chosen)
    result = run_through(Run(configuration, system))
    if not result.converged:
        raise InputError(f"did not converge: {result.summary['reason']}")
    row = on_gpu.row(result.iterations, result.setup_seconds, result.iteration_seconds, result.true_relative_residual)
    if result.summary["deflation_vectors"]:
        row["vectors"] = result.summary["deflation_vectors"]
    return row if device == "cpu" else {**row, "upload_s": _upload(device, system)}


def _upload(device: str, system: LinearSystem) -> float:
    """Seconds of a copy of A to the device alone; that of the solve has been dropped."""
    chosen = devices.device(device)
    gc.collect()
    chosen.synchronize()
    begun = time.perf_counter()
    bound = system.operator.bind(chosen)
    chosen.synchronize()
    seconds = time.perf_counter() - begun
    del bound
    return seconds


def cpu_peers(system: LinearSystem, folder: Path) -> Iterator[tuple[str, Callable[[], Row]]]:
    """PyAMG's cycles in this process, those of PETSc in processes of their own."""
    size = system.operator.shape[0]
    if size <= MOST_OF_PYAMG:
        # Imported here: PyAMG need not be installed where there is a GPU.
        theirs = importlib.import_module("benchmarks.two_level").Theirs(system)
        for label, build in theirs.builders.items():
            yield label, lambda build=build: _pyamg(theirs, build)
    python = PETSC.python()
    if python is None or size > MOST_OF_PETSC:
        return
    matrix = system.operator.to_csr()
    np.savez(folder / "A.npz", data=matrix.data, indices=matrix.indices, indptr=matrix.indptr)
    b = system.b - system.b.mean() if system.null_space is not None else system.b
    np.save(folder / "b.npy", b)
    for cycle in ("gamg", "hypre"):
        for ranks in (1, 2):
            job = {"cycle": cycle, "singular": system.null_space is not None}
            yield (
                f"PETSc {cycle}, ranks: {ranks}",
                lambda job=job, ranks=ranks: _petsc(python, ranks, job, folder, matrix),
            )


def _pyamg(theirs: Any, build: Callable[[], Any]) -> Row:
    found = theirs.solve(build)
    if not found["converged"]:
        raise InputError(f"did not converge: true residual {found['true_relative_residual']:.1e}")
    return on_gpu.row(int(found["iterations"]), found["setup_s"], found["iteration_s"], found["true_relative_residual"])


def _petsc(python: str, ranks: int, job: dict[str, Any], folder: Path, matrix: Any) -> Row:
    paths = {"matrix": str(folder / "A.npz"), "b": str(folder / "b.npy"), "answer": str(folder / "x")}
    reply = PETSC.play(python, ranks, {**job, **paths, "rtol": RTOL})
    x = np.concatenate([np.load(folder / f"x{rank}.npy") for rank in range(ranks)])
    b = np.load(folder / "b.npy")
    residual = float(np.linalg.norm(b - matrix @ x) / np.linalg.norm(b))
    return on_gpu.row(reply["iterations"], reply["setup_s"], reply["iterate_s"], residual)


def gpu_peers(system: LinearSystem, folder: Path) -> Iterator[tuple[str, Callable[[], Row]]]:
    """AmgX's own PCG around three of its cycles; classical ones break down on singular systems."""
    if system.operator.shape[0] > MOST_OF_AMGX:
        return
    matrix = sparse.csr_array(system.operator.to_csr())
    aggressive = Amgx("classical").configuration()
    aggressive["solver"] |= {"aggressive_levels": 2}
    cycles = {
        "classical": Amgx("classical").configuration(),
        "classical, 2 aggressive levels": aggressive,
        "aggregation": Amgx("aggregation").configuration(),
    }
    for label, cycle in cycles.items():
        yield f"AmgX PCG, {label}", lambda cycle=cycle: on_gpu.theirs(cycle, system, matrix)
