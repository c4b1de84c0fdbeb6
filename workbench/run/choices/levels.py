"""Levels for a matrix without a grid, chosen from its size, its rows and its couplings."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench import devices
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.operators import ComplexSymmetricMatrix, Matrix, Operator, UnsymmetricMatrix
from workbench.operators.cuts import grid_of, has_hubs
from workbench.solvers import MethodTraits, Solver
from workbench.solvers.block.base import BlockSolver
from workbench.words.numbers import count, number

ALONE = "jacobi", "none"
"""The levels of everything that the rule is not for."""
AUTO = "auto"
"""M and deflation of `solve` that leave the choice to the rule."""
FEW = 2_000
"""Unknowns below which a solve takes milliseconds with any levels."""
PAYS = 35_000
"""Unknowns from which a second level pays on the cores."""
SIZE = 60
"""Unknowns of a part."""
LONG = 12.0
"""Mean entries of a row from which products with A outweigh what else an iteration does, on the cores."""
POSITIVE = 0.05
"""Share of positive couplings, by their size, from which incomplete factorizations without fill are poor."""


class Chosen(NamedTuple):
    """Levels, by name or as they were given, and the note that says why; empty where the rule did not choose."""

    preconditioner: object
    deflation: object
    note: str


def filled_in(M: object, deflation: object, operator: Operator, solver: Solver, device: str, *, alone: bool) -> Chosen:
    """M and deflation, with the rule's choice where both are left to it; M alone left out is jacobi, deflation none.

    alone: the run has ranks or workers, which the rule is not for.
    """
    free = [isinstance(each, str) and each == AUTO for each in (M, deflation)]
    if all(free) and not alone and operator.shape[0] >= FEW:
        return chosen_levels(operator, solver, devices.device(device))
    return Chosen(*(usual if left else each for each, left, usual in zip((M, deflation), free, ALONE, strict=True)), "")


def chosen_levels(operator: Operator, solver: Solver, device: Device) -> Chosen:
    """The levels of a run that names none: the rule of docs/two_levels.md, which `python -m benchmarks matrices`
    measures.

    For a sparse symmetric or Hermitian matrix of at least `FEW` unknowns without a grid, and a method for one
    right-hand side that takes any M; Jacobi and no deflation for anything else. Cost: a read of the matrix.
    """
    if not isinstance(operator, Matrix) or isinstance(operator, ComplexSymmetricMatrix | UnsymmetricMatrix):
        return Chosen(*ALONE, "")
    size = operator.shape[0]
    if size < FEW or grid_of(operator) or isinstance(solver, BlockSolver) or not _takes_both(solver, device):
        return Chosen(*ALONE, "")
    length, pays = operator.nnz / size, size >= PAYS
    first, second = "chebyshev:3", f"parts:{SIZE}" if pays else "none"
    if has_hubs(operator.csr):
        first, second = ALONE
    elif device.whole_triangles and length >= LONG:
        first = "jacobi" if pays else first
    elif device.whole_triangles and positive_share(operator.csr) < POSITIVE:
        first = "ic" if pays else "mic"
    about = f"{count(size)} unknowns without a grid, {number(length)} entries a row"
    return Chosen(first, second, f"levels by default: {first} and deflation {second}, for {about}")


def positive_share(matrix: sparse.csr_array) -> float:
    """The share of positive couplings in the sum of all |a_ij|, i != j; by their real parts."""
    values = np.real(matrix.data)
    diagonal = np.real(matrix.diagonal())
    whole = float(np.abs(values).sum() - np.abs(diagonal).sum())
    positive = float(values[values > 0].sum() - diagonal[diagonal > 0].sum())
    return positive / whole if whole > 0 else 0.0


def _takes_both(solver: Solver, device: Device) -> bool:
    """True if a method runs with any M, and with deflation."""
    try:
        solver.check(device, MethodTraits(element_wise=False, deflated=True))
    except InputError:
        return False
    return True
