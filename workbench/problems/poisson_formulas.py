"""Poisson problems with formulas as coefficients and right-hand side, in 2D and 3D."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from workbench.errors import InputError
from workbench.operators import Size
from workbench.operators.null_space import constants
from workbench.problems.base import LARGEST_CUBE, LARGEST_SQUARE, LinearSystem, Problem
from workbench.problems.diffusion import assemble_diffusion, without_mean
from workbench.problems.formula import Formula
from workbench.problems.sides import SIDES_HELP, is_closed, parse_sides
from workbench.registry import parameter, register

AXES = "xyz"
CELLS_AT_ONCE = 1 << 18
"""Formulas are evaluated on blocks of this many cells, so that temporaries stay in cache."""
COEFFICIENT_HELP = "coefficient of d/dx, a formula of {} such as where(x < 0.5, 1, 1000)"
OTHER_HELP = "coefficient of d/d{}, a formula; empty for the same as a"
RIGHT_HELP = "right-hand side, a formula of {}"


class PoissonFormulas(Problem):
    """Common base class of `PoissonFormulas2D` and `PoissonFormulas3D`, which declare the parameters."""

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
        """The parameters for the y and z coefficients; an empty one means that of x."""
        return ("b", "c")[: self.dimensions - 1]

    def formula(self, name: str) -> Formula:
        """The formula of a coefficient, or of "f". Raises InputError with its name and the column of a mistake."""
        text = getattr(self, name)
        if name in self.others and not text.strip():
            text = self.a
        try:
            return Formula.parse(text, tuple(AXES[: self.dimensions]))
        except InputError as error:
            raise InputError(f"{self.name}: in {name}, {error}") from None

    @property
    def distinct(self) -> dict[str, tuple[str, ...]]:
        """Groups of equal coefficients by the first name of each: {"a": ("a", "b")} if both are equal."""
        names: dict[Formula, tuple[str, ...]] = {}
        for name in ("a", *self.others):
            names[self.formula(name)] = (*names.get(self.formula(name), ()), name)
        return {equal[0]: equal for equal in names.values()}

    def values(self, name: str) -> np.ndarray:
        """A coefficient or "f" at the centres of all cells, shape (n, n) or (n, n, n). Cost: one array of N words.

        Raises InputError with the position where a coefficient is not positive and finite, or f is not finite.
        """
        values = self.on_cells(self.formula(name))
        finite = np.isfinite(values)
        if name == "f":
            self._check(name, values, finite, "finite")
        else:
            self._check(name, values, finite & (values > 0), "positive and finite")
        return values

    def on_cells(self, formula: Formula) -> np.ndarray:
        """A formula at the centres of all cells, shape (n, n) or (n, n, n). Cost: one array of N words."""
        n, dimensions = self.n, self.dimensions
        centres = (np.arange(n) + 0.5) / n
        values = np.empty((n,) * dimensions)
        rows = max(1, CELLS_AT_ONCE // n ** (dimensions - 1))
        for first in range(0, n, rows):
            axes = {}
            for k in range(dimensions):
                coordinates = centres[first : first + rows] if k == dimensions - 1 else centres
                axes[AXES[k]] = coordinates.reshape(-1, *(1,) * k)
            values[first : first + rows] = formula(**axes)
        return values

    @property
    def is_closed(self) -> bool:
        return is_closed(self.sides, self.dimensions)

    @property
    def known_size(self) -> Size:
        return Size.of_stencil((self.n,) * self.dimensions)

    @property
    def assembly_bytes(self) -> int:
        return 8 * (2 * self.dimensions + 3) * self.n**self.dimensions

    def assemble(self, seed: int = 0) -> LinearSystem:
        self.check_memory()
        n = self.n
        values = {name: self.values(name) for name in self.distinct}
        per_axis = [
            values[first] for axis in ("a", *self.others) for first, names in self.distinct.items() if axis in names
        ]
        right = self.values("f")
        b = right.reshape(-1)
        return LinearSystem(
            assemble_diffusion(per_axis, self.sides, scale=float(n) ** 2),
            without_mean(b) if self.is_closed else b,
            grid=right.shape,
            coefficients=per_axis[0].reshape(-1),
            coefficient_name="coefficient a",
            null_space=constants(b.size, b.dtype) if self.is_closed else None,
        )

    def _check(self, name: str, values: np.ndarray, valid: np.ndarray, what: str) -> None:
        """Raise InputError with value and position of the first invalid cell, if any."""
        if valid.all():
            return
        cell = np.unravel_index(int(np.flatnonzero(~valid)[0]), values.shape)
        point = ", ".join(f"{axis} = {(at + 0.5) / self.n:.4g}" for axis, at in zip(AXES, cell[::-1], strict=False))
        # max(1e-3, ...) does not help with NaN, since the maximum of a number and NaN is NaN.
        low = name != "f" and values[cell] <= 0
        hint = "try max(1e-3, ...) around it" if low else "change the formula there, as where(x < 0.5, ..., 1) does"
        raise InputError(f"{self.name}: {name} must be {what}, but {name} = {values[cell]:.4g} at {point}; {hint}")


@register
@dataclasses.dataclass(frozen=True)
class PoissonFormulas2D(PoissonFormulas):
    """-d/dx(a du/dx) - d/dy(b du/dy) = f in the unit square, with a, b and f formulas of x and y; x0 = 0.

    N = n x n cells with u at their centres; finite volumes with harmonic means at the faces, scaled by 1/h^2. The error
    is O(h^2) for smooth a and b. u = 0 on Dirichlet sides, which are on cell faces; no flux through Neumann sides. If
    all sides are Neumann, A is singular and the mean of b is subtracted. Figures show the coefficient a.

    Cost: about 7 arrays of N words. Raises InputError for a mistake in a formula, with its column, for a or b that are
    not positive, with the position, and for insufficient memory.
    Source: Patankar 1980, section 4.2, with a coefficient for each axis.
    """

    name: ClassVar[str] = "poisson-2d"
    title: ClassVar[str] = "Poisson from formulas in a square (2D)"
    dimensions: ClassVar[int] = 2

    n: int = parameter(128, "cells per side", low=2, high=LARGEST_SQUARE)
    a: str = parameter("1", COEFFICIENT_HELP.format("x and y"))
    b: str = parameter("", OTHER_HELP.format("y"))
    f: str = parameter("1", RIGHT_HELP.format("x and y"))
    sides: str = parameter("dirichlet", SIDES_HELP)


@register
@dataclasses.dataclass(frozen=True)
class PoissonFormulas3D(PoissonFormulas):
    """-d/dx(a du/dx) - d/dy(b du/dy) - d/dz(c du/dz) = f in the unit cube, all formulas of x, y and z; x0 = 0.

    N = n x n x n cells with u at their centres; finite volumes with harmonic means at the faces, scaled by 1/h^2. u = 0
    on Dirichlet sides, which are on cell faces; no flux through Neumann sides. If all sides are Neumann, A is singular
    and the mean of b is subtracted. Figures show the coefficient a.

    Cost: about 9 arrays of N words. Raises InputError for a mistake in a formula, with its column, for coefficients
    that are not positive, with the position, and for insufficient memory.
    Source: Patankar 1980, section 4.2, with a coefficient for each axis.
    """

    name: ClassVar[str] = "poisson-3d"
    title: ClassVar[str] = "Poisson from formulas in a cube (3D)"
    dimensions: ClassVar[int] = 3

    n: int = parameter(32, "cells per side", low=2, high=LARGEST_CUBE)
    a: str = parameter("1", COEFFICIENT_HELP.format("x, y and z"))
    b: str = parameter("", OTHER_HELP.format("y"))
    c: str = parameter("", OTHER_HELP.format("z"))
    f: str = parameter("1", RIGHT_HELP.format("x, y and z"))
    sides: str = parameter("dirichlet", SIDES_HELP)
