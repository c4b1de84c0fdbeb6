"""Transport by the flow: upwind derivatives of fifth order (HJ-WENO5) of the level set and of velocities.

Loops over the cells of a row are innermost, with nothing but reads, arithmetic and choices in them, and `at` reads
without a test for negative places, so that the compiler takes several cells at once.

Source: Jiang, Peng, "Weighted ENO schemes for Hamilton-Jacobi equations", SIAM J. Sci. Comput. 21 (2000).
"""

from __future__ import annotations

from workbench.compiler.source import helper
from workbench.compiler.words import at, set_at, unrolled
from workbench.extensions.flow.stencils import FAST, store


@helper(*FAST)
def squared(x):  # pragma: no cover
    return x * x


@helper(*FAST)
def upwind(q, i, s, v):  # pragma: no cover
    """v times the upwind derivative, times h."""
    q0, q1, q2, q3 = at(q, i - 3 * s), at(q, i - 2 * s), at(q, i - s), at(q, i)
    q4, q5, q6 = at(q, i + s), at(q, i + 2 * s), at(q, i + 3 * s)
    up = v > 0
    a = q1 - q0 if up else q6 - q5
    b = q2 - q1 if up else q5 - q4
    c = q3 - q2 if up else q4 - q3
    d = q4 - q3 if up else q3 - q2
    e = q5 - q4 if up else q2 - q1
    s0 = 13 / 12 * squared(a - 2 * b + c) + 0.25 * squared(a - 4 * b + 3 * c)
    s1 = 13 / 12 * squared(b - 2 * c + d) + 0.25 * squared(b - d)
    s2 = 13 / 12 * squared(c - 2 * d + e) + 0.25 * squared(3 * c - 4 * d + e)
    small = 1e-6 * max(max(a * a, b * b), max(max(c * c, d * d), e * e)) + 1e-40
    t0, t1, t2 = squared(s0 + small), squared(s1 + small), squared(s2 + small)
    # The weights 0.1/t0, 0.6/t1 and 0.3/t2 over their sum, with one division.
    w0, w1, w2 = 0.1 * t1 * t2, 0.6 * t0 * t2, 0.3 * t0 * t1
    slopes = w0 * (2 * a - 7 * b + 11 * c) + w1 * (-b + 5 * c + 2 * d) + w2 * (2 * c + 5 * d - e)
    return v * slopes / (6 * (w0 + w1 + w2))


@helper(*FAST)
def advect(row, begin, first, end, strides, phi, u, old, a, b, dt_h, most, out):  # pragma: no cover
    """out = a old + b (phi - dt u . grad phi) within -most and most: a stage of a Runge-Kutta method."""
    for i in range(first, end):
        set_at(out, i, a * at(old, i) + b * at(phi, i))
    for d in unrolled(len(strides)):
        s, v = strides[d], u[d]
        for i in range(first, end):
            rate = upwind(phi, i, s, 0.5 * (at(v, i) + at(v, i + s)))
            set_at(out, i, at(out, i) - b * dt_h * rate)
    for i in range(first, end):
        set_at(out, i, min(max(at(out, i), -most), most))


@helper(*FAST)
def advection(row, begin, first, end, strides, u, h, out, largest):  # pragma: no cover
    """out[d] = (u . grad) u_d on the faces; largest = max |u_d|, NaN where one is not finite."""
    for d in unrolled(len(strides)):
        s, q, rate, most, total = strides[d], u[d], out[d], 0.0, 0.0
        # A maximum is found cell by cell, so it has its own loop; it passes over NaN, a sum does not.
        for i in range(first, end):
            most = max(most, abs(at(q, i)))
        for i in range(first, end):
            total += at(q, i)
            set_at(rate, i, upwind(q, i, s, at(q, i)) / h)
        store(largest, d, most + 0.0 * total)
        for e in unrolled(len(strides)):
            t, v = strides[e], u[e]
            if e != d:
                for i in range(first, end):
                    # The velocity e on this face, from the four nearest.
                    w = 0.25 * (at(v, i) + at(v, i + t) + at(v, i - s) + at(v, i - s + t))
                    set_at(rate, i, at(rate, i) + upwind(q, i, t, w) / h)
