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
        length, area = _length_and_area(grid.inside(flow.phi))
        return 2 * math.sqrt(math.pi * area * count) / length if length and area > 0 else math.nan
    volume = float(flow.share().sum()) * grid.h**3
    area = _area(grid.inside(flow.phi), grid.h)
    return (36 * math.pi * count) ** (1 / 3) * volume ** (2 / 3) / area if area else math.nan


def contour(phi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The line phi = 0 as segments x0, y0, x1, y1 in cells from the centre of the first one, shape (k, 4), and twice
    the area between each and the origin, shape (k,), of which the sum is that of the inside. phi: shape (ny, nx).

    Each square of four centres is cut between roots on its edges.
    """
    a, b, c, d = phi[:-1, :-1], phi[:-1, 1:], phi[1:, 1:], phi[1:, :-1]
    cut = np.flatnonzero(((a < 0) != (b < 0)) | ((b < 0) != (c < 0)) | ((c < 0) != (d < 0)))
    corners = [corner.reshape(-1)[cut] for corner in (a, b, c, d)]
    rows, columns = np.divmod(cut, phi.shape[1] - 1)
    edges = []
    for k, (x, y) in enumerate(((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))):
        start, end = corners[k], corners[(k + 1) % 4]
        crossed = (start < 0) != (end < 0)
        at = np.divide(start, start - end, out=np.zeros_like(start), where=crossed)
        dx, dy = ((1, 0), (0, 1), (-1, 0), (0, -1))[k]
        edges.append((crossed, columns + x + at * dx, rows + y + at * dy))
    crossings = np.sum([crossed for crossed, *_ in edges], axis=0)
    found, areas = [], []
    # Squares with two roots have one segment; those with four, saddles, two that go around opposite corners.
    for k in range(4):
        for j in range(k + 1, 4):
            (in_k, x_k, y_k), (in_j, x_j, y_j) = edges[k], edges[j]
            both = in_k & in_j & ((crossings == 2) | ((crossings == 4) & ((k, j) in ((0, 1), (2, 3)))))
            segment = np.stack([x_k, y_k, x_j, y_j], axis=1)[both]
            # The corner after edge k lies to the right of the segment from edge k to edge j.
            left = np.where(corners[(k + 1) % 4][both] < 0, -1.0, 1.0)
            found.append(segment)
            areas.append(left * (segment[:, 0] * segment[:, 3] - segment[:, 2] * segment[:, 1]))
    return np.concatenate(found), np.concatenate(areas)


def _length_and_area(phi: np.ndarray) -> tuple[float, float]:
    """Of the interface, and within it, in cells."""
    segments, doubled = contour(phi)
    length = np.hypot(segments[:, 2] - segments[:, 0], segments[:, 3] - segments[:, 1])
    return float(length.sum()), 0.5 * float(doubled.sum())


def _area(phi: np.ndarray, h: float) -> float:
    slopes = np.gradient(phi, h)
    delta = np.where(np.abs(phi) < 1.5 * h, (1 + np.cos(np.pi * phi / (1.5 * h))) / (3 * h), 0.0)
    return float((np.sqrt(sum(slope**2 for slope in slopes)) * delta).sum()) * h**3
