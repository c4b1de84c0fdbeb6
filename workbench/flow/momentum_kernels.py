"""Kernels of the velocity on faces: predictor, viscosity, divergence, and the correction by the pressure."""

from __future__ import annotations

from workbench.flow.transport import FAST
from workbench.jit.compiled import kernel, njit
from workbench.jit.work_stealing import shared, threads


@kernel(fastmath=set(FAST), error_model="numpy")
def predict(
    taken, rows, nx, strides, lower, heights, phi, kappa, mu, h, fluid, dt, now, before, new, old, u, c, jump, inverse
):  # pragma: no cover
    """On every face: c = 1/density (0 on walls), the jump of p across it, u -= dt (now new + before old), and the
    inverse of the diagonal of rho/dt - L (0 on walls).

    fluid: 1/rho outside, on cut faces and inside, surface tension, (rho_in - rho_out) times gravity.
    """
    last = strides.size - 1
    for thread in threads(taken):
        for row in shared(taken, thread, rows.size):
            for d in range(strides.size):
                s = strides[d]
                for i in range(rows[row], rows[row] + nx):
                    c[d, i] = 0.0
                    jump[d, i] = 0.0
                    inverse[d, i] = 0.0
                    if lower[d, row] or (d == 0 and i == rows[row]):
                        continue
                    a, b = phi[i], phi[i - s]
                    value = fluid[2] if a < 0 else fluid[0]
                    if (a < 0) != (b < 0):
                        value = fluid[1]
                        t = abs(a) / (abs(a) + abs(b))
                        height = heights[row] - (t * h if d == last else 0.0)
                        size = fluid[3] * ((1 - t) * kappa[i] + t * kappa[i - s]) + fluid[4] * height
                        jump[d, i] = size if a < 0 else -size
                    c[d, i] = value
                    diagonal = 2 * (mu[i] + mu[i - s])
                    for e in range(strides.size):
                        if e != d:
                            t_ = strides[e]
                            diagonal += 0.5 * (mu[i] + mu[i - s])
                            diagonal += 0.25 * (mu[i - t_] + mu[i - s - t_] + mu[i + t_] + mu[i - s + t_])
                    inverse[d, i] = 1 / (1 / (value * dt) + diagonal / (h * h))
                    u[d, i] -= dt * (now * new[d, i] + before * old[d, i])


@njit(nogil=True, fastmath=set(FAST), error_model="numpy")
def stress(u, mu, i, d, strides):  # pragma: no cover
    """h^2 div(mu (grad u + grad u^T))_d on the lower face of cell i."""
    s = strides[d]
    q = u[d]
    value = 2 * mu[i] * (q[i + s] - q[i]) - 2 * mu[i - s] * (q[i] - q[i - s])
    for e in range(strides.size):
        if e != d:
            t = strides[e]
            v = u[e]
            low = 0.25 * (mu[i] + mu[i - s] + mu[i - t] + mu[i - s - t])
            high = 0.25 * (mu[i + t] + mu[i - s + t] + mu[i] + mu[i - s])
            value += high * (q[i + t] - q[i] + v[i + t] - v[i + t - s])
            value -= low * (q[i] - q[i - t] + v[i] - v[i - s])
    return value


@kernel(fastmath=set(FAST), error_model="numpy")
def viscous_force(taken, rows, nx, strides, u, mu, h, inverse, r, z, sums):  # pragma: no cover
    """r = L u, z = r / diagonal, sums[row] = (r, z): the start of the iteration on (rho/dt - L) u = (rho/dt) u*."""
    for thread in threads(taken):
        for row in shared(taken, thread, rows.size):
            total = 0.0
            for d in range(strides.size):
                for i in range(rows[row], rows[row] + nx):
                    value = stress(u, mu, i, d, strides) / (h * h)
                    r[d, i] = value
                    z[d, i] = inverse[d, i] * value
                    total += value * z[d, i]
            sums[row] = total


@kernel(fastmath=set(FAST), error_model="numpy")
def viscous_product(taken, rows, nx, strides, z, mu, h, c, dt, w, sums):  # pragma: no cover
    """w = (rho/dt - L) z, sums[row] = (w, z)."""
    for thread in threads(taken):
        for row in shared(taken, thread, rows.size):
            total = 0.0
            for d in range(strides.size):
                for i in range(rows[row], rows[row] + nx):
                    # On walls, where c is 0, z is 0 too.
                    weight = 1 / (c[d, i] * dt) if c[d, i] > 0 else 0.0
                    w[d, i] = weight * z[d, i] - stress(z, mu, i, d, strides) / (h * h)
                    total += w[d, i] * z[d, i]
            sums[row] = total


@kernel(fastmath=set(FAST), error_model="numpy")
def viscous_update(taken, rows, nx, strides, alpha, beta, inverse, w, p, s, x, r, z, sums):  # pragma: no cover
    """p = z + beta p, s = w + beta s, x += alpha p, r -= alpha s, z = r / diagonal, sums[row] = (r, z)."""
    for thread in threads(taken):
        for row in shared(taken, thread, rows.size):
            total = 0.0
            for d in range(strides.size):
                for i in range(rows[row], rows[row] + nx):
                    p[d, i] = z[d, i] + beta * p[d, i]
                    s[d, i] = w[d, i] + beta * s[d, i]
                    x[d, i] += alpha * p[d, i]
                    r[d, i] -= alpha * s[d, i]
                    z[d, i] = inverse[d, i] * r[d, i]
                    total += r[d, i] * z[d, i]
            sums[row] = total


@kernel(fastmath=set(FAST), error_model="numpy")
def divergence(taken, rows, nx, strides, u, c, jump, dt_h, factor, out):  # pragma: no cover
    """out = factor h div(u + dt/h c jump), of cells without ghosts, shape (N,)."""
    for thread in threads(taken):
        for row in shared(taken, thread, rows.size):
            for at in range(nx):
                i, total = rows[row] + at, 0.0
                for d in range(strides.size):
                    j = i + strides[d]
                    total += u[d, j] - u[d, i] + dt_h * (c[d, j] * jump[d, j] - c[d, i] * jump[d, i])
                out[row * nx + at] = factor * total


@kernel(fastmath=set(FAST), error_model="numpy")
def correct(taken, rows, nx, strides, u, p, c, jump, dt_h):  # pragma: no cover
    """u -= dt/h c (p_i - p_j - jump)."""
    for thread in threads(taken):
        for row in shared(taken, thread, rows.size):
            for d in range(strides.size):
                s = strides[d]
                for i in range(rows[row], rows[row] + nx):
                    u[d, i] -= dt_h * c[d, i] * (p[i] - p[i - s] - jump[d, i])
