"""What a problem is: a registered block that assembles a linear system with everything a view needs to draw it."""

from __future__ import annotations

import dataclasses
import hashlib
from typing import ClassVar

import numpy as np

from workbench.operators import Operator, Size
from workbench.registry import Block, Value

LONGEST_VALUE, LONGEST = 14, 48
"""Characters of one value, and of all in brackets, that a label spells out."""


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
    notes: sentences on what was done to the caller's own system, for the provenance.
    """

    operator: Operator
    b: np.ndarray
    grid: tuple[int, ...] | None = None
    coefficient: np.ndarray | None = None
    coefficient_name: str = ""
    phase: np.ndarray | None = None
    constant_nullspace: bool = False
    random_start: bool = False
    notes: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Problem(Block):
    """Base of all problems."""

    kind: ClassVar[str] = "problem"
    has_grid: ClassVar[bool] = True
    """Its systems have a grid, which some second levels need."""
    has_phases: ClassVar[bool] = False
    """Its systems say the phase of each unknown."""

    @property
    def label(self) -> str:
        """A short name for titles, legends and file names, as in two-layer:256 [contrast=1e-06].

        Name and size, and in brackets the other parameters that differ from their defaults, so that two problems share
        a label only if they are equal. What is too long for that is given as `digest`; a matrix from a file goes by its
        own name.
        """
        named = ", ".join(self._differences())
        if not named:
            return self.spec
        return f"{self.spec} [{named if len(named) <= LONGEST else digest(named)}]"

    def _differences(self, *left_out: str) -> list[str]:
        """What the label says besides name and size, without the parameters that are left out."""
        size = [declared.name for declared in self.parameters()][:1]
        return [f"{name}={_short(value)}" for name, value in self.differing.items() if name not in (*size, *left_out)]

    @property
    def known_size(self) -> Size | None:
        """The size of A as far as the parameters tell it; None where only assembling does."""
        return None

    def assemble(self, seed: int = 0) -> LinearSystem:
        """Build the system. `seed` drives random right-hand sides; geometry seeds are parameters of their own."""
        raise TypeError(f"problem {self.name} does not say how it is assembled")


def digest(text: str) -> str:
    """# and the first 6 hexadecimal digits of a text's SHA-256: the same text has the same one everywhere."""
    return f"#{hashlib.sha256(text.encode()).hexdigest()[:6]}"


def _short(value: Value) -> str:
    text = str(value)
    if isinstance(value, float) and float(f"{value:g}") == value:
        text = f"{value:g}"
    return text if len(text) <= LONGEST_VALUE else digest(text)
