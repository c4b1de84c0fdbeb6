"""A level of a coarse system: passes over its matrix, transfers to the next level and back (see `cycles`), and parts
that grow in rounds."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.compiler.words import conj, narrow, sqrt, unrolled, wide
from workbench.devices.bound import Bound, Request
from workbench.devices.coarse import Level, Levels
from workbench.devices.constant import constant
from workbench.devices.host.growth import Csr, grown_parts, in_real_numbers
from workbench.devices.protocol import Device
from workbench.kernel_language.row_kernels import kernel
from workbench.lazy import sparse

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector, Dots

Bind = Callable[[Request], Bound]
"""Binds a kernel to a device."""
PlacedCsr = Sequence[Any]
"""data, indices and indptr, on the host or the device."""
FREE = -1.0
"""The label of a row without a part."""
MIXERS, LOW_BITS = (0x1E3779B1, 0x45D9F3B, 0x27D4EB2F), 0xFFFFFFFF
"""Odd factors below 2^31 that mix the low 32 bits of a number, so that no product leaves 63 bits."""
REACH, SPARSE, SHORTER = 2, 1.5, 0.7
"""Rounds of a turn, the rows of a run of the first one over the size of a part, and those of each next one over those
before: of a dozen such choices these took about the fewest iterations times entries on meshes, networks and lines."""
AT_ONCE = 4
"""Rounds between two looks at the rows that are left; a round changes nothing once all have a part."""


@kernel(sums=2)
def level_pass(
    row, data, indices, starts, one, two, source, other, target, *, based=False, smoothed=False, onto=False
):  # fmt: skip
    """target = E source, with (source, other) and (source, target).

    based: other - E source. smoothed: one source - two E source; onto: added to the target.
    """
    product = 0
    for j in range(starts[row], starts[row + 1]):
        product += data[j] * source[indices[j]]
    value = one * source[row] - two * product if smoothed else (other[row] - product if based else product)
    target[row] = target[row] + value if onto else value
    return conj(wide(source[row])) * wide(other[row]), conj(wide(source[row])) * wide(value)


@kernel()
def level_restriction(row, starts, weights, r, below, *, modes=1):
    """below = W^H r; the rows of a part are consecutive."""
    part, mode = row // modes, row % modes
    value = 0
    for i in range(starts[part], starts[part + 1]):
        value += conj(weights[i * modes + mode]) * r[i]
    below[row] = value


@kernel()
def level_correction(row, parents, weights, below, x, *, modes=1):
    """x = x + W below."""
    value = x[row]
    for mode in range(modes):
        value += weights[row * modes + mode] * below[parents[row] * modes + mode]
    x[row] = value


@kernel()
def level_solution(row, order, scale, x, solved):
    """solved = D^-1/2 x, in the order of the unknowns."""
    solved[order[row]] = wide(scale[row]) * wide(x[row])


@kernel()
def widened(row, r, right):
    """right = r, in the precision of sums."""
    right[row] = wide(r[row])


@kernel(dots=True)
def narrowed(row, solved, r, u):
    """u = solved, in the precision of vectors, with the dot products of r and u."""
    value = narrow(solved[row])
    u[row] = value
    return r[row], value


class LevelOperations(ABC):
    """One level on a device; all vectors have one entry per row, except those of the next level.

    Vectors are in the precision of the level, sums in double precision.
    """

    def __init__(self, bind: Bind, level: Level, scaling: float) -> None:
        dtype, real, modes = level.data.dtype, np.finfo(level.data.dtype).dtype, level.modes
        one, two = (real.type(value) for value in level.smoother)
        fixed = {"data": level.data, "indices": level.indices, "starts": level.indptr, "one": one, "two": two}

        def over_matrix(**form: bool) -> Bound:
            request = Request(level_pass, level.size, dtype, fixed, work=level.indptr, constants=form, summed=not form)
            return bind(request)

        self._energy = over_matrix()
        # The matrix as the device has it.
        fixed |= self._energy.fixed
        self._residual = over_matrix(based=True)
        self._from_zero, self._smooth = (over_matrix(smoothed=True, onto=onto) for onto in (False, True))
        up = {"starts": level.starts, "weights": level.weights}
        parents, form = level.starts.size - 1, {"modes": modes}
        work = level.starts if modes == 1 else np.append(0, np.cumsum(np.repeat(np.diff(level.starts), modes)))
        self._restrict = bind(Request(level_restriction, parents * modes, dtype, up, work, form))
        self._correct = bind(correction(level, scaling))
        self._sums: Dots = None

    def smooth_from_zero(self, b: DeviceVector, x: DeviceVector) -> None:
        """x = a b - b' E b."""
        self._from_zero(b, x)

    def residual(self, b: DeviceVector, x: DeviceVector, r: DeviceVector) -> None:
        """r = b - E x."""
        self._residual(x, b, r)

    def restrict(self, r: DeviceVector, below: DeviceVector) -> None:
        """below = W^H r."""
        self._restrict(r, below)

    def correct(self, x: DeviceVector, below: DeviceVector) -> None:
        """x = x + scaling W below."""
        self._correct(below, x)

    def smooth(self, r: DeviceVector, x: DeviceVector) -> None:
        """x = x + a r - b' E r."""
        self._smooth(r, x)

    def energy(self, p: DeviceVector, r: DeviceVector, s: DeviceVector) -> None:
        """s = E p, and (p, r) and (p, s) for the next step."""
        self._sums = self._energy(p, r, s)

    @abstractmethod
    def first_step(self, p: DeviceVector, s: DeviceVector, b: DeviceVector, x: DeviceVector, r: DeviceVector) -> None:
        """alpha = (p, r)/(p, s), x = alpha p, r = b - alpha s."""

    @abstractmethod
    def orthogonalize(self, z: DeviceVector, s: DeviceVector, p: DeviceVector) -> None:
        """p = z - (s, z)/(p, s) p."""

    @abstractmethod
    def last_step(self, p: DeviceVector, x: DeviceVector) -> None:
        """alpha = (p, r)/(p, s), x = x + alpha p."""


def correction(level: Level, scaling: float) -> Request:
    """The kernel that adds `scaling` W times a vector of the next level, its argument, to one of a level."""
    weights = (scaling * level.weights).astype(level.weights.dtype)
    fixed = {"parents": level.parents, "weights": weights}
    return Request(level_correction, level.size, level.data.dtype, fixed, constants={"modes": level.modes})


def solution(bind: Bind, form: Levels, x: DeviceVector, solved: DeviceVector) -> Bound:
    """A call without arguments: `solved` from the solution x of the first level."""
    fixed = {"order": form.order, "scale": form.scale, "x": x, "solved": solved}
    return bind(Request(level_solution, form.order.size, form.bottom.dtype, fixed))


@kernel()
def seed_labels(row, turn, labels):
    """The number of the row where it is a seed and has no part yet: one row in each run of turn[0], by a hash of the
    run. turn[1]: makes the hash another one."""
    if labels[row] < 0 and is_seed(row, np.int64(turn[0]), np.int64(turn[1])):
        labels[row] = row


def is_seed(row, size, turn):
    """True for the seed of a run of `size` rows."""
    run = row // size
    mixed = run + 1 + MIXERS[2] * turn & LOW_BITS
    for k in unrolled(len(MIXERS)):
        mixed = mixed * MIXERS[k] & LOW_BITS
        mixed = mixed ^ mixed >> 15
    return run * size + mixed % size == row


@kernel()
def coupling_roots(row, data, indices, starts, share, roots):
    """share times the root of the largest -a_ij of a row."""
    most = 0.0
    for j in range(starts[row], starts[row + 1]):
        if indices[j] != row and -data[j] > most:
            most = -data[j]
    roots[row] = share * sqrt(most)


@kernel()
def next_labels(row, data, indices, starts, roots, labels, following, free):
    """The label of a row after a round, and 1 while it has none. roots: couplings of two rows are at least the product.

    Of equal couplings that to the lower label counts.
    """
    label, most = labels[row], 0
    if label < 0:
        for j in range(starts[row], starts[row + 1]):
            k, size = indices[j], -data[j]
            nearer = size > most or (size == most and labels[k] < label)
            # One product of numbers from the host, so that no device rounds otherwise.
            if labels[k] >= 0 and nearer and size >= roots[row] * roots[k]:
                label, most = labels[k], size
    following[row] = label
    free[row] = 1 if label < 0 else 0


def parts_in_rounds(matrix: Csr, size: int, threshold: float, device: Device) -> tuple[np.ndarray, int]:
    """The part 0, 1, .. of each row of a symmetric matrix in double precision, int32 of shape (N,), and their number.

    In a turn one row in each run of some rows, by a hash, is the seed of a part where it has none, and in each of two
    rounds every row without a part joins that of its largest strong coupling to a row with one. The first runs have
    `SPARSE` times `size` rows, those of each turn `SHORTER` times as many as those before, so that parts reach two
    couplings far, and what they leave gets parts of its own. When runs have one row, rounds are repeated until nothing
    changes, and then again along any negative coupling. Strong couplings are those of `grown_parts`, by which rows that
    no seed reaches get parts as well. Sizes vary more than those of `grown_parts`.

    A round reads the parts of the round before alone, and adds nothing up, so that the parts are bit for bit those of
    any device and number of threads.

    Cost: on the device a read of the matrix for each round, of which there are about 14 to 20, and one number to the
    host for two or four of them; memory 32 bytes a row there.

    Source: rounds as in a Voronoi diagram of the graph.
    """
    matrix = in_real_numbers(matrix[0]), *matrix[1:]
    labels, _ = labels_in_rounds(matrix, size, threshold, device)
    return numbered_labels(np.array(device.to_host(labels)), matrix, size, threshold)


def labels_in_rounds(matrix: PlacedCsr, size: int, threshold: float, device: Device) -> tuple[DeviceVector, int]:
    """The row that is the seed of the part of each row, -1 without one, in double precision on the device; and the
    number of rows without one, which are components without a seed. matrix: real, on the host or the device."""
    data, indices, starts = matrix
    rows, dtype, each = starts.size - 1, data.dtype, -(-data.size // max(1, starts.size - 1))
    work = starts if isinstance(starts, np.ndarray) else None
    fixed = {"data": data, "indices": indices, "starts": starts}
    following, free, roots = (device.zeros(rows, dtype) for _ in range(3))
    labels, left = device.copy(device.array(constant(FREE, rows, dtype), dtype)), rows
    request = Request(coupling_roots, rows, dtype, {**fixed, "share": math.sqrt(threshold)}, work, each=each)
    strongest = device.bind(request)
    # The matrix as the device has it.
    fixed |= {name: strongest.fixed[name] for name in fixed}
    strongest(roots)

    def along(bounds: DeviceVector) -> Bound:
        return device.bind(Request(next_labels, rows, dtype, {**fixed, "roots": bounds}, work, each=each))

    def rounds(of: Bound, number: int) -> int:
        nonlocal labels, following
        for _ in range(number):
            of(labels, following, free)
            labels, following = following, labels
        return round(float(device.norm(free)) ** 2)

    strong, seeds = along(roots), device.bind(Request(seed_labels, rows, dtype, {}))
    for turn in turns(size):
        seeds(device.array(np.array(turn), dtype), labels)
        left = rounds(strong, REACH)
        if not left:
            return labels, 0
    for of in (strong, along(device.zeros(rows, dtype))):
        before = -1
        while left and left != before:
            before, left = left, rounds(of, AT_ONCE)
    return labels, left


def turns(size: int) -> list[tuple[float, float]]:
    """The rows of a run in each turn, and its number."""
    found, rows = list[tuple[float, float]](), int(SPARSE * size)
    while rows > 1:
        found.append((float(rows), float(len(found))))
        rows = int(SHORTER * rows)
    return found


def numbered_labels(seeds: np.ndarray, matrix: Csr, size: int, threshold: float) -> tuple[np.ndarray, int]:
    """The parts 0, 1, .. of rows by their seeds, and their number; rows that no seed has reached, with
    -1, get parts of their own."""
    own = seeds == np.arange(seeds.size)
    labels, count = np.where(seeds < 0, -1, (np.cumsum(own) - 1)[seeds.astype(np.int64)]), int(own.sum())
    labels = labels.astype(np.int32)
    rest = np.flatnonzero(labels < 0)
    if rest.size:
        whole = sparse.csr_array(matrix, shape=(labels.size, labels.size))[rest][:, rest]
        labels[rest], more = grown_parts((whole.data, whole.indices, whole.indptr), size, threshold)
        labels[rest] += count
        count += more
    return labels, count
