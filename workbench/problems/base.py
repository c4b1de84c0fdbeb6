"""Base class of problems, and the linear systems that they assemble; checks that one fits into memory come before."""

from __future__ import annotations

import copy
import dataclasses
import functools
import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from workbench.arrays.validation import Drawn
from workbench.devices.host.slab import Slab
from workbench.errors import InputError, quoted
from workbench.files.columns import VectorFile
from workbench.operators import Operator, Size
from workbench.process import limits
from workbench.registry import Block
from workbench.words.names import called, details, problem_name, problem_parts

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector


LARGEST_SQUARE, LARGEST_CUBE = 46340, 1290
"""Cells per side of the largest 2D and 3D grids with 32-bit cell numbers."""


SMALL = 16 << 20
"""Bytes that are not asked for: the answer, from files of the system, takes longer than a small assembly."""


def check_memory(needed: int, what: str, hint: str) -> None:
    """Raise InputError if `needed` bytes exceed the available memory."""
    if needed <= SMALL:
        return
    available = limits.memory()[1]
    if needed > available:
        raise InputError(
            f"{what} needs about {needed / 2**30:.3g} GiB of memory, {available / 2**30:.3g} GiB are free; {hint}"
        )


WORD = 8
"""Bytes of a double-precision number."""
TWO_PHASES = 18
"""Bytes per cell while a system of two phases is assembled: the phase and the code of its faces, one byte each, b, and
b before its mean is removed."""


@dataclasses.dataclass(frozen=True, eq=False)
class LinearSystem:
    """A linear system A x = b with data on its origin.

    operator: A, N x N.
    given_b: the problem's default right-hand side, shape (N,); consistent if A is singular. It need not be in host
        memory, and may be random numbers that have not been made.
    grid: cells per side, (ny, nx) or (nz, ny, nx); None for a matrix from a file.
    coefficients: 1/rho per cell, or that of the problem's formulas, shape (N,), or its values in phase 0 and in the
        others; None without a coefficient.
    coefficient_name: label in figures; empty for 1/rho.
    phase: 0 for the surrounding phase, 1, 2, ... for bubbles or slabs, integer, shape (N,), in host memory, or of an
        update on an accelerator a `PlacedPhase`; None without phases.
    null_space: vectors that A maps to zero, shape (N,) or (N, k), to which x is made orthogonal; None if that is to be
        tested with the constants.
    near_null: vectors that A maps to little, shape (N, m), such as the rigid-body modes of an elastic body, from which
        deflation parts, the K-cycle and algebraic multigrid make their coarse vectors; None for the constants.
    random_start: the default initial guess is uniform random in [0, 1) by seed; otherwise zero.
    notes: sentences on changes made to a user's system, for the provenance.
    given_rhs_name: name of the file of a right-hand side that comes with a matrix, empty without one; see
        `Problem.given_rhs`.
    slab: the rows that a rank has, None for all; N is then their number, and grid that of the whole system.
    order: the row of A, as it was given, of each unknown, shape (N,); None where they have their order.

    Arrays are kept, not copied: leave them as they are while a run uses the system. Raises InputError for a grid of
    another number of cells than A has rows, and for arrays of another shape or phases that are no integers from 0.

    Examples:
        >>> from workbench.run import configure
        >>> system = configure("bubbles-2d", n=32).problem.assemble()
        >>> system.operator.shape, system.grid, system.b.shape
        ((1024, 1024), (32, 32), (1024,))
    """

    operator: Operator
    given_b: np.ndarray | Drawn | Any
    grid: tuple[int, ...] | None = None
    coefficients: np.ndarray | tuple[float, float] | None = None
    coefficient_name: str = ""
    phase: np.ndarray | None = None
    null_space: np.ndarray | None = None
    random_start: bool = False
    notes: tuple[str, ...] = ()
    given_rhs_name: str = ""
    slab: Slab | None = None
    near_null: np.ndarray | None = None
    order: np.ndarray | None = None

    def __post_init__(self) -> None:
        if not self.slab:
            self._check_shapes()
        # Phases are numbered from 0, and those of the geometries have types without a sign.
        if self.phase is not None and self.phase.dtype.kind == "i" and self.phase.min(initial=0) < 0:
            raise InputError(f"phases are numbered from 0, got {self.phase.min()}; renumber them")

    def _check_shapes(self) -> None:
        size = self.operator.shape[0]
        if self.grid is not None and math.prod(self.grid) != size:
            raise InputError(
                f"the grid {self.grid} has {math.prod(self.grid)} cells, but the matrix has {size} rows; give its "
                "cells per side, or leave grid out"
            )
        if not hasattr(self.given_b, "shape"):
            raise InputError(f"b must be an array of shape ({size},) or ({size}, s), got {quoted(self.given_b)}")
        arrays: dict[str, Any] = {"coefficients": self.coefficients, "phase": self.phase}
        if isinstance(self.coefficients, tuple):
            del arrays["coefficients"]
            if len(self.coefficients) != 2 or self.phase is None:
                raise InputError("a pair of coefficients is that of two phases; give phase too, or an array")
        for name, values in arrays.items():
            if values is not None and getattr(values, "shape", None) != (size,):
                raise InputError(
                    f"{name} has shape {np.shape(values)}, but the matrix has {size} rows; pass an array of shape "
                    f"({size},)"
                )
        if self.null_space is not None and np.shape(self.null_space)[:1] != (size,):
            raise InputError(
                f"null_space has shape {np.shape(self.null_space)}, but the matrix has {size} rows; pass shape "
                f"({size}, k) for k vectors"
            )
        near = self.near_null
        if near is not None and not (isinstance(near, np.ndarray) and near.ndim == 2 and near.shape[0] == size):
            raise InputError(
                f"near_null has shape {np.shape(near)}, but the matrix has {size} rows; pass an array of shape "
                f"({size}, m) for m vectors"
            )
        if self.phase is not None and (self.phase.dtype.kind not in "iub" or np.ma.isMaskedArray(self.phase)):
            raise InputError(f"phases are integers from 0, or bool, got {self.phase.dtype}; renumber them")

    @functools.cached_property
    def b(self) -> DeviceVector:
        """The default right-hand side. Random numbers are made when it is first asked for, read-only."""
        return self.given_b.array() if isinstance(self.given_b, Drawn) else self.given_b

    def with_operator(self, operator: Operator) -> LinearSystem:
        """The system with another A."""
        return self.with_parts(operator=operator)

    def with_parts(self, **parts: object) -> LinearSystem:
        """A copy with some attributes replaced, which are not checked: a pass over the phases is saved."""
        made = copy.copy(self)
        vars(made).update(parts)
        if "given_b" in parts:
            # b of the earlier system, where it has been asked for.
            vars(made).pop("b", None)
        return made

    @property
    def unknowns(self) -> int:
        """The unknowns of the whole system, those of other ranks included."""
        return self.slab.whole if self.slab else self.operator.shape[0]

    @property
    def coefficient(self) -> np.ndarray | None:
        """The coefficient of each cell, shape (N,); None without one."""
        if not isinstance(self.coefficients, tuple):
            return self.coefficients
        assert self.phase is not None
        outside, inside = self.coefficients
        return np.where(np.asarray(self.phase) > 0, inside, outside)


@dataclasses.dataclass(frozen=True)
class Problem(Block):
    """Base class of all problems.

    Examples:
        >>> from workbench.registry import find
        >>> problem = find("problem", "two-layer:16")
        >>> problem.grid, problem.assemble().operator.nnz
        ((16, 16), 1216)
    """

    kind: ClassVar[str] = "problem"
    has_grid: ClassVar[bool] = True
    """True if its systems have a grid, which some deflation spaces need."""
    has_phases: ClassVar[bool] = False
    """True if its systems have the phase of each unknown."""

    @property
    def label(self) -> str:
        """The name for titles and legends, as in Two layers, 256², density ratio 10⁻⁶: only equal problems share it."""
        return problem_name(problem_parts(self))

    @property
    def words(self) -> str:
        """Its name in words, without its size."""
        return called(self)

    @property
    def details(self) -> list[str]:
        """The other parameters that differ from their defaults, in words."""
        return details(self)

    def coordinates(self) -> np.ndarray | None:
        """The places of the unknowns of a problem without a grid, shape (N, 2) or (N, 3); None where they are unknown.
        Raises InputError for a damaged file of them."""
        return None

    constant_b: ClassVar[bool] = False
    """True if b is one number, which takes no memory until it is placed on a device."""

    @property
    def interface(self) -> float:
        """The areas of the interfaces between phases, projected along each side of the unit cube or square and summed:
        over the area of a face of a box, the boxes that they split. 0 without phases."""
        return 0.0

    @property
    def is_closed(self) -> bool:
        """True if all sides are Neumann, so that A maps constants to zero."""
        return False

    @property
    def is_complex_symmetric(self) -> bool:
        """True if A is complex symmetric, as far as is known before assembly."""
        return False

    @property
    def is_unsymmetric(self) -> bool:
        """True if A is assembled as a matrix that need not be symmetric."""
        return False

    @property
    def known_size(self) -> Size | None:
        """The size of A as determined by the parameters; None if it is known only after assembly."""
        return None

    @property
    def grid(self) -> tuple[int, ...] | None:
        """Cells per side, (ny, nx) or (nz, ny, nx), as determined by the parameters; None without a grid, and where it
        is known only after assembly."""
        return self.known_size.grid if self.known_size else None

    @property
    def per_side(self) -> int | None:
        """The parameter n, which is the number of cells or unknowns per side; None for a problem without one."""
        return self.parameter_values.get("n")

    @property
    def unknowns_of_rows(self) -> int:
        """The unknowns of a problem without a grid, which ranks share by rows. Raises InputError as `assemble`."""
        size = self.known_size
        if size is None:
            raise InputError(f"problem {self.name} has neither a grid nor a known size to share; run without ranks")
        return size.unknowns

    @property
    def has_stencil(self) -> bool:
        """True if A is a nearest-neighbour stencil on a grid, as far as is known before assembly."""
        return self.has_grid and (self.known_size is None or self.known_size.grid is not None)

    def check(self) -> None:
        """Raise InputError for parameters that describe no system, as `assemble` does. Cost: milliseconds."""

    @property
    def hint(self) -> str:
        """Advice where memory does not suffice."""
        return "use a smaller n"

    @property
    def assembly_bytes(self) -> int:
        """Bytes of the host while the system is assembled; 0 where they are not known."""
        size = self.known_size
        if size is None:
            return 0
        if size.two_phases:
            return TWO_PHASES * size.unknowns
        # Bands, diagonal, coefficient, right-hand side, phases and one temporary; or the rows of a matrix, and b.
        return WORD * (len(size.grid) + 5) * size.unknowns if size.grid else size.nbytes + WORD * size.unknowns

    def check_memory(self) -> None:
        """Raise InputError where memory does not suffice to assemble the system."""
        needed, available = self.assembly_bytes, limits.memory()[1]
        if needed <= available:
            return
        fitting = {}
        if self.grid:
            smaller = min(self.grid) * (available / needed / 2) ** (1 / len(self.grid))
            fitting = {"problem.n": max(8, int(smaller) // 8 * 8)}
        raise InputError(
            f"{self.label} needs about {needed / 2**30:.3g} GiB of memory, {available / 2**30:.3g} GiB are free; "
            f"{self.hint}",
            changes=fitting,
        )

    def assemble(self, seed: int = 0) -> LinearSystem:
        """Assemble the system. `seed` is for random right-hand sides; geometry seeds are separate parameters."""
        raise TypeError(f"problem {self.name} does not implement assemble")

    def rows(self, slab: Slab, seed: int = 0) -> LinearSystem:
        """The rows of a slab of the same system, where a problem runs `on_ranks`, with the same entries.

        Nothing of the size of the grid is made. The mean of b, where it is subtracted, is left to the setup, which
        knows all ranks.
        """
        raise InputError(
            f"problem {self.name} is not assembled by rows, so it does not run on ranks; run without ranks"
        )

    @property
    def at_hand(self) -> bool:
        """True if its files are on this machine, so that reading them downloads nothing."""
        return True

    def given_rhs(self) -> VectorFile:
        """The right-hand side that comes with a matrix from a file. Raises InputError where none does."""
        raise InputError(
            f"rhs given is the NAME_b.mtx of a matrix from a file, and problem {self.name} has its own; choose problem",
            changes={"rhs": "problem"},
        )

    def assemble_complex_symmetric(self, seed: int = 0) -> LinearSystem:
        """The system for a method that needs A = A^T; by default that of `assemble`, whose matrix is real."""
        return self.assemble(seed)
