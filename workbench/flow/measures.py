"""What is measured of bubbles: the perimeter of the interface, and with it circularity."""

from __future__ import annotations

import math

import numpy as np

from workbench.flow.two_phase_flow import TwoPhaseFlow


def circularity(flow: TwoPhaseFlow) -> float:
    """The perimeter of a circle, or area of a sphere, with the bubbles' volume over that of the interface; with k
    bubbles that of k equal ones. 1 for a circle. NaN without bubbles.

    In 2D the interface is where phi, linear on the edges of a grid of cell centres, is 0; in 3D its area is the
    integral of |grad phi| delta(phi).
    """
    count, grid = flow.components.numbers.size, flow.grid
    if not count:
        return math.nan
    if grid.directions == 2:
        length, area = _contour(grid.inside(flow.phi))
        return 2 * math.sqrt(math.pi * area * count) / length if length and area > 0 else math.nan
    volume = float(flow.share().sum()) * grid.h**3
    area = _area(grid.inside(flow.phi), grid.h)
    return (36 * math.pi * count) ** (1 / 3) * volume ** (2 / 3) / area if area else math.nan


def _contour(phi: np.ndarray) -> tuple[float, float]:
    """Length and enclosed area, in cells: each square of four centres is cut by segments between roots on its edges."""
    a, b, c, d = phi[:-1, :-1], phi[:-1, 1:], phi[1:, 1:], phi[1:, :-1]
    cut = np.flatnonzero(((a < 0) != (b < 0)) | ((b < 0) != (c < 0)) | ((c < 0) != (d < 0)))
    corners = [corner.reshape(-1)[cut] for corner in (a, b, c, d)]
    edges = []
    for k, (x, y) in enumerate(((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))):
        start, end = corners[k], corners[(k + 1) % 4]
        crossed = (start < 0) != (end < 0)
        at = np.divide(start, start - end, out=np.zeros_like(start), where=crossed)
        dx, dy = ((1, 0), (0, 1), (-1, 0), (0, -1))[k]
        edges.append((crossed, x + at * dx, y + at * dy))
    rows, columns = np.divmod(cut, phi.shape[1] - 1)
    length, area = 0.0, 0.0
    crossings = np.sum([crossed for crossed, *_ in edges], axis=0)
    # Squares with two roots have one segment; those with four, saddles, two that go around opposite corners.
    for k in range(4):
        for j in range(k + 1, 4):
            (in_k, x_k, y_k), (in_j, x_j, y_j) = edges[k], edges[j]
            both = in_k & in_j & ((crossings == 2) | ((crossings == 4) & ((k, j) in ((0, 1), (2, 3)))))
            length += float(np.hypot(x_k - x_j, y_k - y_j)[both].sum())
            # The corner after edge k lies to the right of the segment from edge k to edge j.
            left = np.where(corners[(k + 1) % 4] < 0, -0.5, 0.5)
            doubled = (x_k + columns) * (y_j + rows) - (x_j + columns) * (y_k + rows)
            area += float((left * doubled)[both].sum())
    return length, area


def _area(phi: np.ndarray, h: float) -> float:
    slopes = np.gradient(phi, h)
    delta = np.where(np.abs(phi) < 1.5 * h, (1 + np.cos(np.pi * phi / (1.5 * h))) / (3 * h), 0.0)
    return float((np.sqrt(sum(slope**2 for slope in slopes)) * delta).sum()) * h**3
