"""What a problem is: a registered block that assembles a linear system with everything a view needs to draw it."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from workbench.blocks import Block
from workbench.operators import Operator


@dataclasses.dataclass(frozen=True, eq=False)
class LinearSystem:
    """A x = b with what is known about its origin.

    operator: A, N x N.
    b: the problem's own right-hand side, shape (N,); consistent when A is singular.
    grid: cells per side, (ny, nx) or (nz, ny, nx); None for a matrix from a file.
    coefficient: 1/rho per cell, or that of the problem's formulas, shape (N,); None where there is none.
    coefficient_name: what pictures call it; empty for 1/rho.
    phase: 0 for the surrounding phase, 1.. for each bubble or slab, integer, shape (N,); None where there is none.
    constant_nullspace: A times the constant vector is zero (all-Neumann), so x is defined up to a constant.
    random_start: the problem's own initial guess is uniform random in [0, 1) by seed; otherwise zero.
    """

    operator: Operator
    b: np.ndarray
    grid: tuple[int, ...] | None = None
    coefficient: np.ndarray | None = None
    coefficient_name: str = ""
    phase: np.ndarray | None = None
    constant_nullspace: bool = False
    random_start: bool = False


@dataclasses.dataclass(frozen=True)
class Problem(Block):
    """Base of all problems."""

    kind: ClassVar[str] = "problem"

    @property
    def label(self) -> str:
        """A short name for titles and file names: the spec, or the matrix's own name where it comes from a file."""
        return self.spec

    def assemble(self, seed: int = 0) -> LinearSystem:
        """Build the system. `seed` drives random right-hand sides; geometry seeds are parameters of their own."""
        raise TypeError(f"problem {self.name} does not say how it is assembled")
