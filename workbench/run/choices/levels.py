"""Levels for a matrix without a grid, chosen from its size, its rows and its couplings."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from workbench import devices
from workbench.deflation.coarse import CoarseError
from workbench.deflation.coarse_auto import MOST_UNPLACED
from workbench.devices.host.growth import STRONG, in_real_numbers, strongest_couplings
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.operators import ComplexSymmetricMatrix, Matrix, Operator, UnsymmetricMatrix
from workbench.operators.cuts import grid_of, has_hubs, sampled
from workbench.settings import AUTO
from workbench.solvers import MethodTraits, Solver
from workbench.solvers.block.base import BlockSolver
from workbench.words.numbers import count, number, percent

if TYPE_CHECKING:
    from workbench.problems import LinearSystem
    from workbench.run.choices.configuration import Configuration

    Made = TypeVar("Made")

ALONE = "jacobi", "none"
"""The levels of everything that the rule is not for."""
FEW = 2_000
"""Unknowns below which a solve takes milliseconds with any levels."""
FROM = 5_000
"""Unknowns from which a second level pays on the cores."""
CYCLE, CYCLE_FROM = "kcycle", 100_000
"""Multigrid on the graph, and the unknowns from which it is the default on the cores: all of it runs on several
threads, where IC solves on one, and its iterations hardly grow."""
SIZES = ((35_000, 30), (math.inf, 60))
"""Unknowns of a part, below numbers of unknowns of the matrix."""
LONG = ((35_000, 20.0), (math.inf, 10.0))
"""Mean entries of a row from which products with A outweigh what else an iteration does, so that Jacobi is faster than
IC on the cores; below numbers of unknowns."""
POSITIVE = 0.25
"""Share of positive couplings from which unknowns are components of vectors, such as displacements: constants on parts
are far from their slow components."""
WITH_MODES = 120
"""Unknowns of a part with several vectors each, such as rigid-body modes."""
LINES = 2.2
"""Strong couplings of a row, on average, up to which they form lines, which IC solves and parts cut to pieces."""


class Chosen(NamedTuple):
    """Levels, by name or as they were given, and the note that says why; empty where the rule did not choose."""

    preconditioner: object
    deflation: object
    note: str


def filled_in(
    M: object, deflation: object, operator: Operator, solver: Solver, device: str, *, alone: bool, modes: bool = False
) -> Chosen:
    """M and deflation, with the rule's choice where both are left to it; M alone left out is jacobi, deflation none.

    alone: the run has ranks or workers, which the rule is not for. modes: a near null space is given.
    """
    free = [isinstance(each, str) and each == AUTO for each in (M, deflation)]
    if all(free) and not alone and operator.shape[0] >= FEW:
        return chosen_levels(operator, solver, devices.device(device), modes=modes)
    usual = (ALONE[0] if free[0] else M), (ALONE[1] if free[1] else deflation)
    return Chosen(*usual, "")


def set_up_by_default(
    make: Callable[[Configuration, LinearSystem], Made], configuration: Configuration, system: LinearSystem, note: str
) -> Made:
    """The result of `make` for the levels of a configuration; where these were chosen by the rule and cannot be set up
    on this matrix, for Jacobi alone, and a note that says why. note: of the choice, in the system; empty without one.

    Raises InputError as `make` does, for what other levels would not change.
    """
    try:
        return make(configuration, system)
    except InputError as error:
        if not note or not (isinstance(error, CoarseError) or "preconditioner" in error.changes):
            raise
        why = error.detail if isinstance(error, CoarseError) else str(error).rpartition("; use ")[0] or str(error)
        said = f"levels by default: {ALONE[0]} and deflation {ALONE[1]}, since {why}"
    plain = dataclasses.replace(configuration, preconditioner=ALONE[0], deflation=ALONE[1])
    return make(plain, system.with_parts(notes=tuple(said if each == note else each for each in system.notes)))


def chosen_levels(operator: Operator, solver: Solver, device: Device, *, modes: bool = False) -> Chosen:
    """The levels of a run that names none: the rule of docs/two_levels.md, which `python -m benchmarks matrices`
    measures.

    For a sparse symmetric or Hermitian matrix of at least `FEW` unknowns without a grid, and a method for one
    right-hand side that takes any M; Jacobi and no deflation for anything else. Cost: a read of the matrix.
    """
    if not isinstance(operator, Matrix) or isinstance(operator, ComplexSymmetricMatrix | UnsymmetricMatrix):
        return Chosen(*ALONE, "")
    size, matrix = operator.shape[0], operator.csr
    if size < FEW or grid_of(operator) or isinstance(solver, BlockSolver) or not _takes_both(solver, device):
        return Chosen(*ALONE, "")
    length, on_cores = matrix.nnz / size, device.whole_triangles
    first, second, what = "ic", f"parts:{parts_size(size)}", f"{number(length)} entries a row"
    if has_hubs(matrix):
        (first, second), what = ALONE, "rows that are very long next to others"
    elif modes:
        first, second, what = "ic" if on_cores else "chebyshev:3", f"parts:{WITH_MODES}", "a near null space"
    elif not on_cores:
        # A GPU makes thousands of iterations of Jacobi in the time in which parts grow.
        (first, second), what = ALONE, "a device whose iterations take less than the setup of a second level"
    elif (share := positive_share(matrix)) >= POSITIVE:
        second, what = "none", f"{percent(share)} positive couplings"
    elif size < FROM:
        second = "none"
    elif (strong := strong_couplings(matrix)) <= LINES:
        second, what = "none", f"{number(strong)} strong couplings a row"
    elif size >= CYCLE_FROM and solver.applies_m_to_r:
        first, second = CYCLE, "none"
    elif length >= below(size, LONG):
        first = "jacobi"
    about = f"{count(size)} unknowns without a grid and {what}"
    return Chosen(first, second, f"levels by default: {first} and deflation {second}, for {about}")


def parts_size(size: int) -> int:
    """Unknowns of a part of a matrix of `size` unknowns, large enough that E is factorized."""
    return max(int(below(size, SIZES)), -(-size // MOST_UNPLACED))


def below(size: int, table: tuple[tuple[float, float], ...]) -> float:
    """The entry of a table for a number of unknowns."""
    return next(value for bound, value in table if size < bound)


def positive_share(matrix: sparse.csr_array) -> float:
    """The share of positive couplings in the sum of all |a_ij|, i != j, in a sample of rows; by their real parts."""
    rows, places = sampled(matrix)
    values = np.real(matrix.data[places])[matrix.indices[places] != rows]
    whole = float(np.abs(values).sum())
    return float(values[values > 0].sum()) / whole if whole > 0 else 0.0


def strong_couplings(matrix: sparse.csr_array) -> float:
    """The mean number of strong couplings of a row, as parts grow along them, in a sample of rows."""
    rows, places = sampled(matrix)
    data = in_real_numbers(matrix.data)
    strongest = strongest_couplings((data, matrix.indices, matrix.indptr))
    values, columns = -data[places], matrix.indices[places]
    strong = (columns != rows) & (values > 0) & (values >= STRONG * strongest[rows] * strongest[columns])
    return float(np.count_nonzero(strong) / np.unique(rows).size)


def _takes_both(solver: Solver, device: Device) -> bool:
    """True if a method runs with any M, and with deflation."""
    try:
        solver.check(device, MethodTraits(element_wise=False, deflated=True))
    except InputError:
        return False
    return True
