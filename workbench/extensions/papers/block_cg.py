"""Tali, Vainikko, "Block Conjugate Gradient solver in OpenCL": matrices, operation counts and devices.

The paper's solver runs s recurrences that share the matrix, `pseudo-block-cg` here; Figures 5 and 6 are in
`block_cg_figures`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.devices.kernels.block_algebra import MOST_COLUMNS
from workbench.errors import InputError
from workbench.extensions.papers.block_cg_iteration import iteration
from workbench.extensions.papers.comparison import Row
from workbench.extensions.papers.hybrid_pipecg import real_file
from workbench.extensions.papers.printed import printed_in
from workbench.extensions.papers.reproduction import Progress, Reproduction
from workbench.extensions.papers.standing import Reason, Support
from workbench.machines.profile import profile
from workbench.operators import Matrix
from workbench.problems.files import problem_from_text
from workbench.problems.stand_in import StandIn
from workbench.registry import blocks as registry
from workbench.run.loop.block.memory import blocks_of
from workbench.solvers.block.base import BlockSolver

ROWS_PER_N = 1100
"""Stand-ins have at most ROWS_PER_N max_n rows, which is the paper's size for the default max_n."""
REAL = ("1138_bus", "mhd1280b")
"""The small matrices, which are downloaded where a network is available."""
REAL_MATRIX = "the real matrix"
SMALLEST_SCALE = 0.04
BLOCK = 16
"""Right-hand sides in table 2's counts of block CG."""
FLOAT32 = 4
"""Bytes of a number, as in the paper."""


printed = functools.partial(printed_in, "block-cg")


@dataclasses.dataclass(frozen=True)
class System:
    """A matrix of Table I. ours: the real one, or one with the same row lengths."""

    name: str
    type: str
    n: int
    nnz: int
    ours: Matrix
    source: str

    @property
    def is_complex(self) -> bool:
        return self.type.startswith("complex")

    @property
    def single(self) -> Matrix:
        """The matrix in single precision, as in the paper."""
        return self.ours.astype(np.dtype(np.complex64 if self.is_complex else np.float32))


def systems(max_n: int, progress: Progress) -> Iterator[System]:
    """The matrices of Table I."""
    for name, *_ in printed()["table1"]["rows"]:
        progress(f"matrix {name}")
        yield system(name, max_n)


def system(name: str, max_n: int) -> System:
    """A matrix of Table I by name."""
    _, kind, n, nnz, *_ = next(line for line in printed()["table1"]["rows"] if line[0] == name)
    return System(name, kind, n, nnz, *_found(name, n, max_n))


def _found(name: str, n: int, max_n: int) -> tuple[Matrix, str]:
    """The real matrix where it is small and at hand, else its stand-in; and what it is."""
    if name in REAL:
        path = real_file(name)
        with contextlib.suppress(InputError):
            operator = problem_from_text(f"suitesparse:{name}" if path is None else str(path)).assemble().operator
            assert isinstance(operator, Matrix)
            return operator, REAL_MATRIX
    substitute = StandIn(of=name, scale=min(1.0, max(SMALLEST_SCALE, ROWS_PER_N * max_n / n)))
    symmetric = substitute.is_complex_symmetric
    operator = (substitute.assemble_complex_symmetric if symmetric else substitute.assemble)().operator
    assert isinstance(operator, Matrix)
    return operator, ", ".join([substitute.words, *substitute.details])


def flops_printed(system: System, matrix: Matrix | None = None) -> int:
    """Operations of an iteration with one right-hand side by the paper's Table II, of the printed or another size."""
    n, nnz = (system.n, system.nnz) if matrix is None else (matrix.shape[0], matrix.nnz)
    return by_table2(n, nnz, is_complex=system.is_complex)


def by_table2(n: int, nnz: int, *, is_complex: bool) -> int:
    """Operations of an iteration with one right-hand side by Table II."""
    return int(_sums("per_iteration", is_complex=is_complex) @ (nnz, n, 1))


def _sums(part: str, *, is_complex: bool) -> np.ndarray:
    """Multiples of nnz, of n and of 1 in a part of Table II, `once` or `per_iteration`; shape (3,)."""
    lines = printed()["table2"][part]
    return np.sum([times * np.array(complexes if is_complex else real) for _, times, real, complexes in lines], axis=0)


def made_from_print(row: Row) -> str:
    """Why a row of Table I is no independent comparison; empty for the real matrix."""
    return "" if row["ours_is"] == REAL_MATRIX else "a stand-in is made from the printed numbers"


def table1(max_n: int, progress: Progress) -> Reproduction:
    """Sizes and row lengths of the matrices: printed, and of those used here."""
    rows = []
    for system, line in zip(systems(max_n, progress), printed()["table1"]["rows"], strict=True):
        name, kind, n, nnz, *lengths = line
        found = np.diff(system.ours.csr.indptr)
        row = {"matrix": name, "type": kind, "printed_n": n, "n": system.ours.shape[0], "printed_nnz": nnz}
        row |= {"nnz": system.ours.nnz, "printed_row": lengths}
        row["row_min_mean_max"] = [int(found.min()), float(found.mean()), int(found.max())]
        rows.append(row | {"ours_is": system.source})
    notes = [
        "Row lengths: shortest..mean..longest row.",
        "A stand-in is a synthetic matrix with the printed N, non-zeros, shortest and longest row. parabolic_fem and "
        "helm_fem have those of linear elements on 513 x 1025 and 128 x 128 nodes; helm_fem is in no collection.",
        *scaled(max_n),
    ]
    return Reproduction("table1", "Table I: input matrices", rows, notes)


MORE_DOTS = {
    "helm_fem": Reason(
        "our COCG adds the dot products of p, A p, r and u with themselves, 32 n operations, by which it stops and "
        "recognizes a breakdown; without them its count is 8 nnz + 40 n, as printed",
        Support.MEASURED,
    )
}


def table2(max_n: int, progress: Progress) -> Reproduction:
    """Operations of an iteration: by the paper's Table II, and counted from the lines of our methods."""
    rows = []
    for system in systems(max_n, progress):
        once, each = (_sum(part, is_complex=system.is_complex) for part in ("once", "per_iteration"))
        row: dict[str, Any] = {"matrix": system.name, "printed_once": once, "printed_sum": each}
        theirs = flops_printed(system, system.ours)
        ours = iteration(system.ours, 1).flops
        block = "block-cocg" if system.name == "helm_fem" else "block-cg"
        progress(f"operations: {block} on {system.name}, s = {BLOCK}")
        most = iteration(system.ours, BLOCK, solver=block).flops
        row |= {"by_table2_Mflop": 1e-6 * theirs, "pseudo_block_Mflop": 1e-6 * ours}
        row["difference_percent"] = 100 * (ours / theirs - 1)
        row[f"block_cg_s{BLOCK}_over_printed"] = most / (BLOCK * theirs)
        rows.append(row | {"ours_is": system.source})
    notes = [
        "Per right-hand side, before the first iteration (once) and per iteration. Mflop: for the matrix in the last "
        "column. Ours counts 8 operations for a complex multiplication and addition. A dot product for ||r|| and one "
        "for (r, M^-1 r) make 12 n of 10 n for real ones.",
        "Differences from the print: a complex division takes 11 operations, not 14; for a Hermitian A the scalars are "
        "real, so the axpy operations cost 4 n each and the sum is 8 nnz + 24 n + 2.",
        f"The sum times s holds for {BLOCK} separate recurrences. The last ratio is the count of block CG over that; "
        "products with s x s matrices cost 10 n s^2 and more.",
        *scaled(max_n),
    ]
    return Reproduction("table2", "Table II: floating-point operations of an iteration", rows, notes)


def _sum(part: str, *, is_complex: bool) -> str:
    """A part of Table II as a formula."""
    counts = zip(_sums(part, is_complex=is_complex), (" nnz", " n", ""), strict=True)
    return " + ".join(f"{count}{what}" for count, what in counts if count)


def table3(max_n: int, progress: Progress) -> Reproduction:
    """The devices of the paper, and how many right-hand sides of m_t1 their memory holds at once."""
    name, _, n, nnz, *_ = next(line for line in printed()["table1"]["rows"] if line[0] == "m_t1")
    most = printed()["claims"]["most_right_hand_sides"]
    progress(f"memory of {name}")
    matrix = nnz * (FLOAT32 + 4) + 4 * (n + 1)
    rows = []
    for key, device, architecture, cores, memory, clock in printed()["table3"]["rows"]:
        where = profile(key)
        room = where.required("memory_bytes").value - matrix
        row = {"device": device, "architecture": architecture, "cores": cores, "memory": memory, "clock": clock}
        row |= {"GB_per_s": 1e-9 * where.bandwidth.value, "basis": where.bandwidth.basis}
        row["printed_most"] = most if key == "rtx2080s" else None
        for solver in ("pseudo-block-cg", "block-cg"):
            row[f"{solver}_most"] = int(room // (blocks_of(_solver(solver), plain=True, remade=True) * n * FLOAT32))
        rows.append(row)
    notes = [
        f"Right-hand sides of {name} that the memory holds at once in single precision: {matrix / 1e6:.0f} MB for the "
        f"matrix, and {blocks_of(_solver('block-cg'), plain=True)} block vectors for block-cg, B and X included, of "
        f"{n * FLOAT32 / 1e6:.2f} MB per column.",
        f"The paper's {most} are no limit of memory: private arrays of its product kernel grow with s until the "
        "device refuses them (CL_OUT_OF_RESOURCES). Kernels here have one column per work-item, so they do not grow.",
        f"At most {MOST_COLUMNS} columns are solved at once; the others follow in chunks, as where memory is short.",
        "The clock rate printed in MHz is in GHz.",
    ]
    return Reproduction("table3", "Table III: devices under test", rows, notes)


def _solver(name: str) -> BlockSolver:
    found = registry.as_block("solver", name)
    assert isinstance(found, BlockSolver)
    return found


def scaled(max_n: int) -> list[str]:
    """A sentence where stand-ins are smaller than the paper's matrices."""
    largest = max(line[2] for line in printed()["table1"]["rows"])
    if ROWS_PER_N * max_n >= largest:
        return []
    return [f"Stand-ins have at most {ROWS_PER_N * max_n} rows; --max-n 512 takes the paper's sizes."]
