"""Kernels of Jacobi sweeps on boxes.

All of them work in one array, `room`, of equal planes: z of even sweeps, z of odd sweeps, the right-hand side and, for
variable coefficients, 1/D and the two bands. In a plane a row of a box takes `pitch` entries, a multiple of a cache
line, of which at least the last is zero; zero rows lie before the first and after the last one. So every unknown has
four neighbours, rows are aligned, and no sweep has a branch per unknown.

A row of `boxes` describes a box: its place in the local vector, rows, unknowns of a row, pitch, the place of its first
row in a plane, and its first part and the end of its parts (see `blocked`). A row of `numbers` holds 1/D and both bands
over D of a box with constant coefficients.
"""

from __future__ import annotations

from workbench.compiler.words import (
    acquired,
    entries_of_line,
    first_entries,
    line_at,
    minus_product,
    plus,
    publish,
    published,
    put_line,
    shared,
    shifted_down,
    shifted_up,
    spread,
    threads,
    times,
)
from workbench.jit.compiled import kernel

TOGETHER = 4
"""Rows that `_four_rows` computes."""
PATIENCE = 1000
"""Times that a thread looks for work in vain, some 50 microseconds, before it leaves the rest to others."""
RIGHT, INVERSE, WEST, SOUTH = 2, 3, 4, 5
"""Planes after the two of z."""


@kernel()
def begin(taken, r, room, boxes, numbers, scales, constant, scaled):  # pragma: no cover
    """The right-hand side of every box, over D for constant coefficients, and z after the first sweep, D^-1 r.

    scaled: each box is divided by its largest magnitude first, which is kept in `scales`.
    """
    plane = room.size // (RIGHT + 1 if constant else SOUTH + 1)
    inner = room.dtype.type
    for thread in threads(taken):
        for k in shared(taken, thread, boxes.shape[0]):
            start, rows, width, pitch, at, _, _ = boxes[k]
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


@kernel()
def end(taken, z, room, boxes, scales, last, constant):  # pragma: no cover
    """z, scaled back, from the plane of the last sweep."""
    plane = room.size // (RIGHT + 1 if constant else SOUTH + 1)
    outer = z.dtype.type
    for thread in threads(taken):
        for k in shared(taken, thread, boxes.shape[0]):
            start, rows, width, pitch, at, _, _ = boxes[k]
            for y in range(rows):
                here = last * plane + at + y * pitch
                source, target = room[here : here + width], z[start + y * width : start + (y + 1) * width]
                for x in range(width):
                    target[x] = outer(source[x]) * scales[k]


@kernel()
def plain(taken, room, boxes, numbers, sweeps, constant):  # pragma: no cover
    """Sweeps after the first, one pass over a box each; boxes in parallel."""
    for thread in threads(taken):
        for k in shared(taken, thread, boxes.shape[0]):
            for sweep in range(sweeps):
                _rows(room, boxes, numbers, k, sweep % 2, 0, boxes[k, 1], constant)


@kernel()
def blocked(taken, room, boxes, numbers, parts, first, sweeps, depth, alone, states, constant):  # pragma: no cover
    """Sweeps from `first` on, in tiles: `depth` of them (a pass) on the rows of a part of a box.

    A row of `parts` has the box, the first row and the end of a part. Threads take the parts of the first `alone` boxes
    one box at a time. The other parts belong to threads, so that each thread has its rows in its own cache; a
    thread whose parts are not ready for long takes those of others, and leaves if none is.
    """
    passes = (sweeps + depth - 1) // depth
    for thread in threads(taken):
        for k in shared(taken, thread, alone):
            for number in range(passes):
                begun = number * depth
                for part in range(boxes[k, 5], boxes[k, 6]):
                    _tile(room, boxes, numbers, parts, part, first + begun, min(depth, sweeps - begun), constant)
        left = boxes[alone, 5] if alone < boxes.shape[0] else parts.shape[0]
        count = parts.shape[0] - left
        low, high = count * thread // taken.shape[0], count * (thread + 1) // taken.shape[0]
        waited, finished, helps = 0, 0, False
        while finished < count and waited < PATIENCE:
            waited += 1
            # From now on in this launch: the thread that it waits for may have lost its core for long.
            helps = helps or 2 * waited > PATIENCE or finished >= high - low
            finished = 0
            for turn in range(count):
                place = (low + turn) % count
                done = published(states, place)
                if done >= passes:
                    finished += 1
                elif (
                    (helps or turn < high - low)
                    and _ready(boxes, parts, left, place, states, done)
                    and acquired(states, count + place)
                ):
                    # Another thread may have made this pass in the meantime.
                    if published(states, place) == done:
                        begun = done * depth
                        levels = min(depth, sweeps - begun)
                        _tile(room, boxes, numbers, parts, left + place, first + begun, levels, constant)
                        publish(states, place, done + 1)
                    publish(states, count + place, 0)
                    waited = 0


def _ready(boxes, parts, left, place, states, done):  # pragma: no cover
    """True if the next pass of a part may begin: the part below has made it, the part above the one before."""
    k, count = parts[left + place, 0], states.shape[0] // 2
    if published(states, count + place):
        return False
    below = left + place == boxes[k, 5] or published(states, place - 1) > done
    return below and (left + place + 1 == boxes[k, 6] or published(states, place + 1) >= done)


def _tile(room, boxes, numbers, parts, part, first, levels, constant):  # pragma: no cover
    """Sweeps on a part, each a row lower than the one before: what a sweep needs of the rows above is then made.

    The first part of a box has no rows below to begin with, and the last one ends with the box.
    """
    k, low, high = parts[part]
    for level in range(levels):
        end = high if part + 1 == boxes[k, 6] else high - level
        _rows(room, boxes, numbers, k, (first + level) % 2, max(0, low - level) if low else 0, end, constant)


def _rows(room, boxes, numbers, k, odd, low, high, constant):  # pragma: no cover
    """One sweep of some rows, from the plane of even or odd sweeps to the other."""
    _, _, width, pitch, at, _, _ = boxes[k]
    plane = room.size // (RIGHT + 1 if constant else SOUTH + 1)
    old, new, right = odd * plane + at, (1 - odd) * plane + at, RIGHT * plane + at
    y = low
    if constant:
        west, south = numbers[k, 1], numbers[k, 2]
        while y + TOGETHER <= high:
            here = y * pitch
            _four_rows(room, old + here, new + here, right + here, pitch, width, west, south)
            y += TOGETHER
        while y < high:
            here = y * pitch
            _constant_row(room, old + here, new + here, right + here, pitch, width, west, south)
            y += 1
    else:
        while y < high:
            here = y * pitch
            _variable_row(room, old + here, new + here, right + here, plane, pitch, width)
            y += 1


def _four_rows(room, old, new, right, pitch, width, west, south):  # pragma: no cover
    """`_constant_row` for four rows at once, whose neighbours among them are read once."""
    a, b = spread(room, west), spread(room, south)
    lanes, second, third = entries_of_line(room), 2 * pitch, 3 * pitch
    before0, line0 = line_at(room, old - lanes), line_at(room, old)
    before1, line1 = line_at(room, old + pitch - lanes), line_at(room, old + pitch)
    before2, line2 = line_at(room, old + second - lanes), line_at(room, old + second)
    before3, line3 = line_at(room, old + third - lanes), line_at(room, old + third)
    for x in range(0, width, max(1, lanes)):
        count = width - x
        after0, after1 = line_at(room, old + x + lanes), line_at(room, old + pitch + x + lanes)
        after2, after3 = line_at(room, old + second + x + lanes), line_at(room, old + third + x + lanes)
        near = minus_product(line_at(room, right + x), a, plus(shifted_up(before0, line0), shifted_down(line0, after0)))
        _put(room, new + x, minus_product(near, b, plus(line_at(room, old + x - pitch), line1)), count)
        far = line_at(room, right + pitch + x)
        near = minus_product(far, a, plus(shifted_up(before1, line1), shifted_down(line1, after1)))
        _put(room, new + pitch + x, minus_product(near, b, plus(line0, line2)), count)
        far = line_at(room, right + second + x)
        near = minus_product(far, a, plus(shifted_up(before2, line2), shifted_down(line2, after2)))
        _put(room, new + second + x, minus_product(near, b, plus(line1, line3)), count)
        far = line_at(room, right + third + x)
        near = minus_product(far, a, plus(shifted_up(before3, line3), shifted_down(line3, after3)))
        _put(room, new + third + x, minus_product(near, b, plus(line2, line_at(room, old + third + pitch + x))), count)
        before0, line0, before1, line1 = line0, after0, line1, after1
        before2, line2, before3, line3 = line2, after2, line3, after3


def _constant_row(room, old, new, right, pitch, width, west, south):  # pragma: no cover
    """z = right - west (z_w + z_e) - south (z_s + z_n), all of them over D."""
    lanes = entries_of_line(room)
    a, b = spread(room, west), spread(room, south)
    before, line = line_at(room, old - lanes), line_at(room, old)
    for x in range(0, width, max(1, lanes)):
        after = line_at(room, old + x + lanes)
        total = minus_product(line_at(room, right + x), a, plus(shifted_up(before, line), shifted_down(line, after)))
        far = plus(line_at(room, old + x - pitch), line_at(room, old + x + pitch))
        _put(room, new + x, minus_product(total, b, far), width - x)
        before, line = line, after


def _variable_row(room, old, new, right, plane, pitch, width):  # pragma: no cover
    """z = (r - sum of the four neighbours, each times its coupling)/D."""
    lanes = entries_of_line(room)
    inverse, west, south = right + plane, right + 2 * plane, right + 3 * plane
    before, line, coupling = line_at(room, old - lanes), line_at(room, old), line_at(room, west)
    for x in range(0, width, max(1, lanes)):
        after, next_coupling = line_at(room, old + x + lanes), line_at(room, west + x + lanes)
        total = minus_product(line_at(room, right + x), coupling, shifted_up(before, line))
        total = minus_product(total, shifted_down(coupling, next_coupling), shifted_down(line, after))
        total = minus_product(total, line_at(room, south + x), line_at(room, old + x - pitch))
        total = minus_product(total, line_at(room, south + x + pitch), line_at(room, old + x + pitch))
        _put(room, new + x, times(total, line_at(room, inverse + x)), width - x)
        before, line, coupling = line, after, next_coupling


def _put(room, place, line, count):  # pragma: no cover
    """Store a line with zeros beyond the first `count` entries: the end of a row."""
    if count >= entries_of_line(room):
        put_line(room, place, line)
    else:
        put_line(room, place, first_entries(line, count))
