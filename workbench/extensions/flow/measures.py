"""Measures of bubbles: their centre, volume and rise velocity, and the perimeter of the interface."""

from __future__ import annotations

import math

import numpy as np

from workbench.compiler.source import helper
from workbench.compiler.words import at, shared, threads, unrolled
from workbench.extensions.flow.interface_kernels import smoothed_delta
from workbench.extensions.flow.stencils import FAST, store
from workbench.extensions.flow.two_phase_flow import TwoPhaseFlow
from workbench.jit.compiled import kernel
from workbench.jit.threads import launch


def measured(flow: TwoPhaseFlow) -> dict[str, float]:
    """Centre of mass (its height), rise velocity, circularity, volume and number of the bubbles, and by how much phi
    was shifted in all to keep the volumes."""
    grid = flow.grid
    sums = grid.partials(3)
    share = flow.share()
    grid.launch(moments, grid.heights, share, flow.u, sums=sums)
    total, heights, speeds = grid.combined(sums).tolist()
    volume = total * grid.h**grid.directions
    return {
        "centre": heights / total if total else math.nan,
        "rise_velocity": speeds / total if total else math.nan,
        "circularity": circularity(flow, volume),
        "volume": volume,
        "bubbles": flow.components.count,
        "shift": flow.shift,
    }


def circularity(flow: TwoPhaseFlow, volume: float) -> float:
    """The perimeter of a circle, or area of a sphere, with the bubbles' volume over that of the interface; with k
    bubbles that of k equal ones. 1 for a circle. NaN without bubbles.

    In 2D the interface is where phi, linear on the edges of a grid of cell centres, is 0; in 3D its area is the
    integral of |grad phi| delta(phi).
    """
    count, grid = flow.components.count, flow.grid
    if grid.directions == 2:
        segments, doubled = contour(grid.inside(grid.on_host(flow.phi)))
        length = float(np.hypot(segments[:, 2] - segments[:, 0], segments[:, 3] - segments[:, 1]).sum())
        area = 0.5 * float(doubled.sum())
        return 2 * math.sqrt(math.pi * area * count) / length if length and area > 0 else math.nan
    sums = grid.partials()
    grid.launch(areas, flow.phi, grid.h, sums=sums)
    area = float(grid.combined(sums)) * grid.h**3
    return (36 * math.pi * count) ** (1 / 3) * volume ** (2 / 3) / area if area else math.nan


def contour(phi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The line phi = 0 as segments x0, y0, x1, y1 in cells from the centre of the first one, shape (k, 4), and twice
    the area between each and the origin, shape (k,), of which the sum is that of the inside. phi: shape (ny, nx).

    Each square of four centres is cut between roots on its sides.
    """
    phi = np.ascontiguousarray(phi)
    inside = (phi < 0).view(np.uint8)
    corners = inside[:-1, :-1] + inside[:-1, 1:] + inside[1:, 1:] + inside[1:, :-1]
    cut = np.flatnonzero((corners > 0) & (corners < 4))
    segments, areas = np.zeros((cut.size, 2, 4)), np.zeros((cut.size, 2))
    launch(cut.size, _segments, phi.shape[1], phi, cut, segments, areas)
    # Most squares have one segment; the place of another stays 0.
    is_one = segments.any(axis=2)
    return segments[is_one], areas[is_one]


@helper(*FAST)
def moments(row, begin, first, end, strides, heights, share, u, sums):  # pragma: no cover
    """The sums of the part inside, of its height, and of its speed."""
    total, speeds, s, up = 0.0, 0.0, strides[len(strides) - 1], u[len(strides) - 1]
    for i in range(first, end):
        total += at(share, i)
        speeds += 0.5 * at(share, i) * (at(up, i) + at(up, i + s))
    store(sums, 0, total)
    store(sums, 1, total * heights[row])
    store(sums, 2, speeds)


@helper(*FAST)
def areas(row, begin, first, end, strides, phi, h, sums):  # pragma: no cover
    """The sum of |grad phi| delta(phi)."""
    total = 0.0
    for i in range(first, end):
        delta = smoothed_delta(at(phi, i), h)
        if delta > 0:
            squares = 0.0
            for d in unrolled(len(strides)):
                slope = (at(phi, i + strides[d]) - at(phi, i - strides[d])) / (2 * h)
                squares += slope * slope
            total += math.sqrt(squares) * delta
    store(sums, 0, total)


@helper()
def point_on_side(k, t):  # pragma: no cover
    """The point of a unit square at a fraction t of side k; sides are counted, and run through, anticlockwise from the
    lower one."""
    if k == 0:
        return t, 0.0
    if k == 1:
        return 1.0, t
    if k == 2:
        return 1.0 - t, 1.0
    return 0.0, 1.0 - t


@kernel()
def _segments(taken, nx, phi, cut, segments, areas):  # pragma: no cover
    """Up to two segments between roots on the sides of every square, shape (squares, 2, 4), and twice the area between
    each and the origin."""
    for thread in threads(taken):
        for _ in shared(taken, thread, 1):
            for n in range(cut.size):
                y, x = cut[n] // (nx - 1), cut[n] % (nx - 1)
                i, found = y * nx + x, 0
                corners = at(phi, i), at(phi, i + 1), at(phi, i + nx + 1), at(phi, i + nx)
                roots = 0
                for k in range(4):
                    if (corners[k] < 0) != (corners[(k + 1) % 4] < 0):
                        roots += 1
                for k in range(4):
                    for j in range(k + 1, 4):
                        p, q, v, w = corners[k], corners[(k + 1) % 4], corners[j], corners[(j + 1) % 4]
                        # Four roots, a saddle, are two segments that go around opposite corners.
                        is_one = roots == 2 or (j == k + 1 and k != 1)
                        if is_one and (p < 0) != (q < 0) and (v < 0) != (w < 0):
                            x_k, y_k = point_on_side(k, p / (p - q))
                            x_j, y_j = point_on_side(j, v / (v - w))
                            x_k, y_k, x_j, y_j = x_k + x, y_k + y, x_j + x, y_j + y
                            segments[n, found, 0], segments[n, found, 1] = x_k, y_k
                            segments[n, found, 2], segments[n, found, 3] = x_j, y_j
                            # The corner behind side k lies to the right of the segment from there to side j.
                            areas[n, found] = (-1.0 if q < 0 else 1.0) * (x_k * y_j - x_j * y_k)
                            found += 1
