"""Kernels of the level set phi, below 0 in bubbles: distance, curvature, volume.

Sources: Min, "On reinitializing level set functions", J. Comput. Phys. 229 (2010); Scardovelli, Zaleski, "Analytical
relations connecting linear interfaces and volume fractions in rectangular grids", J. Comput. Phys. 164 (2000).
"""

from __future__ import annotations

import math

from workbench.compiler.source import helper
from workbench.compiler.words import at, set_at, unrolled
from workbench.extensions.flow.stencils import FAST


@helper()
def minmod(a, b):  # pragma: no cover
    if a * b <= 0:
        return 0.0
    return a if abs(a) < abs(b) else b


@helper()
def root(a, b, second):  # pragma: no cover
    """The zero of a function of value a at 0, b at 1 and this second difference."""
    linear = a / (a - b)
    at = linear
    if abs(second) > 1e-10 * abs(a - b):
        inner = (0.5 * second - a - b) ** 2 - 4 * a * b
        at = 0.5 + ((a - b) - math.copysign(math.sqrt(max(inner, 0.0)), a - b)) / second
        if not 0 <= at <= 1:
            at = linear
    return min(max(at, 1e-3), 1.0)


@helper(*FAST)
def nearer_distance(phi, start, i, strides, h):  # pragma: no cover
    """phi after a step of phi_tau = -sgn(start) (|grad phi| - 1), with the interface where `start` has it.

    One-sided differences are ENO2, towards the interface those to the root of a quadratic through `start`; the step is
    0.45 times the shortest distance to a neighbour or to the interface.
    """
    f0, f = at(start, i), at(phi, i)
    sign = 1.0 if f0 > 0 else -1.0
    total, tau = 0.0, h
    for d in unrolled(len(strides)):
        here = at(phi, i + strides[d]) - 2 * f + at(phi, i - strides[d])
        here0 = at(start, i + strides[d]) - 2 * f0 + at(start, i - strides[d])
        steepest = 0.0
        for side in range(2):
            s = strides[d] if side else -strides[d]
            bend = minmod(here, at(phi, i + 2 * s) - 2 * at(phi, i + s) + f)
            # The slope away from the cell: it counts where phi falls towards the interface.
            if f0 * at(start, i + s) < 0:
                bend0 = minmod(here0, at(start, i + 2 * s) - 2 * at(start, i + s) + f0)
                t = root(f0, at(start, i + s), bend0) * h
                slope = -f / t - 0.5 * t * bend / (h * h)
                tau = min(tau, t)
            else:
                slope = (at(phi, i + s) - f - 0.5 * bend) / h
            steepest = max(steepest, -sign * slope)
        total += steepest * steepest
    return f - 0.45 * tau * sign * (math.sqrt(total) - 1)


@helper(*FAST)
def redistance(row, begin, first, end, strides, phi, start, h, old, a, b, most, out):  # pragma: no cover
    """out = a old + b (a step towards the distance) within -most and most."""
    for i in range(first, end):
        value = a * at(old, i) + b * nearer_distance(phi, start, i, strides, h)
        set_at(out, i, min(max(value, -most), most))


@helper(*FAST)
def smoothed_delta(f, h):  # pragma: no cover
    """A cosine of |phi| < 1.5 h whose integral is the area of the interface."""
    return (1 + math.cos(math.pi * f / (1.5 * h))) / (3 * h) if abs(f) < 1.5 * h else 0.0


@helper(*FAST)
def part_inside(phi, i, strides):  # pragma: no cover
    """The part of a cell where phi < 0, cut by the plane phi + grad phi . x."""
    x = abs(at(phi, i + strides[0]) - at(phi, i - strides[0]))
    y = abs(at(phi, i + strides[1]) - at(phi, i - strides[1]))
    z = 0.0
    if len(strides) > 2:
        z = abs(at(phi, i + strides[2]) - at(phi, i - strides[2]))
    return below_plane(0.5 * x, 0.5 * y, 0.5 * z, at(phi, i))


@helper(*FAST)
def shares(row, begin, first, end, strides, phi, h, share, delta):  # pragma: no cover
    """The part of each cell that is inside, and the smoothed delta."""
    for i in range(first, end):
        set_at(share, i, part_inside(phi, i, strides))
        set_at(delta, i, smoothed_delta(at(phi, i), h))


@helper()
def below_plane(x, y, z, f):  # pragma: no cover
    """The part of a unit cube where f + (x, y, z) . (position - centre) < 0; x, y, z are not negative."""
    total = x + y + z
    if total <= 2 * abs(f):
        return 1.0 if f < 0 else 0.0
    a = 0.5 - f / total
    flipped = a > 0.5
    if flipped:
        a = 1 - a
    x, y, z = x / total, y / total, z / total
    x, y = min(x, y), max(x, y)
    y, z = min(y, z), max(y, z)
    x, y = min(x, y), max(x, y)
    if x < 1e-9:
        part = 0.5 * a * a / (y * z) if a < y else (a - 0.5 * y) / z
    elif a < x:
        part = a * a * a / (6 * x * y * z)
    elif a < y:
        part = 0.5 * a * (a - x) / (y * z) + x * x / (6 * y * z)
    elif a < min(x + y, z):
        part = (a * a * (3 * (x + y) - a) + x * x * (x - 3 * a) + y * y * (y - 3 * a)) / (6 * x * y * z)
    elif z < x + y:
        cubic = a * a * (3 - 2 * a) + x * x * (x - 3 * a) + y * y * (y - 3 * a) + z * z * (z - 3 * a)
        part = cubic / (6 * x * y * z)
    else:
        part = (a - 0.5 * (x + y)) / z
    return 1 - part if flipped else part


@helper(*FAST)
def shift(row, begin, first, end, strides, phi, owner, shifts, most):  # pragma: no cover
    """phi += the shift of the cell's owner, where |phi| is below `most`."""
    for i in range(first, end):
        f = at(phi, i)
        if abs(f) < most:
            set_at(phi, i, min(max(f + at(shifts, at(owner, i)), -most), most))


@helper()
def grow(row, begin, first, end, strides, owner, grown):  # pragma: no cover
    """A cell without an owner gets that of a neighbour, the largest of several."""
    for i in range(first, end):
        found = at(owner, i)
        if found == 0:
            for d in unrolled(len(strides)):
                found = max(found, max(at(owner, i - strides[d]), at(owner, i + strides[d])))
        set_at(grown, i, found)


@helper(*FAST)
def curvature(phi, i, strides, h):  # pragma: no cover
    """div(grad phi / |grad phi|), at most that of a sphere of one cell."""
    f, squares, bent = at(phi, i), 0.0, 0.0
    for d in unrolled(len(strides)):
        s = strides[d]
        slope = 0.5 * (at(phi, i + s) - at(phi, i - s))
        second = at(phi, i + s) - 2 * f + at(phi, i - s)
        squares += slope * slope
        for e in unrolled(len(strides)):
            if e != d:
                t = strides[e]
                across = 0.5 * (at(phi, i + t) - at(phi, i - t))
                bent += second * across * across
                if e > d:
                    mixed = at(phi, i + s + t) - at(phi, i + s - t) - at(phi, i - s + t) + at(phi, i - s - t)
                    bent -= 0.5 * slope * across * mixed
    squares += 1e-12 * h * h
    most = (len(strides) - 1) / h
    return min(max(bent / (squares * math.sqrt(squares)) / h, -most), most)


@helper(*FAST)
def viscosity(f, h, mu_out, mu_in):  # pragma: no cover
    """The arithmetic mean of both by a smoothed step of half-width 1.5 h."""
    x = min(max(f / (1.5 * h), -1.0), 1.0)
    share = 0.5 * (1 - x - math.sin(math.pi * x) / math.pi)
    return share * mu_in + (1 - share) * mu_out


@helper(*FAST)
def properties(row, begin, first, end, strides, phi, h, mu_out, mu_in, kappa, mu):  # pragma: no cover
    """kappa within |phi| < 3 h, else 0, and mu."""
    for i in range(first, end):
        f = at(phi, i)
        set_at(mu, i, viscosity(f, h, mu_out, mu_in))
        set_at(kappa, i, curvature(phi, i, strides, h) if abs(f) < 3 * h else 0.0)
