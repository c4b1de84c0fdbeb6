"""Parts of boxes split by phase: their numbers, and E = Z^T A Z of a stencil row by row, without AZ.

A part lies in one box, so that its couplings are to other parts of its box and to those of the neighbouring boxes: a
short list, which is searched from its end, where a run of cells finds what it added last.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiler.words import shared, threads
from workbench.devices.host.boxes import Boxes, EarlierParts, Rows, check_count, sides
from workbench.devices.host.face_codes import FaceCodes
from workbench.jit.compiled import Kernel, kernel
from workbench.jit.threads import cores, launch

MOST_COUPLINGS = 128
"""Couplings of a part to parts of other numbers, at most."""
MOST_PHASES = 256
"""Phases in one box, at most."""
REFUSED = -(1 << 40)
"""Written in place of a number of phases or couplings that is too large, so that sums of such numbers are negative."""


def numbered_parts(
    phase: np.ndarray, grid: tuple[int, ...], per_side: tuple[int, ...], earlier: EarlierParts | None = None
) -> tuple[np.ndarray, Boxes] | None:
    """The part of each cell, int32, shape (N,), and the boxes.

    Parts are numbered box by box, within a box by phase. earlier: where those of other boxes than moved are taken from.
    None where a box has more than MOST_PHASES phases. Cost: two passes over the phases, of moved boxes alone. Raises
    InputError for more parts than 32 bits number.
    """
    shape, boxes = sides(grid, per_side)
    check_count(int(boxes.prod()))
    starts = np.zeros(int(boxes.prod()) + 1, np.int64)
    nothing = np.empty(0, np.int32)
    no_sizes = np.empty(0, np.int64)
    if earlier:
        before = earlier.moved, earlier.boxes.firsts, earlier.boxes.phases, earlier.boxes.sizes
        labels = earlier.labels.copy()
    else:
        before = np.ones(starts.size - 1, bool), starts, nothing, no_sizes
        labels = np.empty(phase.size, np.int32)
    phase = np.ascontiguousarray(phase.reshape(-1))
    fixed = phase, shape, boxes, np.empty((cores(), MOST_PHASES), np.int64), *before
    launch(phase.size, _number, *fixed, False, starts, labels, nothing, nothing, no_sizes)
    if starts.min() < 0:
        return None
    np.cumsum(starts, out=starts)
    check_count(int(starts[-1]))
    box, kind = (np.empty(starts[-1], np.int32) for _ in range(2))
    sizes = np.zeros(starts[-1], np.int64)
    launch(phase.size, _number, *fixed, True, starts, labels, box, kind, sizes)
    return labels, Boxes(grid, per_side, box, kind, sizes)


def stencil_parts_matrix(
    main: np.ndarray,
    lower: tuple[np.ndarray, ...],
    strides: tuple[int, ...],
    labels: np.ndarray,
    boxes: Boxes,
) -> Rows | None:
    """E as the CSR arrays (data, indices, indptr), rows not sorted, the diagonal entry first.

    labels, boxes: as `numbered_parts` returns them. None where a part has more than MOST_COUPLINGS couplings. Cost: two
    passes over the stencil and the labels.
    """
    stencil = (main, lower, np.array(strides), labels, *boxes.sides, boxes.firsts)
    return _rows(_couple, stencil, boxes, main.dtype)


def face_parts_matrix(
    faces: FaceCodes,
    labels: np.ndarray,
    boxes: Boxes,
    earlier: EarlierParts | None = None,
    shift: int = 0,
    first: int = 0,
) -> Rows | None:
    """E of codes of faces: only faces between two parts count, so that rows of E without walls sum to zero.

    earlier: provides the rows of boxes that are not stale. shift: rows of A, and labels, before the cells
    of the boxes; others may lie behind them. first: is added to the numbers of parts in the result.
    """
    if earlier:
        data, indices, indptr = earlier.rows
        before = earlier.boxes.firsts
        names = np.arange(before[-1], dtype=np.int32)
        names += np.repeat((boxes.firsts - before)[:-1].astype(np.int32), np.diff(before))
        kept = earlier.stale, before, names, data, indices, indptr
    else:
        nothing, no_names = np.empty(0, np.int64), np.empty(0, np.int32)
        kept = np.ones(boxes.firsts.size - 1, bool), nothing, no_names, faces.values[:0], no_names, nothing
    stencil = (faces.codes, faces.values, faces.walls, np.array(faces.strides), labels, *boxes.sides, boxes.firsts)
    found = _rows(_couple_faces, (*stencil, np.int64(shift), *kept), boxes, faces.values.dtype, kept[0].mean())
    return (found[0], found[1] + np.int32(first), found[2]) if found and first else found


def _rows(couple: Kernel, stencil: tuple[Any, ...], boxes: Boxes, dtype: np.dtype, part: float = 1.0) -> Rows | None:
    """The CSR arrays by a kernel that counts the entries of the rows, and then fills them in. part: of the cells that
    it reads."""
    indptr = np.zeros(boxes.box.size + 1, np.int64)
    size = int(part * stencil[0].size)
    # The rows of the parts of one box: columns, entries, and how many there are.
    shape = cores(), int(np.diff(boxes.firsts).max(initial=0)), MOST_COUPLINGS
    room = np.empty(shape, np.int64), np.empty(shape, dtype), np.empty(shape[:2], np.int64)
    launch(size, couple, *stencil, room, False, indptr, np.empty(0, np.int32), np.empty(0, dtype))
    if indptr.min() < 0:
        return None
    np.cumsum(indptr, out=indptr)
    indices, data = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], dtype)
    launch(size, couple, *stencil, room, True, indptr, indices, data)
    return data, indices, indptr


def bounds(box, shape, boxes):  # pragma: no cover
    """The first cell of a box along each side, and the one behind its last."""
    bz, by, bx = box // (boxes[1] * boxes[2]), box // boxes[2] % boxes[1], box % boxes[2]
    z0, z1 = -(-bz * shape[0] // boxes[0]), -(-(bz + 1) * shape[0] // boxes[0])
    y0, y1 = -(-by * shape[1] // boxes[1]), -(-(by + 1) * shape[1] // boxes[1])
    x0, x1 = -(-bx * shape[2] // boxes[2]), -(-(bx + 1) * shape[2] // boxes[2])
    return z0, z1, y0, y1, x0, x1


def phases_of(phase, shape, cells, found):  # pragma: no cover
    """The number of phases in a box, left in `found` in ascending order; the search ends where they do not fit. cells:
    as `bounds` returns them."""
    z0, z1, y0, y1, x0, x1 = cells
    count, latest = 0, np.int64(-1)
    for z in range(z0, z1):
        for y in range(y0, y1):
            row = (z * shape[1] + y) * shape[2]
            for x in range(x0, x1):
                kind = np.int64(phase[row + x])
                if kind == latest:
                    continue
                latest, at = kind, 0
                while at < count and found[at] < kind:
                    at += 1
                if at < count and found[at] == kind:
                    continue
                if count == found.size:
                    return count + 1
                for later in range(count, at, -1):
                    found[later] = found[later - 1]
                found[at] = kind
                count += 1
    return count


def label_cells(phase, shape, cells, found, first, labels, sizes):  # pragma: no cover
    """Number the cells of a box by their phases among those found, from `first` on, and add them to the sizes."""
    z0, z1, y0, y1, x0, x1 = cells
    latest, at = np.int64(-1), 0
    for z in range(z0, z1):
        for y in range(y0, y1):
            row = (z * shape[1] + y) * shape[2]
            for x in range(x0, x1):
                kind = np.int64(phase[row + x])
                if kind != latest:
                    latest, at = kind, 0
                    while found[at] != kind:
                        at += 1
                labels[row + x] = first + at
                sizes[at] += 1


def _renumber(labels, shape, cells, shift):  # pragma: no cover
    z0, z1, y0, y1, x0, x1 = cells
    for z in range(z0, z1):
        for y in range(y0, y1):
            row = (z * shape[1] + y) * shape[2]
            for i in range(row + x0, row + x1):
                labels[i] += shift


@kernel()
def _number(
    taken, phase, shape, boxes, room, moved, before, phases_before, sizes_before,
    fill, starts, labels, box_of, phase_of, sizes,
):  # pragma: no cover  # fmt: skip
    count = boxes[0] * boxes[1] * boxes[2]
    for thread in threads(taken):
        found = room[thread]
        for box in shared(taken, thread, count):
            cells = bounds(np.int64(box), shape, boxes)
            if not moved[box]:
                if not fill:
                    starts[box + 1] = before[box + 1] - before[box]
                    continue
                shift = starts[box] - before[box]
                for part in range(starts[box], starts[box + 1]):
                    box_of[part], phase_of[part] = box, phases_before[part - shift]
                    sizes[part] = sizes_before[part - shift]
                if shift:
                    _renumber(labels, shape, cells, shift)
                continue
            kinds = phases_of(phase, shape, cells, found)
            if not fill:
                starts[box + 1] = kinds if kinds <= MOST_PHASES else REFUSED
                continue
            for at in range(kinds):
                box_of[starts[box] + at], phase_of[starts[box] + at] = box, found[at]
            label_cells(phase, shape, cells, found, starts[box], labels, sizes[starts[box] :])


def _begin(names, values, lengths, first, parts):  # pragma: no cover
    """The rows of the parts of a box, each with its diagonal entry alone."""
    for part in range(parts):
        names[part, 0], values[part, 0], lengths[part] = first + part, 0, 1


def _add(names, values, lengths, part, name, value):  # pragma: no cover
    """Add to an entry of a row; True if there was room for it."""
    at = lengths[part] - 1
    while at >= 0 and names[part, at] != name:
        at -= 1
    if at >= 0:
        values[part, at] += value
    elif lengths[part] < MOST_COUPLINGS:
        names[part, lengths[part]], values[part, lengths[part]] = name, value
        lengths[part] += 1
    else:
        return False
    return True


def _leave(names, values, lengths, first, parts, fill, indptr, indices, data):  # pragma: no cover
    """Store the rows of the parts of a box, or the numbers of their entries."""
    for part in range(parts):
        p = first + part
        if not fill:
            if indptr[p + 1] == 0:
                indptr[p + 1] = lengths[part]
            continue
        for at in range(lengths[part]):
            indices[indptr[p] + at], data[indptr[p] + at] = names[part, at], values[part, at]


@kernel()
def _couple(
    taken, main, lower, strides, labels, shape, boxes, first, room, fill, indptr, indices, data
):  # pragma: no cover
    size = main.size
    for thread in threads(taken):
        names, values, lengths = room[0][thread], room[1][thread], room[2][thread]
        for box in shared(taken, thread, boxes[0] * boxes[1] * boxes[2]):
            parts = first[box + 1] - first[box]
            _begin(names, values, lengths, first[box], parts)
            z0, z1, y0, y1, x0, x1 = bounds(np.int64(box), shape, boxes)
            for z in range(z0, z1):
                for y in range(y0, y1):
                    row = (z * shape[1] + y) * shape[2]
                    for i in range(row + x0, row + x1):
                        part = labels[i] - first[box]
                        values[part, 0] += main[i]
                        for k in range(2 * len(lower)):
                            low, stride, above = lower[k // 2], strides[k // 2], k % 2
                            if (above and i + stride >= size) or (not above and i < stride):
                                continue
                            value = np.conj(low[i + stride]) if above else low[i]
                            if value == 0:
                                continue
                            name = labels[i + stride] if above else labels[i - stride]
                            if not _add(names, values, lengths, part, name, value):
                                indptr[first[box] + part + 1] = REFUSED
            _leave(names, values, lengths, first[box], parts, fill, indptr, indices, data)


def _across(codes, faces, k, stride, above, labels, first, cells, names, values, lengths):  # pragma: no cover
    """Add the faces between a box and its lower or upper neighbour in direction k; True if there was room."""
    z0, z1, y0, y1, x0, x1, ny, nx, shift = cells
    inside, part, name, total = True, np.int64(-1), np.int64(-1), 0.0
    for z in range(z0, z1):
        for y in range(y0, y1):
            row = (z * ny + y) * nx + shift
            for i in range(row + x0, row + x1):
                near = i + stride if above else i - stride
                # Faces between the same two parts mostly follow one another.
                if labels[near] != name or labels[i] - first != part:
                    if part >= 0:
                        values[part, 0] += total
                        inside = _add(names, values, lengths, part, name, -total) and inside
                    part, name, total = labels[i] - first, np.int64(labels[near]), 0.0
                total += faces[(codes[near if above else i] >> (2 * k)) & 3]
    values[part, 0] += total
    return _add(names, values, lengths, part, name, -total) and inside


def _within(codes, faces, strides, labels, first, cells, names, values, lengths):  # pragma: no cover
    """Add the faces between parts of one box."""
    z0, z1, y0, y1, x0, x1, ny, nx, shift = cells
    inside = True
    for z in range(z0, z1):
        for y in range(y0, y1):
            row = (z * ny + y) * nx + shift
            for x in range(x0, x1):
                i = row + x
                for k in range(strides.size):
                    if (x == x0 if k == 0 else y == y0 if k == 1 else z == z0) or labels[i] == labels[i - strides[k]]:
                        continue
                    value, near = faces[(codes[i] >> (2 * k)) & 3], i - strides[k]
                    for here, there in ((labels[i], labels[near]), (labels[near], labels[i])):
                        values[here - first, 0] += value
                        inside = _add(names, values, lengths, here - first, there, -value) and inside
    return inside


def _walls(codes, walls, bits, labels, first, cells, values):  # pragma: no cover
    """Add the wall terms of the cells of a box."""
    z0, z1, y0, y1, x0, x1, ny, nx, shift = cells
    for z in range(z0, z1):
        for y in range(y0, y1):
            row = (z * ny + y) * nx + shift
            for i in range(row + x0, row + x1):
                values[labels[i] - first, 0] += walls[codes[i] >> bits]


def _take(p, q, names, data_before, indices_before, indptr_before, fill, indptr, indices, data):  # pragma: no cover
    """Take row p of E from row q of an earlier one."""
    begin, end = indptr_before[q], indptr_before[q + 1]
    if not fill:
        indptr[p + 1] = end - begin
        return
    for at in range(end - begin):
        indices[indptr[p] + at] = names[indices_before[begin + at]]
        data[indptr[p] + at] = data_before[begin + at]


@kernel()
def _couple_faces(
    taken, codes, faces, walls, strides, labels, shape, boxes, first, shift, stale, first_before, names, data_before,
    indices_before, indptr_before, room, fill, indptr, indices, data,
):  # pragma: no cover  # fmt: skip
    """Count the entries of the rows of E of each box, indptr[part + 1], or REFUSED where they do not fit; or, with
    `fill`, store them.

    Rows of boxes that are not stale are taken from the earlier E. shift: cells before those of the boxes, none of which
    is empty.
    """
    ny, nx, far = shape[1], shape[2], strides.size - 1
    below, above = shift > 0, shift + shape[0] * ny * nx < codes.size
    for thread in threads(taken):
        rows = room[0][thread], room[1][thread], room[2][thread]
        for box in shared(taken, thread, boxes[0] * boxes[1] * boxes[2]):
            start = first[box]
            parts = first[box + 1] - start
            if not stale[box]:
                for part in range(parts):
                    before = first_before[box] + part, names, data_before, indices_before, indptr_before
                    _take(start + part, *before, fill, indptr, indices, data)
                continue
            _begin(*rows, start, parts)
            z0, z1, y0, y1, x0, x1 = bounds(np.int64(box), shape, boxes)
            cells = z0, z1, y0, y1, x0, x1, ny, nx, shift
            inside = True
            # A lower and an upper layer of cells in each direction that has another box, or other rows, behind it.
            if x0 > 0 or (below and far == 0):
                layer = z0, z1, y0, y1, x0, x0 + 1, ny, nx, shift
                inside = _across(codes, faces, 0, strides[0], False, labels, start, layer, *rows) and inside
            if x1 < nx or (above and far == 0):
                layer = z0, z1, y0, y1, x1 - 1, x1, ny, nx, shift
                inside = _across(codes, faces, 0, strides[0], True, labels, start, layer, *rows) and inside
            if y0 > 0 or (below and far == 1):
                layer = z0, z1, y0, y0 + 1, x0, x1, ny, nx, shift
                inside = _across(codes, faces, 1, strides[1], False, labels, start, layer, *rows) and inside
            if y1 < ny or (above and far == 1):
                layer = z0, z1, y1 - 1, y1, x0, x1, ny, nx, shift
                inside = _across(codes, faces, 1, strides[1], True, labels, start, layer, *rows) and inside
            if z0 > 0 or (below and far == 2):
                layer = z0, z0 + 1, y0, y1, x0, x1, ny, nx, shift
                inside = _across(codes, faces, 2, strides[2], False, labels, start, layer, *rows) and inside
            if z1 < shape[0] or (above and far == 2):
                layer = z1 - 1, z1, y0, y1, x0, x1, ny, nx, shift
                inside = _across(codes, faces, 2, strides[2], True, labels, start, layer, *rows) and inside
            if parts > 1:
                inside = _within(codes, faces, strides, labels, start, cells, *rows) and inside
            if z0 == 0 or y0 == 0 or x0 == 0 or z1 == shape[0] or y1 == ny or x1 == nx:
                _walls(codes, walls, 2 * strides.size, labels, start, cells, rows[1])
            if not inside:
                indptr[start + 1] = REFUSED
            _leave(*rows, start, parts, fill, indptr, indices, data)
