"""Poisson problems whose coefficients and right-hand side are formulas, in a square and in a cube."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from workbench.blocks import parameter, register
from workbench.errors import InputError
from workbench.problems.base import LinearSystem, Problem
from workbench.problems.diffusion import assemble_diffusion, without_mean
from workbench.problems.formula import Formula
from workbench.problems.memory import check_memory
from workbench.problems.sides import SIDES_HELP, is_closed, parse_sides

AXES = "xyz"
CELLS_AT_ONCE = 1 << 18
"""Formulas are evaluated on so many cells at a time, so that what they compute on the way stays in the cache."""
COEFFICIENT_HELP = "coefficient of d/dx, a formula of {} such as where(x < 0.5, 1, 1000)"
OTHER_HELP = "coefficient of d/d{}, a formula; empty for the same as a"
RIGHT_HELP = "right-hand side, a formula of {}"


class PoissonFormulas(Problem):
    """What both dimensions share; see `PoissonFormulas2D` and `PoissonFormulas3D`, which declare the parameters."""

    dimensions: ClassVar[int]
    n: int
    a: str
    f: str
    sides: str

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_sides(self.sides, self.dimensions)
        for name in ("a", *self.others, "f"):
            self.formula(name)

    @property
    def others(self) -> tuple[str, ...]:
        """The coefficients of y and z, which are as that of x where they are left empty."""
        return ("b", "c")[: self.dimensions - 1]

    def formula(self, name: str) -> Formula:
        """The formula of a coefficient, or of "f". Raises InputError that names it and the column of a mistake."""
        text = getattr(self, name)
        if name in self.others and not text.strip():
            text = self.a
        try:
            return Formula.parse(text, tuple(AXES[: self.dimensions]))
        except InputError as error:
            raise InputError(f"{self.name}: in {name}, {error}") from None

    def coefficients(self) -> dict[str, np.ndarray]:
        """The coefficient of each axis by name, shape (n, n) or (n, n, n); those of equal formulas are one array.

        Raises InputError with the place where one is not positive and finite.
        """
        found: dict[str, np.ndarray] = {}
        made: dict[Formula, np.ndarray] = {}
        for name in ("a", *self.others):
            formula = self.formula(name)
            if formula not in made:
                made[formula] = self.on_cells(formula)
                self._check(name, made[formula])
            found[name] = made[formula]
        return found

    def on_cells(self, formula: Formula) -> np.ndarray:
        """A formula at the centres of all cells, shape (n, n) or (n, n, n). Cost: one array of N words."""
        n, dimensions = self.n, self.dimensions
        centres = (np.arange(n) + 0.5) / n
        values = np.empty((n,) * dimensions)
        rows = max(1, CELLS_AT_ONCE // n ** (dimensions - 1))
        for first in range(0, n, rows):
            axes = {}
            for k in range(dimensions):
                own = centres[first : first + rows] if k == dimensions - 1 else centres
                axes[AXES[k]] = own.reshape(-1, *(1,) * k)
            values[first : first + rows] = formula(**axes)
        return values

    def assemble(self, seed: int = 0) -> LinearSystem:
        n, size = self.n, self.n**self.dimensions
        check_memory(8 * (2 * self.dimensions + 3) * size, f"a grid of {size} cells", "use a smaller n")
        coefficients = list(self.coefficients().values())
        right = self.on_cells(self.formula("f"))
        if not np.isfinite(right).all():
            raise InputError(f"{self.name}: f must be finite, {self._first('f', right, np.isfinite(right))}")
        closed = is_closed(self.sides, self.dimensions)
        b = right.reshape(-1)
        return LinearSystem(
            assemble_diffusion(coefficients, self.sides, scale=float(n) ** 2),
            without_mean(b) if closed else b,
            grid=right.shape,
            coefficient=coefficients[0].reshape(-1),
            constant_nullspace=closed,
        )

    def _check(self, name: str, values: np.ndarray) -> None:
        good = np.isfinite(values) & (values > 0)
        if not good.all():
            raise InputError(
                f"{self.name}: {name} must be positive and finite, {self._first(name, values, good)}; "
                "change the formula there, say with max(1e-3, ...)"
            )

    def _first(self, name: str, values: np.ndarray, good: np.ndarray) -> str:
        """In words the value and the place of the first cell that is not good."""
        cell = np.unravel_index(int(np.flatnonzero(~good)[0]), values.shape)
        place = ", ".join(f"{axis} = {(at + 0.5) / self.n:.4g}" for axis, at in zip(AXES, cell[::-1], strict=False))
        return f"but {name} = {values[cell]:.4g} at {place}"


@register
@dataclasses.dataclass(frozen=True)
class PoissonFormulas2D(PoissonFormulas):
    """-d/dx(a du/dx) - d/dy(b du/dy) = f in the unit square, with a, b and f formulas of x and y; x0 = 0.

    N = n x n cells with u at their centres, finite volumes with harmonic means at the faces, scaled by 1/h^2, so u is
    approximated to order h^2 where a and b are smooth. u = 0 on Dirichlet sides, which lie on the cells' faces, no flux
    through Neumann sides; where all are Neumann, A is singular and b loses its mean. The coefficient shown is a. Cost:
    about 7 arrays of N words. Raises InputError with the column of a mistake in a formula, with the place where a or b
    is not positive, and where memory does not suffice.
    Source: as `assemble_diffusion`, with a coefficient for each axis.
    """

    name: ClassVar[str] = "poisson-2d"
    title: ClassVar[str] = "Poisson from formulas in a square (2D)"
    dimensions: ClassVar[int] = 2

    n: int = parameter(128, "cells per side", low=2, high=8192)
    a: str = parameter("1", COEFFICIENT_HELP.format("x and y"))
    b: str = parameter("", OTHER_HELP.format("y"))
    f: str = parameter("1", RIGHT_HELP.format("x and y"))
    sides: str = parameter("dirichlet", SIDES_HELP)


@register
@dataclasses.dataclass(frozen=True)
class PoissonFormulas3D(PoissonFormulas):
    """-d/dx(a du/dx) - d/dy(b du/dy) - d/dz(c du/dz) = f in the unit cube, all formulas of x, y and z; x0 = 0.

    N = n x n x n cells with u at their centres, finite volumes with harmonic means at the faces, scaled by 1/h^2. u = 0
    on Dirichlet sides, which lie on the cells' faces, no flux through Neumann sides; where all are Neumann, A is
    singular and b loses its mean. The coefficient shown is a. Cost: about 9 arrays of N words. Raises InputError with
    the column of a mistake in a formula, with the place where a coefficient is not positive, and where memory does not
    suffice.
    Source: as `assemble_diffusion`, with a coefficient for each axis.
    """

    name: ClassVar[str] = "poisson-3d"
    title: ClassVar[str] = "Poisson from formulas in a cube (3D)"
    dimensions: ClassVar[int] = 3

    n: int = parameter(32, "cells per side", low=2, high=512)
    a: str = parameter("1", COEFFICIENT_HELP.format("x, y and z"))
    b: str = parameter("", OTHER_HELP.format("y"))
    c: str = parameter("", OTHER_HELP.format("z"))
    f: str = parameter("1", RIGHT_HELP.format("x, y and z"))
    sides: str = parameter("dirichlet", SIDES_HELP)
