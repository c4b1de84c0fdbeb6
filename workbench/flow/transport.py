"""Transport by the flow: upwind derivatives of fifth order (HJ-WENO5) of the level set and of velocities.

Source: Jiang, Peng, "Weighted ENO schemes for Hamilton-Jacobi equations", SIAM J. Sci. Comput. 21 (2000).
"""

from __future__ import annotations

from workbench.jit.compiled import kernel, njit
from workbench.jit.work_stealing import shared, threads

FAST = ("arcp", "contract", "nsz", "reassoc")
"""Licences for rounding only: NaN and infinity are kept."""


@njit(nogil=True, fastmath=set(FAST), error_model="numpy")
def upwind(q, i, s, v):  # pragma: no cover
    """v times the upwind derivative, times h. All differences are read, so that the choice is no branch."""
    d0, d1, d2 = q[i - 2 * s] - q[i - 3 * s], q[i - s] - q[i - 2 * s], q[i] - q[i - s]
    d3, d4, d5 = q[i + s] - q[i], q[i + 2 * s] - q[i + s], q[i + 3 * s] - q[i + 2 * s]
    up = v > 0
    a, b, c, d, e = (
        d0 if up else d5,
        d1 if up else d4,
        d2 if up else d3,
        d3 if up else d2,
        d4 if up else d1,
    )
    s0 = 13 / 12 * (a - 2 * b + c) ** 2 + 0.25 * (a - 4 * b + 3 * c) ** 2
    s1 = 13 / 12 * (b - 2 * c + d) ** 2 + 0.25 * (b - d) ** 2
    s2 = 13 / 12 * (c - 2 * d + e) ** 2 + 0.25 * (3 * c - 4 * d + e) ** 2
    small = 1e-6 * max(max(a * a, b * b), max(max(c * c, d * d), e * e)) + 1e-40
    t0, t1, t2 = (s0 + small) ** 2, (s1 + small) ** 2, (s2 + small) ** 2
    # The weights 0.1/t0, 0.6/t1 and 0.3/t2 over their sum, with one division.
    w0, w1, w2 = 0.1 * t1 * t2, 0.6 * t0 * t2, 0.3 * t0 * t1
    slopes = w0 * (2 * a - 7 * b + 11 * c) + w1 * (-b + 5 * c + 2 * d) + w2 * (2 * c + 5 * d - e)
    return v * slopes / (6 * (w0 + w1 + w2))


@kernel(fastmath=set(FAST), error_model="numpy")
def advect(taken, rows, nx, strides, phi, u, old, a, b, dt_h, out):  # pragma: no cover
    """out = a old + b (phi - dt u . grad phi): a stage of a Runge-Kutta method."""
    for thread in threads(taken):
        for row in shared(taken, thread, rows.size):
            for i in range(rows[row], rows[row] + nx):
                rate = 0.0
                for d in range(strides.size):
                    s = strides[d]
                    rate += upwind(phi, i, s, 0.5 * (u[d, i] + u[d, i + s]))
                out[i] = a * old[i] + b * (phi[i] - dt_h * rate)


@kernel(fastmath=set(FAST), error_model="numpy")
def advection(taken, rows, nx, strides, u, h, out, largest):  # pragma: no cover
    """out[d] = (u . grad) u_d on the faces; largest[d, row] = max |u_d| of a row."""
    for thread in threads(taken):
        for row in shared(taken, thread, rows.size):
            for d in range(strides.size):
                sd, q, most = strides[d], u[d], 0.0
                for i in range(rows[row], rows[row] + nx):
                    most = max(most, abs(q[i]))
                    rate = 0.0
                    for e in range(strides.size):
                        s = strides[e]
                        v = q[i] if e == d else 0.25 * (u[e, i] + u[e, i + s] + u[e, i - sd] + u[e, i - sd + s])
                        rate += upwind(q, i, s, v)
                    out[d, i] = rate / h
                largest[d, row] = most
