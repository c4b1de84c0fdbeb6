"""Poisson problems by finite differences on interior points, as in the paper on multipreconditioned CG."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from workbench.errors import InputError
from workbench.operators import BandStencil, Size
from workbench.problems.base import LinearSystem, Problem
from workbench.problems.formula import Formula
from workbench.problems.memory import LARGEST_SQUARE
from workbench.registry import parameter, register

DIVERGENCE, PRINTED = "divergence", "printed"
TOLERANCE = 1e-12
"""Largest relative difference of coefficients that count as equal."""


@register
@dataclasses.dataclass(frozen=True)
class PoissonFD(Problem):
    """-(a u_x)_x - (b u_y)_y = f on (n - 1)^2 interior points with h = 1/n, times h^2; u = 0 on the boundary; x0 = 0.

    a and b are taken half-way between points; with a = b = 1 the diagonal is 4 and couplings are -1. Unknown
    x + (n - 1) y.

    form=printed: the paper's operator -a u_xx - b u_yy, with a and b at the points. It is symmetric where a depends on
    y alone and b on x alone. Where a/b is a function of y over one of x, rows are scaled to make it so, f with them;
    otherwise it is refused.

    Cost: 6 arrays of N words. Raises InputError for a mistake in a formula, for coefficients that are not positive and
    finite, and for a printed form that cannot be made symmetric.

    Source: Chen 2022, section 1.1, eqs. (1) to (3), for the printed form.
    """

    name: ClassVar[str] = "poisson-fd"
    title: ClassVar[str] = "Poisson, finite differences on interior points (2D)"
    has_grid: ClassVar[bool] = True

    n: int = parameter(200, "intervals per side; n - 1 interior points", low=2, high=LARGEST_SQUARE)
    a: str = parameter("1", "coefficient of d/dx, a formula of x and y")
    b: str = parameter("1", "coefficient of d/dy, a formula of x and y")
    f: str = parameter("1", "right-hand side, a formula of x and y")
    form: str = parameter(DIVERGENCE, "of the operator", choices=(DIVERGENCE, PRINTED))

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in "abf":
            self._formula(name)

    @property
    def known_size(self) -> Size:
        return Size.of_stencil((self.n - 1,) * 2)

    @property
    def assembly_bytes(self) -> int:
        return 8 * 8 * (self.n - 1) ** 2

    def assemble(self, seed: int = 0) -> LinearSystem:
        self.check_memory()
        side = self.n - 1
        points = np.arange(1, self.n) / self.n
        right = self._values("f", points, points, positive=False) / self.n**2
        if self.form == DIVERGENCE:
            half = (np.arange(self.n) + 0.5) / self.n
            a, b = self._values("a", half, points), self._values("b", points, half)
            main = a[:, :-1] + a[:, 1:] + b[:-1] + b[1:]
            west, south = -a[:, :-1], -b[:-1]
            scale, notes = np.ones_like(right), ()
        else:
            a, b = self._values("a", points, points), self._values("b", points, points)
            scale = self._row_scale(a, b)
            notes = () if (scale == 1).all() else ("rows were scaled, which makes the printed operator symmetric",)
            main, west, south = 2 * scale * (a + b), -scale * a, -scale * b
        west[:, 0] = south[0] = 0
        operator = BandStencil((side, side), main.ravel(), (west.ravel(), south.ravel()))
        return LinearSystem(operator, (scale * right).ravel(), grid=(side, side), notes=notes)

    def _formula(self, name: str) -> Formula:
        try:
            return Formula.parse(getattr(self, name), ("x", "y"))
        except InputError as error:
            raise InputError(f"{self.name}: in {name}, {error}") from None

    def _values(self, name: str, x: np.ndarray, y: np.ndarray, *, positive: bool = True) -> np.ndarray:
        """A formula on the points x by y, shape (y.size, x.size)."""
        found = self._formula(name)(x=x.reshape(1, -1), y=y.reshape(-1, 1))
        values = np.array(np.broadcast_to(found, (y.size, x.size)), float)
        valid = np.isfinite(values) & ((values > 0) | (not positive))
        if not valid.all():
            row, column = np.unravel_index(int(np.flatnonzero(~valid)[0]), values.shape)
            want = "positive and finite" if positive else "finite"
            raise InputError(
                f"{self.name}: {name} must be {want}, but {name} = {values[row, column]:.4g} at x = {x[column]:.4g}, "
                f"y = {y[row]:.4g}; change the formula there"
            )
        return values

    def _row_scale(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """s with s a = g(y) and s b = k(x), which rows are multiplied by for symmetry; shape of a."""
        if (a == a[:, :1]).all() and (b == b[:1]).all():
            return np.ones_like(a)
        ratio = a / b
        rows, columns = ratio[:, :1] / ratio[:1, :1], ratio[:1]
        if not np.allclose(ratio, rows * columns, rtol=TOLERANCE, atol=0):
            raise InputError(
                f"{self.name}: the printed operator is not symmetric for a = {self.a}, b = {self.b}, and no scaling of "
                "rows makes it so; take form=divergence, or a of y alone and b of x alone"
            )
        # g(y) = s a and k(x) = s b with a/b = g/k.
        return rows / a
