"""Kernels of the velocity on faces: predictor, viscosity, divergence, and the correction by the pressure.

Each passes several times over a row, which stays in the processor's nearest cache; see `transport`.
"""

from __future__ import annotations

from workbench.compiler.source import helper
from workbench.compiler.words import at, set_at, unrolled
from workbench.extensions.flow.stencils import FAST, store


@helper(*FAST)
def cut(a, b):  # pragma: no cover
    """The distance from a of the root of a function of values a and b at a distance of 1; 0 to 1 where they differ in
    sign."""
    return abs(a) / (abs(a) + abs(b))


@helper(*FAST)
def energy(z, inverse):  # pragma: no cover
    """z^2 diagonal; 0 on walls, where z and 1/diagonal are 0."""
    return z * z / max(inverse, 1e-300)


@helper(*FAST)
def normal(q, mu, i, s):  # pragma: no cover
    """h^2 times the part of div(mu (grad u + grad u^T)) across a face, of the velocity q in its direction."""
    here = at(q, i)
    return 2 * at(mu, i) * (at(q, i + s) - here) - 2 * at(mu, i - s) * (here - at(q, i - s))


@helper(*FAST)
def shear(q, v, edge, i, s, t):  # pragma: no cover
    """h^2 times its part along the direction t, in which the velocity is v. edge: the viscosity at lower edges."""
    here = at(q, i)
    high = at(edge, i + t) * (at(q, i + t) - here + at(v, i + t) - at(v, i + t - s))
    return high - at(edge, i) * (here - at(q, i - t) + at(v, i) - at(v, i - s))


@helper(*FAST)
def viscosity_at_edges(row, begin, first, end, strides, mu, shift, edges):  # pragma: no cover
    """edges[d + e - 1] = the viscosity at the lower edges in directions d < e, of the cells at a distance `shift`."""
    first, end = first + shift, end + shift
    for d in unrolled(len(strides)):
        s = strides[d]
        for e in unrolled(len(strides)):
            t = strides[e]
            if e > d:
                edge = edges[d + e - 1]
                for i in range(first, end):
                    around = at(mu, i) + at(mu, i - s) + at(mu, i - t) + at(mu, i - s - t)
                    set_at(edge, i, 0.25 * around)


@helper(*FAST)
def predict(
    row,
    begin,
    first,
    end,
    strides,
    lower,
    heights,
    phi,
    kappa,
    mu,
    edges,
    h,
    fluid,
    dt,
    now,
    before,
    new,
    old,
    u,
    c,
    jump,
    inverse,
):  # pragma: no cover
    """On every face: c = 1/density, the jump of p across it, u -= dt (now new + before old), and the inverse of the
    diagonal of rho/dt - L; 0 on walls.

    fluid: 1/rho outside, on cut faces and inside, surface tension, (rho_in - rho_out) times gravity.
    """
    outside, mixed, inside, sigma, weight = fluid[0], fluid[1], fluid[2], fluid[3], fluid[4]
    height = heights[row]
    for d in unrolled(len(strides)):
        s = strides[d]
        drop = h if d == len(strides) - 1 else 0.0
        velocity, rate, rate_before = u[d], new[d], old[d]
        c_d, jump_d, inverse_d = c[d], jump[d], inverse[d]
        for i in range(first, end):
            a, b = at(phi, i), at(phi, i - s)
            is_cut = (a < 0) != (b < 0)
            set_at(c_d, i, mixed if is_cut else inside if a < 0 else outside)
            t = cut(a, b)
            size = sigma * ((1 - t) * at(kappa, i) + t * at(kappa, i - s)) + weight * (height - t * drop)
            set_at(jump_d, i, (size if a < 0 else -size) if is_cut else 0.0)
            rates = now * at(rate, i) + before * at(rate_before, i)
            set_at(velocity, i, at(velocity, i) - dt * rates)
            set_at(inverse_d, i, 2 * (at(mu, i) + at(mu, i - s)))
        for e in unrolled(len(strides)):
            t_ = strides[e]
            if e != d:
                edge = edges[d + e - 1]
                for i in range(first, end):
                    set_at(inverse_d, i, at(inverse_d, i) + at(edge, i) + at(edge, i + t_))
        for i in range(first, end):
            set_at(inverse_d, i, 1 / (1 / (at(c_d, i) * dt) + at(inverse_d, i) / (h * h)))
        # Last, so that loops over a work-item's own cell are no loops.
        walls = end if lower[d, row] else first + 1 if d == 0 and first == begin else first
        for i in range(first, walls):
            set_at(velocity, i, 0.0)
            set_at(c_d, i, 0.0)
            set_at(jump_d, i, 0.0)
            set_at(inverse_d, i, 0.0)


@helper(*FAST)
def viscous_force(row, begin, first, end, strides, u, mu, edges, h, inverse, z, sums):  # pragma: no cover
    """z = r / diagonal for r = L u, sums = (r, z): the start of the iteration on (rho/dt - L) u = (rho/dt) u*."""
    scale = 1 / (h * h)
    total = 0.0
    for d in unrolled(len(strides)):
        s, q, z_d, inverse_d = strides[d], u[d], z[d], inverse[d]
        for i in range(first, end):
            set_at(z_d, i, scale * normal(q, mu, i, s))
        for e in unrolled(len(strides)):
            t, v = strides[e], u[e]
            if e != d:
                edge = edges[d + e - 1]
                for i in range(first, end):
                    set_at(z_d, i, at(z_d, i) + scale * shear(q, v, edge, i, s, t))
        for i in range(first, end):
            value = at(z_d, i)
            set_at(z_d, i, at(inverse_d, i) * value)
            total += at(inverse_d, i) * value * value
    store(sums, 0, total)


@helper(*FAST)
def viscous_product(row, begin, first, end, strides, z, mu, edges, h, c, dt, w, sums):  # pragma: no cover
    """w = (rho/dt - L) z, sums = (w, z)."""
    scale = 1 / (h * h)
    total = 0.0
    for d in unrolled(len(strides)):
        s, q, w_d, c_d = strides[d], z[d], w[d], c[d]
        for i in range(first, end):
            # On walls, where c is 0, z is 0 too.
            weight = 1 / (at(c_d, i) * dt) if at(c_d, i) > 0 else 0.0
            set_at(w_d, i, weight * at(q, i) - scale * normal(q, mu, i, s))
        for e in unrolled(len(strides)):
            t, v = strides[e], z[e]
            if e != d:
                edge = edges[d + e - 1]
                for i in range(first, end):
                    set_at(w_d, i, at(w_d, i) - scale * shear(q, v, edge, i, s, t))
        for i in range(first, end):
            total += at(w_d, i) * at(q, i)
    store(sums, 0, total)


@helper(*FAST)
def viscous_begin(row, begin, first, end, strides, inverse, w, p, x, z, sums):  # pragma: no cover
    """x += p, z -= w / diagonal, sums = (r, z) for r = diagonal z."""
    total = 0.0
    for d in unrolled(len(strides)):
        inverse_d, w_d, p_d, x_d, z_d = inverse[d], w[d], p[d], x[d], z[d]
        for i in range(first, end):
            set_at(x_d, i, at(x_d, i) + at(p_d, i))
            z_i = at(z_d, i) - at(inverse_d, i) * at(w_d, i)
            set_at(z_d, i, z_i)
            total += energy(z_i, at(inverse_d, i))
    store(sums, 0, total)


@helper(*FAST)
def viscous_update(row, begin, first, end, strides, alpha, beta, inverse, w, p, s, x, z, sums):  # pragma: no cover
    """p = z + beta p, s = w + beta s, x += alpha p, z -= alpha s / diagonal, sums = (r, z) for r = diagonal z."""
    total = 0.0
    for d in unrolled(len(strides)):
        inverse_d, w_d, p_d, s_d, x_d, z_d = inverse[d], w[d], p[d], s[d], x[d], z[d]
        for i in range(first, end):
            p_i = at(z_d, i) + beta * at(p_d, i)
            s_i = at(w_d, i) + beta * at(s_d, i)
            set_at(p_d, i, p_i)
            set_at(s_d, i, s_i)
            set_at(x_d, i, at(x_d, i) + alpha * p_i)
            z_i = at(z_d, i) - alpha * at(inverse_d, i) * s_i
            set_at(z_d, i, z_i)
            total += energy(z_i, at(inverse_d, i))
    store(sums, 0, total)


@helper(*FAST)
def combine(row, begin, first, end, strides, a, x, b, y, out):  # pragma: no cover
    """out = a x + b y on faces; out may be x or y."""
    for d in unrolled(len(strides)):
        x_d, y_d, out_d = x[d], y[d], out[d]
        for i in range(first, end):
            set_at(out_d, i, a * at(x_d, i) + b * at(y_d, i))


@helper(*FAST)
def divergence(row, begin, first, end, strides, nx, u, c, jump, dt_h, factor, out):  # pragma: no cover
    """out = factor h div(u + dt/h c jump), of cells without ghosts, nx in a row, shape (N,)."""
    back = row * nx - begin
    for i in range(first, end):
        set_at(out, i + back, 0.0)
    for d in unrolled(len(strides)):
        s, q, c_d, jump_d = strides[d], u[d], c[d], jump[d]
        for i in range(first, end):
            j = i + s
            jumps = at(c_d, j) * at(jump_d, j) - at(c_d, i) * at(jump_d, i)
            value = factor * (at(q, j) - at(q, i) + dt_h * jumps)
            set_at(out, i + back, at(out, i + back) + value)


@helper(*FAST)
def correct(row, begin, first, end, strides, u, p, c, jump, dt_h):  # pragma: no cover
    """u -= dt/h c (p_i - p_j - jump)."""
    for d in unrolled(len(strides)):
        s, q, c_d, jump_d = strides[d], u[d], c[d], jump[d]
        for i in range(first, end):
            slope = at(p, i) - at(p, i - s) - at(jump_d, i)
            set_at(q, i, at(q, i) - dt_h * at(c_d, i) * slope)
