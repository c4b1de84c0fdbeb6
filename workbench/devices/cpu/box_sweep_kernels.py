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
    entries_of_line,
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
from workbench.devices.cpu.work_stealing import acquired, publish, published, shared, threads

STRIP = 4
"""Rows that are computed together."""
PUBLISHED_EVERY = 2
"""Strips after which a thread publishes its progress: a cache line that another core has to fetch."""
PATIENCE = 2000
"""Times that a thread looks for work in vain, some 50 microseconds, before it leaves the rest to others."""
FINISHED, MOVED, WAITING = 0, 1, 2
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
            for sweep in range(sweeps):
                for strip in range((boxes[k, 1] + STRIP - 1) // STRIP):
                    _strip(room, plane, boxes, numbers, k, sweep % 2, strip, constant)


@kernel(error_model="numpy")
def blocked(taken, room, boxes, numbers, first, sweeps, depth, alone, states, constant):  # pragma: no cover
    """The same for sweeps from `first` on, `depth` of them at a time: a pass, in which each is a row behind the last.

    Rows between the first and the last sweep of a pass stay in the cache. Threads take the first `alone` boxes whole;
    on each other box they follow one another, see `_follow`. states: shape (4 slots per such box, 16).
    """
    plane = room.size // (RIGHT + 1 if constant else SOUTH + 1)
    passes = (sweeps + depth - 1) // depth
    together = boxes.shape[0] - alone
    for thread in threads(taken):
        for k in shared(taken, thread, alone):
            for number in range(passes):
                begun = number * depth
                levels = min(depth, sweeps - begun)
                for step in range((boxes[k, 1] + STRIP - 1) // STRIP + levels - 1):
                    _step(room, plane, boxes, numbers, k, first + begun, levels, step, constant)
        waited, finished = 0, 0
        while finished < together and waited < PATIENCE:
            waited += 1
            finished = 0
            for turn in range(together):
                box = (thread + turn) % together
                outcome = MOVED
                while outcome == MOVED:
                    outcome = _follow(
                        room, plane, boxes, numbers, alone, box, first, sweeps, depth, passes, states, constant
                    )
                    waited = 0 if outcome == MOVED else waited
                finished += outcome == FINISHED


@njit(nogil=True, error_model="numpy")
def _follow(
    room, plane, boxes, numbers, alone, box, first, sweeps, depth, passes, states, constant
):  # pragma: no cover
    """Advance the oldest pass of a box that no other thread works on, as far as the pass before it allows.

    Returns FINISHED where all passes are done, MOVED, or WAITING where other threads have all that can be advanced.
    The oldest unfinished pass can always be advanced, so the last thread never waits. A slot is used by every
    `slots`-th pass. For each, `states` has the strips that its passes have finished, `strips` for each earlier one, its
    present pass, a lock, and the next step of that pass.
    """
    k = alone + box
    strips = (boxes[k, 1] + STRIP - 1) // STRIP
    places = states.shape[0] // 4
    slots = places // (boxes.shape[0] - alone)
    oldest = passes
    for slot in range(slots):
        oldest = min(oldest, published(states, places + box * slots + slot))
    if oldest == passes:
        return FINISHED
    for number in range(oldest, min(oldest + slots, passes)):
        own, before = box * slots + number % slots, box * slots + (number + slots - 1) % slots
        lock = 2 * places + own
        if published(states, places + own) != number or published(states, lock) or not acquired(states, lock):
            continue
        moved = False
        if published(states, places + own) == number:
            levels = min(depth, sweeps - number * depth)
            step, end = states[3 * places + own, 0], strips + levels - 1
            while step < end:
                ready = strips if number == 0 else published(states, before) - (number - 1) * strips
                # A step needs one strip more of the pass before.
                stop = min(end if ready >= strips else ready - 1, step + PUBLISHED_EVERY)
                if stop <= step:
                    break
                while step < stop:
                    _step(room, plane, boxes, numbers, k, first + number * depth, levels, step, constant)
                    step += 1
                publish(states, own, number * strips + max(0, step - levels + 1))
                moved = True
            if step == end:
                step = 0
                publish(states, places + own, number + slots)
            states[3 * places + own, 0] = step
        publish(states, lock, 0)
        if moved:
            return MOVED
    return WAITING


@njit(nogil=True, error_model="numpy")
def _step(room, plane, boxes, numbers, k, first, levels, step, constant):  # pragma: no cover
    """A strip of each sweep of a pass, the first of them number `first`: strip `step` of that one, step - 1 of the
    next."""
    strips = (boxes[k, 1] + STRIP - 1) // STRIP
    for level in range(max(0, step - strips + 1), min(levels, step + 1)):
        _strip(room, plane, boxes, numbers, k, (first + level) % 2, step - level, constant)


@njit(nogil=True, error_model="numpy")
def _strip(room, plane, boxes, numbers, k, odd, strip, constant):  # pragma: no cover
    """One sweep of a strip, from the plane of even or odd sweeps to the other."""
    _, rows, width, pitch, at = boxes[k]
    low, high = strip * STRIP, min(rows, (strip + 1) * STRIP)
    if constant and high - low == STRIP:
        here = at + low * pitch
        old, new, right = odd * plane + here, (1 - odd) * plane + here, RIGHT * plane + here
        _four_rows(room, old, new, right, pitch, width, numbers[k, 1], numbers[k, 2])
        return
    for y in range(low, high):
        here = at + y * pitch
        old, new, right = odd * plane + here, (1 - odd) * plane + here, RIGHT * plane + here
        if constant:
            _constant_row(room, old, new, right, pitch, width, numbers[k, 1], numbers[k, 2])
        else:
            _variable_row(room, old, new, right, plane, pitch, width)


@njit(nogil=True, error_model="numpy")
def _four_rows(room, old, new, right, pitch, width, west, south):  # pragma: no cover
    """`_constant_row` for four rows at once, whose neighbours among them are read once."""
    a, b = spread(room, west), spread(room, south)
    lanes, second, third = entries_of_line(room), 2 * pitch, 3 * pitch
    before0, line0 = line_at(room, old - lanes), line_at(room, old)
    before1, line1 = line_at(room, old + pitch - lanes), line_at(room, old + pitch)
    before2, line2 = line_at(room, old + second - lanes), line_at(room, old + second)
    before3, line3 = line_at(room, old + third - lanes), line_at(room, old + third)
    for x in range(0, width, lanes):
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


@njit(nogil=True, error_model="numpy")
def _constant_row(room, old, new, right, pitch, width, west, south):  # pragma: no cover
    """z = right - west (z_w + z_e) - south (z_s + z_n), all of them over D."""
    lanes = entries_of_line(room)
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
    lanes = entries_of_line(room)
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
    if count >= entries_of_line(room):
        put_line(room, place, line)
    else:
        put_line(room, place, first_entries(line, count))
