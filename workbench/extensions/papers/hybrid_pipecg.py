"""Tiwari, Vadhiyar 2021 and 2022, hybrid CPU-GPU pipelined CG: the test systems of the two papers.

The papers print curves without numbers, so only sizes and speedups can be compared. Iteration counts come from solves
run on request.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

from workbench.errors import InputError
from workbench.extensions.papers.comparison import Row
from workbench.extensions.papers.printed import printed_in
from workbench.extensions.papers.reproduction import Progress, Reproduction
from workbench.operators.box_stencil import box_nnz
from workbench.problems import LinearSystem
from workbench.problems.catalogue import catalogue
from workbench.problems.files import problem_from_text
from workbench.problems.stand_in import StandIn
from workbench.problems.suitesparse import cache_folder
from workbench.run import Run, Stopping, configure, run_through

ROWS_PER_N = 100
"""Matrices with at most ROWS_PER_N max_n rows are solved."""
POISSON_SIDES = {"4.5M": 165, "5M": 170, "6M": 181, "6.3M": 185, "17.5M": 260, "20M": 271, "25M": 292}
"""Cells per side, from N = n^3."""
SMALL_SIDES = (8, 12, 16, 24, 32)
STOPPING = Stopping(rtol=0.0, atol=1e-5, norm="preconditioned", maxiter=10000)
"""Absolute tolerance for sqrt((u, u)), as in the papers' experimental setup."""


printed = functools.partial(printed_in, "hybrid-pipecg")


def real_file(name: str) -> Path | None:
    """The file of a matrix, if it is in WORKBENCH_MATRICES or was downloaded before; else None."""
    group = catalogue()[name].group
    folder = os.environ.get("WORKBENCH_MATRICES")
    places = [Path(folder) / f"{name}.mtx.gz"] if folder else []
    downloads = cache_folder() / "suitesparse" / group
    return next(filter(Path.is_file, [*places, *(downloads / f"{name}{end}" for end in (".tar.gz", ".mtx.gz"))]), None)


def spec_of(name: str) -> str:
    """The problem text of a matrix: its file, or its name in the collection."""
    path = real_file(name)
    return str(path) if path and path.name.endswith(".mtx.gz") else f"suitesparse:{name}"


def made_from_print(row: Row) -> str:
    """Why a row of Table 1 is no independent comparison; empty for a real matrix, and for one that is counted."""
    return "a stand-in is made from the printed numbers" if "stand-in" in row["ours_is"] else ""


def table1(max_n: int, progress: Progress) -> Reproduction:
    """Rows and non-zeros of all systems: printed, and of the matrix or its synthetic substitute."""
    rows, per_row = [], printed()["entries_per_row"]
    for name, size, entries, machines in printed()["matrices"]["rows"]:
        sizes = size, entries, per_row[name]
        rows.append(_sizes(name, machines, sizes, *_found(name, max_n, progress)))
    for name, size, entries, machines in printed()["poisson125"]["rows"]:
        n, sizes = POISSON_SIDES[name], (size, entries, per_row.get(name))
        source = f"poisson125, n = {n}: (5n - 6)^3 entries"
        rows.append(_sizes(f"{name} Poisson", machines, sizes, n**3, box_nnz((n, n, n), 2), source))
    notes = [
        "Misprints: 120.55 entries per row of 6M Poisson, whose printed N and nnz give 122.53; and 360M entries of "
        "Queen_4147 in the text of 2021, which its table counts as 329,499,284.",
        "The papers count explicitly stored zeros as entries, and so does this table.",
        "A stand-in is a synthetic matrix with the same number of rows and, within 2%, of entries.",
        "The larger Poisson matrices exceed 32-bit indices and are not assembled here.",
    ]
    return Reproduction("table1", "Table 1: systems", rows, notes)


def _sizes(
    name: str, machines: str, sizes: tuple[int, int, float | None], our_size: int, our_entries: int, source: str
) -> dict[str, object]:
    """A row. sizes: the printed N, nnz and nnz/N."""
    size, entries, per_row = sizes
    return {
        "matrix": name,
        "system": machines,
        "printed_N": size,
        "N": our_size,
        "printed_nnz": entries,
        "nnz": our_entries,
        "printed_nnz/N": per_row,
        "nnz/N": our_entries / our_size,
        "nnz_off_percent": 100 * (our_entries / entries - 1),
        "ours_is": source,
    }


def _found(name: str, max_n: int, progress: Progress) -> tuple[int, int, str]:
    """N, entries and their source: the real file, or a stand-in, which is built if it is small enough."""
    entry = catalogue()[name]
    small = ROWS_PER_N * max_n >= entry.N
    if small and real_file(name):
        progress(f"table 1: {name}, the real file")
        operator = problem_from_text(spec_of(name)).assemble().operator
        return operator.shape[0], int(operator.to_csr().indptr[-1]), "the real file"
    stand_in = StandIn(of=name)
    if not small:
        return stand_in.unknowns, stand_in.entries, "a stand-in, not built: larger than --max-n allows"
    progress(f"table 1: {name}, its stand-in")
    operator = stand_in.assemble().operator
    return operator.shape[0], int(operator.to_csr().indptr[-1]), "a stand-in, built"


def iterations(max_n: int, progress: Progress) -> Reproduction:
    """Iterations of CG and pipelined CG with Jacobi and the papers' stopping rule, for available matrices."""
    rows = []
    for name, size, *_ in printed()["matrices"]["rows"]:
        if size <= ROWS_PER_N * max_n:
            progress(f"iterations: {name}")
            rows.append(_counted(name, size, spec_of(name)))
    for n in (side for side in SMALL_SIDES if side <= max_n):
        progress(f"iterations: poisson125, n = {n}")
        rows.append(_counted(f"poisson125, n = {n}", n**3, "poisson125", n=n))
    notes = [
        "As in the papers: x* = 1/sqrt(N), b = A x*, Jacobi, until sqrt((u, u)) <= 1e-5, at most 10000 iterations.",
        "The papers print no iteration counts. `converged` means convergence verified by the computed true residual.",
        f"Matrices of at most {ROWS_PER_N} max-n rows. Stand-ins are not solved, since their counts would differ.",
    ]
    return Reproduction("iterations", "Iterations by the papers' rule", rows, notes)


def _counted(name: str, size: int, problem: str, **parameters: object) -> dict[str, Any]:
    row: dict[str, Any] = {"matrix": name, "N": size, "cg": None, "pipecg": None, "said": ""}
    try:
        system: LinearSystem = configure(problem, parameters).problem.assemble()
    except InputError as error:
        # The advice after it names a folder of this machine.
        return {**row, "said": str(error).partition("; ")[0]}
    endings = []
    for solver in ("cg", "pipecg"):
        chosen = configure(problem, parameters, solver=solver, rhs="ones-scaled", x0="zero", stopping=STOPPING)
        result = run_through(Run(chosen, system))
        row[solver] = result.iterations
        endings.append("converged" if result.converged else f"{solver}: {result.summary['reason']}")
    return {**row, "said": "; ".join(dict.fromkeys(endings))}
