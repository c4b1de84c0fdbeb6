"""Chen: iterations of the solves behind Table 3, which the paper does not print.

f = 1, boxes with an overlap of one point and exact solves, to 1e-6, as computed here: an overlap and a right-hand side
that give the shape of Table 3. Rounding moves a count by one, by three at most for N = 500.
"""

from __future__ import annotations


def _by_boxes(*counts: int) -> dict[str, int]:
    return dict(zip(("2x2", "2x3", "3x3", "3x4", "4x4"), counts, strict=True))


MPCG = {500: _by_boxes(32, 43, 37, 45, 44), 300: _by_boxes(26, 33, 30, 35, 32), 200: _by_boxes(22, 28, 25, 29, 26)}
"""Of `mpcg`, by N and boxes."""
SUM_CG = {500: _by_boxes(45, 61, 50, 65, 56), 300: _by_boxes(35, 44, 39, 44, 44), 200: _by_boxes(30, 38, 33, 40, 35)}
"""Of CG with the sum of the solves in boxes."""
CG = {500: 807, 300: 481, 200: 319}
"""Of CG without a preconditioner."""
