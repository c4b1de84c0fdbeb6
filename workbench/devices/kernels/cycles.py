"""Kernels of the cycles over the levels of a coarse system (see `accelerator.cycles`).

The matrix of a level has unit diagonal, which is not stored, and rows of a fixed width that is known when a kernel is
compiled, so that a work-item reads all entries of its row at once; the entries beyond that follow row by row. `matrix`
is the first entries and their columns, shape (width, rows), where the others of each row begin, and those.

`target` is the solution of a level; where it is lifted, the level above with the first row of each parent, the weights
of the rows at their parents, and the factor of corrections. `sums` are those of two steps of flexible CG: (p, b) and
(p, s) of the first; (z, s), (z, E z), (z, r) and (p, r) of the second.
"""

from __future__ import annotations

import numpy as np

from workbench.compiler.words import (
    barrier,
    conj,
    group,
    groups,
    items,
    member,
    members,
    narrow,
    real,
    shared_array,
    strips,
    unrolled,
    wide,
)
from workbench.devices.kernels.frames import add_rows, add_together, store_sums
from workbench.devices.kernels.parameters import LongPlaces, Places, Real, Reals, Sums, Vector

Matrix = tuple[Vector, Places, Places, Vector, Places]
Above = tuple[Vector, Places, Reals, Real]
LEAST_LEFT = 1e-6
"""The share of the curvature along z that must be left beside p for a second direction."""
SUMS = 6
"""Sums of two steps of flexible CG."""
ALL_SUMS = tuple(range(SUMS))


def total(a: Sums, partial: Sums, count: int) -> None:
    """Partial sums of a."""
    dtype = partial.dtype.type
    room, found = shared_array(dtype, members() + strips()), dtype(0)
    for i in items(count, 0, count):
        found += a[i]
    store_sums(room, partial, (found,), group(), groups())


def enter(partial: Sums, parts: int, order: Places, scale: Reals, a: Sums, b: Vector, rows: int) -> None:
    """b = D^-1/2 (a - mean) in the order of the level; scale: D^-1/2. parts: of the sum of a, 0 to leave the mean."""
    dtype = partial.dtype.type
    room, found = shared_array(dtype, members()), dtype(0)
    for k in range(member(), parts, members()):
        found += partial[k]
    add_together(room, (found,))
    mean = real(dtype(1)) / real(dtype(rows)) * room[0]
    for i in items(rows, 0, rows):
        b[i] = narrow(scale[i] * (a[order[i]] - mean))


def bottom(inverse: Vector, b: Vector, target, size: int, *, lifted: bool, dtype: type[np.generic]) -> None:
    """x = the inverse of the last level times b; a group has one row. dtype: of sums."""
    i, room, found = group(), shared_array(dtype, members()), dtype(0)
    for j in range(member(), size, members()):
        found += wide(inverse[i * size + j]) * wide(b[j])
    add_together(room, (found,))
    if member() == 0:
        _put(target, i, narrow(room[0]), lifted=lifted)


def add(a: Vector, x: Vector, rows: int) -> None:
    """x = x + a."""
    for i in items(rows, 0, rows):
        x[i] += a[i]


def split_rows(entries: Vector, columns: Places, ends: LongPlaces, matrix: Matrix, rows: int, *, width: int) -> None:
    """A matrix in the form of the others from CSR: couplings beyond those of a row are zeros."""
    data, indices, more, more_data, more_indices = matrix
    for i in items(rows, 0, rows):
        k = 0
        for j in range(ends[i], ends[i + 1]):
            if columns[j] != i:
                if k < width:
                    data[k * rows + i] = entries[j]
                    indices[k * rows + i] = columns[j]
                else:
                    more_data[more[i] + k - width] = entries[j]
                    more_indices[more[i] + k - width] = columns[j]
                k += 1
        while k < width:
            data[k * rows + i] = 0
            indices[k * rows + i] = i
            k += 1


def couplings_beyond(i, ends, *, width):
    """Entries of row i of CSR but for the diagonal one and `width` couplings."""
    return max(ends[i + 1] - ends[i] - (1 + width), 0)


def start(matrix: Matrix, one: Real, two: Real, b: Vector, x: Vector, rows: int, *, width: int) -> None:
    """x = one b - two E b."""
    for i in items(rows, 0, rows):
        x[i] = one * b[i] - two * _product(matrix, (b,), i, rows, width=width)


def restart(
    matrix: Matrix, one: Real, two: Real, partial: Sums, parts: int, b: Vector, s: Vector, r: Vector, x: Vector,
    rows: int, *, width: int,
) -> None:  # fmt: skip
    """r = b - alpha s, x = one r - two E r."""
    room = shared_array(partial.dtype.type, members() * 2)
    alpha = narrow(_first_step(_totals(room, partial, parts, rows=(0, 1))))
    for i in items(rows, 0, rows):
        here = b[i] - alpha * s[i]
        product = _product(matrix, (b, s, alpha), i, rows, width=width)
        r[i] = here
        x[i] = one * here - two * product


def restrict(
    matrix: Matrix, starts: Places, weights, b: Vector, x: Vector, below: Vector, rows: int, parents: int,
    *, width: int, at_once: int, most: int, modes: int,
) -> None:  # fmt: skip
    """below = W^H (b - E x); a group has `at_once` parents, whose children are at most `most`. modes: rows below for
    each parent."""
    room = shared_array(below.dtype.type, most)
    for low in range(group() * at_once, parents, max(1, groups() * at_once)):
        high = min(low + at_once, parents)
        first = starts[low]
        for i in range(first + member(), starts[high], members()):
            left = b[i] - _product(matrix, (x,), i, rows, width=width)
            room[i - first] = conj(weights[i]) * left if modes == 1 else left
        barrier()
        for k in range(low * modes + member(), high * modes, members()):
            found, parent = below.dtype.type(0), k // modes
            for i in range(starts[parent], starts[parent + 1]):
                found += room[i - first] if modes == 1 else conj(weights[i * modes + k % modes]) * room[i - first]
            below[k] = found
        barrier()


def residual(matrix: Matrix, b: Vector, x: Vector, r: Vector, rows: int, *, width: int) -> None:
    """r = b - E x."""
    for i in items(rows, 0, rows):
        r[i] = b[i] - _product(matrix, (x,), i, rows, width=width)


def smooth(matrix: Matrix, one: Real, two: Real, r: Vector, x: Vector, rows: int, *, width: int) -> None:
    """x = x + one r - two E r."""
    for i in items(rows, 0, rows):
        x[i] += one * r[i] - two * _product(matrix, (r,), i, rows, width=width)


def smooth_lifted(
    matrix: Matrix, one: Real, two: Real, r: Vector, x: Vector, target: Above, rows: int, *, width: int
) -> None:
    """The level above plus x + one r - two E r."""
    for i in items(rows, 0, rows):
        found = x[i] + (one * r[i] - two * _product(matrix, (r,), i, rows, width=width))
        _put(target, i, found, lifted=True)


def energy(matrix: Matrix, p: Vector, b: Vector, s: Vector, partial: Sums, rows: int, *, width: int) -> None:
    """s = E p with the first sums."""
    dtype = partial.dtype.type
    room, pb, ps = shared_array(dtype, (members() + strips()) * 2), dtype(0), dtype(0)
    for i in items(rows, 0, rows):
        product = _product(matrix, (p,), i, rows, width=width)
        s[i] = product
        pb += conj(wide(p[i])) * wide(b[i])
        ps += conj(wide(p[i])) * wide(product)
    store_sums(room, partial, (pb, ps), group(), groups())


def second_energy(
    matrix: Matrix, z: Vector, r: Vector, p: Vector, s: Vector, partial: Sums, rows: int, *, width: int
) -> None:
    """The other sums."""
    dtype = partial.dtype.type
    room, zs, ez, zr, pr = shared_array(dtype, (members() + strips()) * 4), dtype(0), dtype(0), dtype(0), dtype(0)
    for i in items(rows, 0, rows):
        product = _product(matrix, (z,), i, rows, width=width)
        zs += conj(wide(z[i])) * wide(s[i])
        ez += conj(wide(z[i])) * wide(product)
        zr += conj(wide(z[i])) * wide(r[i])
        pr += conj(wide(p[i])) * wide(r[i])
    store_sums(room, partial[2 * groups() :], (zs, ez, zr, pr), group(), groups())


def combine(partial: Sums, parts: int, p: Vector, target, rows: int, *, lifted: bool) -> None:
    """x = the solution of the level by one step of flexible CG."""
    room = shared_array(partial.dtype.type, members() * 2)
    first = narrow(_first_step(_totals(room, partial, parts, rows=(0, 1))))
    for i in items(rows, 0, rows):
        _put(target, i, first * p[i], lifted=lifted)


def combine_two(partial: Sums, parts: int, p: Vector, z: Vector, target, rows: int, *, lifted: bool) -> None:
    """x = the solution of the level by two steps of flexible CG: z - beta p is E-orthogonal to p.

    Where next to nothing is left of z, there is no second direction.
    """
    dtype = partial.dtype.type
    totals = _totals(shared_array(dtype, members() * SUMS), partial, parts, rows=ALL_SUMS)
    first, second, beta = _first_step(totals), dtype(0), dtype(0)
    _, ps, zs, ez, zr, pr = totals
    if real(ps) > 0:
        beta = conj(zs) / ps
    curvature = ez - beta * zs
    if real(curvature) > real(dtype(LEAST_LEFT)) * real(ez):
        second = (zr - conj(beta) * pr) / curvature
    of_p, of_z = narrow(first - second * beta), narrow(second)
    for i in items(rows, 0, rows):
        _put(target, i, of_p * p[i] + of_z * z[i], lifted=lifted)


def _product(matrix, of, i, rows, *, width):
    """Row i of E times a vector."""
    data, indices, more, more_data, more_indices = matrix
    product = _value(of, i)
    for k in unrolled(width):
        product += data[k * rows + i] * _value(of, indices[k * rows + i])
    for m in range(more[i], more[i + 1]):
        product += more_data[m] * _value(of, more_indices[m])
    return product


def _value(of, j):
    """Entry j of a vector x, or of b - alpha s."""
    if len(of) == 1:
        return of[0][j]
    return of[0][j] - of[2] * of[1][j]


def _put(target, i, value, *, lifted):
    """Put the solution of row i into x, or by its weights into the children of the row on the level above."""
    if lifted:
        above, starts, weights, scaling = target
        for m in range(starts[i], starts[i + 1]):
            above[m] += scaling * weights[m] * value
    else:
        target[i] = value


def _totals(room, partial, count, *, rows) -> tuple[float, ...]:
    """The sums over all groups; every group adds them itself, since a kernel for so few numbers would cost more."""
    totals = ()
    add_rows(room, partial, count, rows=rows)
    for k in unrolled(len(rows)):
        totals += (room[k * members()],)
    return totals


def _first_step(totals):
    """alpha = (p, b)/(p, s)."""
    step = totals[0] * 0
    if real(totals[1]) > 0:
        step = totals[0] / totals[1]
    return step
