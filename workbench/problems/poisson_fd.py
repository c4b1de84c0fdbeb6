"""Poisson problems by finite differences on interior points, as in the paper on multipreconditioned CG."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.operators import BandStencil, Size, UnsymmetricMatrix
from workbench.problems.base import LARGEST_SQUARE, LinearSystem, Problem
from workbench.problems.formula import Formula
from workbench.registry import parameter, register

DIVERGENCE, PRINTED, UNSYMMETRIC = "divergence", "printed", "unsymmetric"
NOT_SYMMETRIC = (
    "A is not symmetric, as the methods here need it: x is whatever came of them, and ||b - A x|| says how good that is"
)
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

    form=unsymmetric: the paper's operator as it is, rows not scaled, whether or not it is symmetric. Methods here are
    for symmetric matrices, so a run shows what comes of one that is not, and its true residual how good that is.
    Without convergence mpcg fills its memory of directions: give it few iterations.

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
    form: str = parameter(DIVERGENCE, "of the operator", choices=(DIVERGENCE, PRINTED, UNSYMMETRIC))

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in "abf":
            self._formula(name)

    @property
    def known_size(self) -> Size:
        side = self.n - 1
        return Size.of_rows(side**2, 5 * side**2 - 4 * side) if self.is_unsymmetric else Size.of_stencil((side, side))

    @property
    def grid(self) -> tuple[int, ...]:
        return (self.n - 1,) * 2

    @property
    def is_unsymmetric(self) -> bool:
        return self.form == UNSYMMETRIC

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
            scale = np.ones_like(a) if self.is_unsymmetric else self._row_scale(a, b)
            notes = () if (scale == 1).all() else ("rows were scaled, which makes the printed operator symmetric",)
            main, west, south = 2 * scale * (a + b), -scale * a, -scale * b
        if self.is_unsymmetric:
            return LinearSystem(_rows(a, b), right.ravel(), grid=(side, side), notes=(NOT_SYMMETRIC,))
        west[:, 0] = south[0] = 0
        operator = BandStencil((side, side), main.ravel(), (west.ravel(), south.ravel()))
        return LinearSystem(operator, (scale * right).ravel(), grid=(side, side), notes=notes)

    def _formula(self, name: str) -> Formula:
        try:
            return Formula.parse(self.parameter_values[name], ("x", "y"))
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
                "rows makes it so; take form=divergence, a of y alone and b of x alone, or form=unsymmetric to see "
                "what comes of it"
            )
        # g(y) = s a and k(x) = s b with a/b = g/k.
        return rows / a


def _rows(a: np.ndarray, b: np.ndarray) -> UnsymmetricMatrix:
    """-a u_xx - b u_yy times h^2, each row with the coefficients of its own point; shape of a and b (side, side)."""
    side = a.shape[0]
    numbers = np.arange(side**2).reshape(a.shape)
    parts = [(numbers, numbers, 2 * (a + b))]
    for here, there in ((np.s_[:, 1:], np.s_[:, :-1]), (np.s_[:, :-1], np.s_[:, 1:])):
        parts.append((numbers[here], numbers[there], -a[here]))
        parts.append((numbers.T[here], numbers.T[there], -b.T[here]))
    row, column, value = (np.concatenate([each.ravel() for each in of_one]) for of_one in zip(*parts, strict=True))
    return UnsymmetricMatrix(sparse.csr_array((value, (row, column)), shape=(side**2, side**2)))
