"""The contestants on one matrix: ours by default and by pairs of levels, and those of other libraries."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator, cg, splu

from benchmarks import amgx as on_gpu
from benchmarks.amgx import Row
from benchmarks.matrices.made import System
from benchmarks.whole_solves import PETSC
from workbench.errors import InputError
from workbench.extensions.amgx.preconditioner import Amgx
from workbench.run import solve

RTOL = 1e-8
ROUNDED = 1.5
"""Times the tolerance that a true residual may have: other libraries stop by that of a recurrence."""
MOST = 20_000
"""Iterations of CG without a second level."""
MOST_CYCLES = 500
"""Iterations of CG around cycles of multigrid."""
MOST_DIRECT = {True: 250_000, False: 30_000}
"""Unknowns up to which the direct solver takes part: in the plane, and in space or in graphs."""
SECOND = ("none", "parts:30", "parts:60", "parts:120")
GROWING = ("ic", "parts:60"), ("kcycle", "none")
PLAIN = "SciPy CG, Jacobi"
"""The contestant without a second level."""
IN_SPACE = {"pc_hypre_boomeramg_strong_threshold": 0.5}
"""hypre's manual: strong couplings have a quarter of the strongest one in the plane, half of it in space."""
FOR_MODES = {"pc_hypre_boomeramg_nodal_coarsen": 4, "pc_hypre_boomeramg_vec_interp_variant": 2}
"""hypre's coarsening by nodes and interpolation of a near null space."""
SPARSER = {
    "pc_hypre_boomeramg_coarsen_type": "HMIS",
    "pc_hypre_boomeramg_interp_type": "ext+i",
    "pc_hypre_boomeramg_P_max": 4,
}
"""The coarsening and interpolation that hypre itself has by default; PETSc's defaults for it are older."""
ON_CORES, ON_GPU = ("ic", "chebyshev:3", "jacobi"), ("chebyshev:3", "chebyshev:6", "jacobi")
Runs = dict[str, Callable[[], Row]]


def pairs(device: str) -> list[tuple[str, str]]:
    """The pairs of first and second level that are tried, fastest ones expected among them."""
    found = [(first, second) for second in SECOND for first in (ON_CORES if device == "cpu" else ON_GPU)]
    return [*found, ("kcycle", "none"), *([("mic", "none")] if device == "cpu" else [])]


def ours(system: System, device: str, **levels: Any) -> Row:
    """One solve by `workbench.run.solve`, whole: checks and copies of the matrix are part of its setup."""
    modes = {} if system.modes is None else {"near_null": system.modes}
    begun, used = time.perf_counter(), time.process_time()
    result = solve(system.matrix, system.b, rtol=RTOL, maxiter=MOST, device=device, **modes, **levels)
    seconds, used = time.perf_counter() - begun, time.process_time() - used
    if not result.converged:
        raise InputError(f"did not converge: {result.reason}")
    row = checked(system, result.x, result.iterations, seconds - result.iteration_seconds, result.iteration_seconds)
    return {**row, "cpu_s": used}


def checked(system: System, x: np.ndarray, iterations: int, setup: float, iterating: float) -> Row:
    """The row of a solve. Raises InputError for a true residual above the tolerance."""
    residual = float(np.linalg.norm(system.b - system.matrix @ x) / np.linalg.norm(system.b))
    if not residual <= ROUNDED * RTOL:
        raise InputError(f"did not converge: true residual {residual:.1e} after {iterations} iterations")
    return on_gpu.row(iterations, setup, iterating, residual)


def peers(system: System, device: str, folder: Path) -> Runs:
    """The contestants of other libraries, by name."""
    return dict(gpu_peers(system) if device != "cpu" else cpu_peers(system, folder))


def cpu_peers(system: System, folder: Path) -> Iterator[tuple[str, Callable[[], Row]]]:
    """PyAMG and SciPy in this process, PETSc on one and two ranks where it is installed."""
    modes = {} if system.modes is None else {"B": system.modes}
    yield "PyAMG SA", partial(_pyamg, system, "smoothed_aggregation_solver", **modes)
    yield "PyAMG RS", partial(_pyamg, system, "ruge_stuben_solver")
    yield PLAIN, partial(_scipy, system)
    if not system.singular and system.b.size <= MOST_DIRECT[system.planar]:
        yield "SciPy splu", partial(_direct, system)
    if python := PETSC.python():
        yield from petsc_peers(system, python, folder)


def absent(device: str) -> dict[str, str]:
    """A sentence for each library that takes part only where it is installed, and is not."""
    if device != "cpu" or PETSC.python():
        return {}
    return {"PETSc with hypre": f"not installed: {PETSC.how_to_install}; then name its Python in {PETSC.variable}"}


def petsc_peers(system: System, python: str, folder: Path) -> Iterator[tuple[str, Callable[[], Row]]]:
    """GAMG and hypre's BoomerAMG on one and two ranks, each solve in processes that read the system from a folder."""
    matrix = system.matrix
    np.savez(folder / "A.npz", data=matrix.data, indices=matrix.indices, indptr=matrix.indptr)
    np.save(folder / "b.npy", system.b)
    job = {"singular": system.singular, "rtol": RTOL, "most": MOST_CYCLES, "node": system.node}
    near_null = {"near_null": str(folder / "modes.npy")}
    if system.modes is not None:
        np.save(folder / "modes.npy", system.modes)
    for name, cycle, options, modes in cycles_of_petsc(system):
        for ranks in (1, 2):
            given = {**job, "cycle": cycle, "options": options, **(near_null if modes else {})}
            yield f"PETSc {name}, ranks: {ranks}", partial(_petsc, system, python, ranks, given, folder)


def cycles_of_petsc(system: System) -> Iterator[tuple[str, str, dict[str, Any], bool]]:
    """The name of a contestant, its preconditioner, its options as the manuals recommend for such a matrix, and True
    where it takes the near null space. hypre is often faster without."""
    usual, modes = {} if system.planar else IN_SPACE, system.modes is not None
    yield "gamg", "gamg", {}, modes
    yield "hypre", "hypre", usual, False
    yield "hypre, HMIS", "hypre", usual | SPARSER, False
    if modes:
        yield "hypre, modes", "hypre", usual | FOR_MODES, True


def gpu_peers(system: System) -> Iterator[tuple[str, Callable[[], Row]]]:
    """AmgX's own PCG around its cycles; classical ones break down on singular systems."""
    cycles = {"aggregation": Amgx("aggregation").configuration()}
    if not system.singular:
        cycles["classical"] = Amgx("classical").configuration()
        aggressive = Amgx("classical").configuration()
        aggressive["solver"] |= {"aggressive_levels": 2}
        cycles["classical, 2 aggressive levels"] = aggressive
    for name, cycle in cycles.items():
        yield f"AmgX PCG, {name}", partial(_amgx, system, cycle)


def _pyamg(system: System, maker: str, **given: Any) -> Row:
    # Imported here: PyAMG need not be installed where there is a GPU.
    import pyamg

    matrix = sparse.csr_matrix(system.matrix)
    begun, used = time.perf_counter(), time.process_time()
    cycle = getattr(pyamg, maker)(matrix, **given)
    ready = time.perf_counter()
    residuals: list[float] = []
    x = cycle.solve(system.b, tol=RTOL, maxiter=MOST_CYCLES, accel="cg", residuals=residuals)
    done, used = time.perf_counter(), time.process_time() - used
    return {**checked(system, x, len(residuals) - 1, ready - begun, done - ready), "cpu_s": used}


def _scipy(system: System) -> Row:
    begun, used = time.perf_counter(), time.process_time()
    jacobi = aslinearoperator(sparse.diags_array(1 / np.asarray(system.matrix.diagonal(), float)))
    ready, count = time.perf_counter(), [0]

    def counted(_: np.ndarray) -> None:
        count[0] += 1

    x, _ = cg(system.matrix, system.b, rtol=RTOL, atol=0.0, maxiter=MOST, M=jacobi, callback=counted)
    done, used = time.perf_counter(), time.process_time() - used
    return {**checked(system, x, count[0], ready - begun, done - ready), "cpu_s": used}


def _direct(system: System) -> Row:
    begun, used = time.perf_counter(), time.process_time()
    options = {"SymmetricMode": True}
    factor = splu(sparse.csc_array(system.matrix), "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    ready = time.perf_counter()
    x = factor.solve(system.b)
    done, used = time.perf_counter(), time.process_time() - used
    return {**checked(system, x, 0, ready - begun, done - ready), "cpu_s": used}


def _petsc(system: System, python: str, ranks: int, job: dict[str, Any], folder: Path) -> Row:
    paths = {"matrix": str(folder / "A.npz"), "b": str(folder / "b.npy"), "answer": str(folder / "x")}
    reply = PETSC.play(python, ranks, {**job, **paths})
    x = np.concatenate([np.load(folder / f"x{rank}.npy") for rank in range(ranks)])
    row = checked(system, x, reply["iterations"], reply["setup_s"], reply["iterate_s"])
    return {**row, "cpu_s": reply["cpu_s"]}


def _amgx(system: System, cycle: dict[str, Any]) -> Row:
    row = on_gpu.theirs(cycle, system, system.matrix, RTOL)
    if not row["true_residual"] <= ROUNDED * RTOL:
        raise InputError(f"did not converge: true residual {row['true_residual']:.1e}")
    return row
