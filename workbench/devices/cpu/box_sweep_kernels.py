"""Kernels of Jacobi sweeps on boxes.

All of them work in one array, `room`, of equal planes: z of even sweeps, z of odd sweeps, the right-hand side and, for
variable coefficients, 1/D and the two bands. In a plane a row of a box takes `pitch` entries, a multiple of a cache
line, of which at least the last is zero; zero rows lie before the first and after the last one. So every unknown has
four neighbours, rows are aligned, and no sweep has a branch per unknown.

A row of `boxes` describes a box: its place in the local vector, rows, unknowns of a row, pitch, and the place of its
first row in a plane. A row of `numbers` holds 1/D and both bands over D of a box with constant coefficients.
"""

from __future__ import annotations

from numba import njit

from workbench.devices.cpu.cache_lines import (
    LINE,
    first_entries,
    line_at,
    minus_product,
    plus,
    put_line,
    shifted_down,
    shifted_up,
    spread,
    times,
)
from workbench.devices.cpu.compiled import kernel
from workbench.devices.cpu.work_stealing import in_order, publish, published, shared, threads

PUBLISHED_EVERY = 8
"""Rows after which a thread publishes its progress: a cache line that another core has to fetch."""
RIGHT, INVERSE, WEST, SOUTH = 2, 3, 4, 5
"""Planes after the two of z."""


@kernel(error_model="numpy")
def begin(taken, r, room, boxes, numbers, scales, constant, scaled):  # pragma: no cover
    """The right-hand side of every box, over D for constant coefficients, and z after the first sweep, D^-1 r.

    scaled: each box is divided by its largest magnitude first, which is kept in `scales`.
    """
    plane = room.size // (RIGHT + 1 if constant else SOUTH + 1)
    inner = room.dtype.type
    for thread in threads(taken):
        for k in shared(taken, thread, boxes.shape[0]):
            start, rows, width, pitch, at = boxes[k]
            scale = r.dtype.type(1)
            if scaled:
                most = r.dtype.type(0)
                part = r[start : start + rows * width]
                for i in range(part.size):
                    most = max(most, abs(part[i]))
                if most > 0:
                    scale = most
                scales[k] = scale
            for y in range(rows):
                here = at + y * pitch
                source, z = r[start + y * width : start + (y + 1) * width], room[here : here + width]
                right = room[RIGHT * plane + here : RIGHT * plane + here + width]
                if constant:
                    over = numbers[k, 0]
                    for x in range(width):
                        right[x] = inner(source[x] / scale) * over
                        z[x] = right[x]
                else:
                    inverse = room[INVERSE * plane + here : INVERSE * plane + here + width]
                    for x in range(width):
                        right[x] = inner(source[x] / scale)
                        z[x] = right[x] * inverse[x]


@kernel(error_model="numpy")
def end(taken, z, room, boxes, scales, last, constant):  # pragma: no cover
    """z, scaled back, from the plane of the last sweep."""
    plane = room.size // (RIGHT + 1 if constant else SOUTH + 1)
    outer = z.dtype.type
    for thread in threads(taken):
        for k in shared(taken, thread, boxes.shape[0]):
            start, rows, width, pitch, at = boxes[k]
            for y in range(rows):
                here = last * plane + at + y * pitch
                source, target = room[here : here + width], z[start + y * width : start + (y + 1) * width]
                for x in range(width):
                    target[x] = outer(source[x]) * scales[k]


@kernel(error_model="numpy")
def plain(taken, room, boxes, numbers, sweeps, constant):  # pragma: no cover
    """Sweeps after the first, one pass over a box each; boxes in parallel."""
    plane = room.size // (RIGHT + 1 if constant else SOUTH + 1)
    for thread in threads(taken):
        for k in shared(taken, thread, boxes.shape[0]):
            _, rows, width, pitch, at = boxes[k]
            for sweep in range(sweeps):
                for y in range(rows):
                    _row(room, plane, sweep % 2, at + y * pitch, pitch, width, numbers, k, constant)


@kernel(error_model="numpy")
def blocked(taken, room, boxes, numbers, sweeps, depth, alone, progress, constant):  # pragma: no cover
    """The same, `depth` sweeps at a time, each one row behind the sweep before it.

    Rows between the first and the last of these sweeps stay in the cache. Threads take the first `alone` boxes whole.
    For each other box they take turns: the next `depth` sweeps begin while those before are still under way, as far
    behind as the data require. progress: counters, a group of them per box, zero at the start.
    """
    plane = room.size // (RIGHT + 1 if constant else SOUTH + 1)
    passes = (sweeps + depth - 1) // depth
    together = boxes.shape[0] - alone
    slots = progress.shape[0] // max(1, together)
    for _ in threads(taken):
        for item in in_order(taken, alone + passes * together):
            whole = item < alone
            k = item if whole else alone + (item - alone) % together
            first = 0 if whole else (item - alone) // together
            _, rows, width, pitch, at = boxes[k]
            for number in range(first, passes if whole else first + 1):
                levels = min(depth, sweeps - number * depth)
                # Counters count through all passes, so that a later pass may use the slot of an earlier one.
                before = (k - alone) * slots + (number + slots - 1) % slots
                own = (k - alone) * slots + number % slots
                ready = rows if whole or number == 0 else 0
                for y in range(rows + levels - 1):
                    while ready < min(y + 2, rows):
                        ready = published(progress, before) - (number - 1) * rows
                    for level in range(max(0, y - rows + 1), min(levels, y + 1)):
                        odd = (number * depth + level) % 2
                        _row(room, plane, odd, at + (y - level) * pitch, pitch, width, numbers, k, constant)
                    done = y - levels + 2
                    if not whole and done > 0 and (done % PUBLISHED_EVERY == 0 or done == rows):
                        publish(progress, own, number * rows + done)


@njit(nogil=True, error_model="numpy")
def _row(room, plane, odd, here, pitch, width, numbers, k, constant):  # pragma: no cover
    """One sweep of one row, from the plane of even or odd sweeps to the other."""
    old, new, right = odd * plane + here, (1 - odd) * plane + here, RIGHT * plane + here
    if constant:
        _constant_row(room, old, new, right, pitch, width, numbers[k, 1], numbers[k, 2])
    else:
        _variable_row(room, old, new, right, plane, pitch, width)


@njit(nogil=True, error_model="numpy")
def _constant_row(room, old, new, right, pitch, width, west, south):  # pragma: no cover
    """z = right - west (z_w + z_e) - south (z_s + z_n), all of them over D."""
    lanes = LINE // room.itemsize
    a, b = spread(room, west), spread(room, south)
    before, line = line_at(room, old - lanes), line_at(room, old)
    for x in range(0, width, lanes):
        after = line_at(room, old + x + lanes)
        total = minus_product(line_at(room, right + x), a, plus(shifted_up(before, line), shifted_down(line, after)))
        far = plus(line_at(room, old + x - pitch), line_at(room, old + x + pitch))
        _put(room, new + x, minus_product(total, b, far), width - x)
        before, line = line, after


@njit(nogil=True, error_model="numpy")
def _variable_row(room, old, new, right, plane, pitch, width):  # pragma: no cover
    """z = (r - sum of the four neighbours, each times its coupling)/D."""
    lanes = LINE // room.itemsize
    inverse, west, south = right + plane, right + 2 * plane, right + 3 * plane
    before, line, coupling = line_at(room, old - lanes), line_at(room, old), line_at(room, west)
    for x in range(0, width, lanes):
        after, next_coupling = line_at(room, old + x + lanes), line_at(room, west + x + lanes)
        total = minus_product(line_at(room, right + x), coupling, shifted_up(before, line))
        total = minus_product(total, shifted_down(coupling, next_coupling), shifted_down(line, after))
        total = minus_product(total, line_at(room, south + x), line_at(room, old + x - pitch))
        total = minus_product(total, line_at(room, south + x + pitch), line_at(room, old + x + pitch))
        _put(room, new + x, times(total, line_at(room, inverse + x)), width - x)
        before, line, coupling = line, after, next_coupling


@njit(nogil=True, error_model="numpy")
def _put(room, place, line, count):  # pragma: no cover
    """Store a line with zeros beyond the first `count` entries: the end of a row."""
    if count >= LINE // room.itemsize:
        put_line(room, place, line)
    else:
        put_line(room, place, first_entries(line, count))
