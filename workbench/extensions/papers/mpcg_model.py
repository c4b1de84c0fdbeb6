"""Chen: times of MPCG on the paper's machines, from its Table 2 and two fitted numbers.

T = it t + 2 it^2 k^2 N^2 / rate for `it` iterations with k boxes. The boxes are solved at the same time, each in
t = `factor` 5 m t_m, where m = N^2/k are its points and t_m is the time of a Jacobi sweep, from Table 2. The second
term is line 10 of Algorithm 1: the new block, N^2 x k, and all old ones, of which there are it/2 on average.

The paper does not print iterations. Those here are of f = 1, boxes with an overlap of one point and exact solves, to
1e-6, as computed by this package: an overlap and a right-hand side that give the shape of Table 3. Rounding moves a
count by one, by three at most for N = 500.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from workbench.extensions.papers.mpcg_sweeps import printed


def printed_seconds(n: int, boxes: str) -> float:
    """An entry of Table 3."""
    table = printed()["table3"]
    return next(seconds for side, seconds in table["rows"] if side == n)[table["boxes"].index(boxes)]


def box_counts(boxes: str) -> int:
    """k of KxL boxes."""
    per_x, per_y = boxes.split("x")
    return int(per_x) * int(per_y)


def _by_boxes(*counts: int) -> dict[str, int]:
    return dict(zip(("2x2", "2x3", "3x3", "3x4", "4x4"), counts, strict=True))


MPCG = {500: _by_boxes(32, 43, 37, 45, 44), 300: _by_boxes(26, 33, 30, 35, 32), 200: _by_boxes(22, 28, 25, 29, 26)}
"""Iterations of `mpcg`, by N and boxes."""
SUM_CG = {500: _by_boxes(45, 61, 50, 65, 56), 300: _by_boxes(35, 44, 39, 44, 44), 200: _by_boxes(30, 38, 33, 40, 35)}
"""Iterations of CG with the sum of the solves in boxes."""
CG = {500: 807, 300: 481, 200: 319}
"""Iterations of CG without a preconditioner."""


@dataclasses.dataclass(frozen=True)
class Fit:
    """The model with its fitted numbers. factor: of the sweeps of Table 2; rate: operations per second of line 10.
    rms: of the relative differences from the print."""

    factor: float
    rate: float
    rms: float

    def solves(self, n: int, boxes: str, iterations: int) -> float:
        """Seconds of the solves in boxes, all of them at the same time."""
        return self.factor * iterations * box_seconds(n, boxes)

    def line10(self, n: int, boxes: str, iterations: int) -> float:
        """Seconds of the products with all old blocks."""
        return line10_operations(n, boxes, iterations) / self.rate

    def seconds(self, n: int, boxes: str, iterations: int) -> float:
        """Seconds of MPCG."""
        return self.solves(n, boxes, iterations) + self.line10(n, boxes, iterations)


def box_seconds(n: int, boxes: str) -> float:
    """Seconds of 5 m Jacobi sweeps on a box of m = N^2/k points on the paper's GPU, between the lines of Table 2."""
    lines = printed()["table2"]["rows"]
    sides, seconds = np.array([line[0] for line in lines]), np.array([line[2] for line in lines])
    points = n * n / box_counts(boxes)
    sweeps = printed()["claims"]["sweeps_per_unknown"]
    return sweeps * points * float(np.interp(points, sides**2, seconds / (sweeps * sides**2)))


def line10_operations(n: int, boxes: str, iterations: int) -> float:
    """Operations of all products with old blocks."""
    return 2 * (iterations * box_counts(boxes) * n) ** 2


@functools.cache
def fitted() -> Fit:
    """The model with the least squared relative differences from the entries of Table 3."""
    terms = _terms()
    found, residuals = _solved(terms)
    return Fit(float(found[0]), float(1 / found[1]), _rms(residuals))


@dataclasses.dataclass(frozen=True)
class FitBySize:
    """The model with a rate of line 10 for each N. rms, most: of the relative differences from the print."""

    rates: dict[int, float]
    rms: float
    most: float


def fitted_by_size() -> FitBySize:
    """The fit of the same numbers, with one more unknown for each further N."""
    terms, sizes = _terms(), np.array([n for n, counts in MPCG.items() for _ in counts])
    parts = [np.where(sizes == n, terms[:, 1], 0) for n in MPCG]
    found, residuals = _solved(np.column_stack([terms[:, 0], *parts]))
    rates = {n: float(1 / share) for n, share in zip(MPCG, found[1:], strict=True)}
    return FitBySize(rates, _rms(residuals), float(np.abs(residuals).max()))


@dataclasses.dataclass(frozen=True)
class FitByBlocks:
    """The model with two rates of line 10: where a new block has at most `limit` MB, and beyond. factor: of the sweeps
    of Table 2; rms, most: of the relative differences from the print."""

    limit: float
    factor: float
    rates: tuple[float, float]
    rms: float
    most: float


LIMITS_MB = (6, 8, 10, 12, 16, 20)
"""Sizes of a new block that are tried as the limit."""


@functools.cache
def fitted_by_blocks() -> FitByBlocks:
    """The fit with the limit of `LIMITS_MB` that leaves the least rms."""
    terms = _terms()
    megabytes = np.array([8e-6 * box_counts(boxes) * n * n for n, counts in MPCG.items() for boxes in counts])

    def fit(limit: float) -> FitByBlocks:
        parts = [np.where(inside, terms[:, 1], 0) for inside in (megabytes <= limit, megabytes > limit)]
        found, residuals = _solved(np.column_stack([terms[:, 0], *parts]))
        rates = (float(1 / found[1]), float(1 / found[2]))
        return FitByBlocks(limit, float(found[0]), rates, _rms(residuals), float(np.abs(residuals).max()))

    return min(map(fit, LIMITS_MB), key=lambda each: each.rms)


def _rms(residuals: np.ndarray) -> float:
    return float(np.sqrt(np.mean(residuals**2)))


def _terms() -> np.ndarray:
    """Seconds in boxes for a factor of 1 and operations of line 10 of each entry of Table 3, over its printed seconds;
    shape (15, 2)."""
    cases = [(n, boxes, counts[boxes], printed_seconds(n, boxes)) for n, counts in MPCG.items() for boxes in counts]
    return np.array(
        [
            [it * box_seconds(n, boxes) / seconds, line10_operations(n, boxes, it) / seconds]
            for n, boxes, it, seconds in cases
        ]
    )


def _solved(terms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers >= 0 whose sum of terms is nearest to 1 in all entries, and the rest there."""
    # Imported here: it takes 14 MB in every kernel that shows a page, and none gets here.
    from scipy.optimize import nnls

    found, _ = nnls(terms, np.ones(len(terms)))
    return found, terms @ found - 1
