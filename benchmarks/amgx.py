"""Whole solves on an NVIDIA GPU: AmgX's own PCG with its cycles, our CG with them, and our two-level methods.

    python -m benchmarks amgx [--quick] [--output FOLDER]

Every solve goes from x0 = 0 to ||b - A x|| <= 1e-6 ||b||, recomputed for all. Rounds are interleaved, the first round
only warms up, and figures are medians. Setup is everything before the first iteration: for AmgX including the copy of
the assembled matrix to the GPU, for ours starting from the problem's own form of A. A line is printed to standard error
after each solve; a contestant that fails has its sentence in place of figures. `cycle_ms`: one application of M^-1,
with r and u in GPU memory and through the host.
"""

from __future__ import annotations

import importlib
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks import gpu
from workbench import devices
from workbench.errors import InputError
from workbench.extensions.amgx import library as amgx
from workbench.extensions.amgx.preconditioner import Amgx
from workbench.problems import LinearSystem
from workbench.run import Run, Stopping, configure, run_through

Row = dict[str, Any]
IN_2D = (
    ("neumann:2", "blocks:16", "inverse"),
    ("neumann:3", "blocks:32", "cholesky"),
    ("neumann:3", "blocks:64", "cholesky"),
)
IN_3D = (
    ("neumann:2", "blocks:8", "inverse"),
    ("neumann:2", "levelset:8", "inverse"),
    ("neumann:1", "levelset:16", "inverse"),
)
CASES = (
    ("two-layer", {"n": 1024}, IN_2D),
    ("bubbles-3d", {"n": 128, "sides": "z-:dirichlet"}, IN_3D),
    ("poisson7", {"n": 128}, IN_3D[:1]),
)
QUICK_CASES = (("two-layer", {"n": 64}, IN_2D[:1]), ("bubbles-3d", {"n": 24, "sides": "z-:dirichlet"}, IN_3D[:1]))
RTOL, ROUNDS, MOST = 1e-6, 3, 2000
CYCLES = 30


def figures(quick: bool = False) -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    if not amgx.installed():
        return {"not run": amgx.HOW_TO_INSTALL}
    try:
        devices.device("cuda")
    except InputError as sentence:
        return {"not run": str(sentence)}
    made = {}
    for name, parameters, pairs in QUICK_CASES if quick else CASES:
        label = f"{name} {parameters['n']}"
        try:
            made[label] = case(label, name, parameters, pairs, 1 if quick else ROUNDS)
        except Exception as error:
            made[label] = {"failed": _said(label, error)}
    return made


def case(label: str, name: str, parameters: dict[str, Any], pairs: tuple[Any, ...], rounds: int) -> dict[str, Any]:
    """All contestants on one problem."""
    chosen = configure(name, parameters, device="cuda", x0="zero")
    system = chosen.problem.assemble()
    matrix = sparse.csr_array(system.operator.to_csr())
    return {
        "N": matrix.shape[0],
        "nnz": matrix.nnz,
        "solves": solves(label, dict(contestants(chosen, system, matrix, pairs)), rounds),
        "cycle_ms": cycles(label, matrix),
    }


def contestants(
    chosen: Any, system: LinearSystem, matrix: sparse.csr_array, pairs: tuple[Any, ...]
) -> Iterator[tuple[str, Callable[[], Row]]]:
    """Name and solve of each."""
    aggressive = Amgx("classical").configuration()
    aggressive["solver"] |= {"aggressive_levels": 2}
    for what, cycle in (
        ("classical", Amgx("classical").configuration()),
        ("classical, 2 aggressive levels", aggressive),
        ("aggregation", Amgx("aggregation").configuration()),
    ):
        yield f"AmgX PCG, {what}", lambda cycle=cycle: theirs(cycle, system, matrix)
    for first in ("amgx:classical", "amgx:aggregation"):
        yield f"ours, {first}", lambda first=first: ours(chosen, system, first, "none", "cholesky")
    for first, second, coarse in pairs:
        levels = (first, second, coarse)
        yield f"ours, {first} + {second} ({coarse})", lambda levels=levels: ours(chosen, system, *levels)


def solves(label: str, runs: dict[str, Callable[[], Row]], rounds: int, patience: float = math.inf) -> dict[str, Row]:
    """The median row of every contestant, or its sentence; one that fails is not run again.

    patience: a contestant that takes longer than this times the fastest one in the round that warms up, has the figures
    of that round.
    """
    kept: dict[str, list[Row]] = {}
    failed: dict[str, Row] = {}
    slow: dict[str, Row] = {}
    warm: dict[str, Row] = {}
    for turn in range(rounds + 1):
        if turn == 1 and warm and patience < math.inf:
            most = patience * min(row["together_s"] for row in warm.values())
            slow = {name: row for name, row in warm.items() if row["together_s"] > most}
        for name, solve in runs.items():
            if name in failed or name in slow:
                continue
            try:
                row = solve()
            except Exception as error:
                failed[name] = {"failed": _said(f"{label}, {name}", error)}
                continue
            _say(f"{label}, {name}, round {turn}: " + ", ".join(f"{key} {value:.4g}" for key, value in row.items()))
            if turn:
                kept.setdefault(name, []).append(row)
            else:
                warm[name] = row
    medians = {
        name: {key: statistics.median(row[key] for row in rows) for key in rows[0]}
        for name, rows in kept.items()
        if name not in failed
    }
    return {name: row for name in runs for row in [{**slow, **medians, **failed}.get(name)] if row}


def theirs(cycle: Row, system: Any, matrix: sparse.csr_array, rtol: float = RTOL) -> Row:
    """AmgX's own PCG with one of its cycles. system: has the right-hand side b."""
    begun = time.perf_counter()
    solver = amgx.AmgxSolver(amgx.own_pcg(cycle, rtol, MOST), matrix)
    ready = time.perf_counter()
    x = solver.solve(np.asarray(system.b, float))
    done = time.perf_counter()
    iterations, upload = solver.iterations, solver.upload_seconds
    solver.close()
    residual = float(np.linalg.norm(system.b - matrix @ x) / np.linalg.norm(system.b))
    return {**row(iterations, ready - begun, done - ready, residual), "upload_s": upload}


def ours(chosen: Any, system: LinearSystem, first: str, second: str, coarse: str) -> Row:
    """Our CG with a pair of levels on the GPU."""
    levels = {"preconditioner": first, "deflation": second, "coarse": coarse}
    stopping = Stopping(rtol=RTOL, maxiter=20000)
    run = Run(configure(chosen.problem, device="cuda", x0="zero", stopping=stopping, **levels), system)
    result = run_through(run)
    if not result.converged:
        raise InputError(f"did not converge: {result.summary['reason']}")
    return row(result.iterations, result.setup_seconds, result.iteration_seconds, result.true_relative_residual)


def row(iterations: int, setup: float, iterating: float, residual: float) -> Row:
    return {
        "iterations": iterations,
        "setup_s": setup,
        "iterate_s": iterating,
        "together_s": setup + iterating,
        "true_residual": residual,
    }


def copy_bandwidth() -> float:
    """Bytes per second of a large copy on the GPU."""
    return gpu.copy_bandwidth(importlib.import_module("cupy"))


def cycles(label: str, matrix: sparse.csr_array) -> dict[str, Any]:
    """Milliseconds of one cycle with device addresses and with host vectors, alternating, and whether both are
    bit-identical."""
    device = devices.device("cuda")
    solver = amgx.AmgxSolver(Amgx().configuration(), matrix)
    cycle = amgx.Cycle(solver, device)
    values = np.random.default_rng(0).standard_normal(solver.size)
    r, u = device.array(values, np.float64), device.zeros(solver.size, np.float64)
    by_host = device.callable(solver.solve, solver.size, np.float64)
    ways = {"device_memory": lambda: cycle.apply(r, u), "through_the_host": lambda: by_host.apply(r, u)}
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for turn in range(CYCLES + 1):
        for way, apply in ways.items():
            device.runtime.synchronize()
            begun = time.perf_counter()
            apply()
            device.runtime.synchronize()
            if turn:
                seconds[way].append(time.perf_counter() - begun)
    cycle.apply(r, u)
    made: dict[str, Any] = {way: 1e3 * statistics.median(all_of_it) for way, all_of_it in seconds.items()}
    made["same_bits"] = bool(np.array_equal(device.to_host(u), solver.solve(values)))
    solver.close()
    _say(f"{label}, one cycle: {made}")
    return made


def _said(what: str, error: Exception) -> str:
    sentence = f"{type(error).__name__}: {error}"
    _say(f"{what} failed: {sentence}")
    return sentence


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
