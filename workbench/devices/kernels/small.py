"""Kernels of one work-group on the small matrices of block methods; their arguments are named as the matrices are.

`state` holds STOPPED, not 0 once the device has stopped and kernels do nothing; COUNTED, the rows kept; and from ACTIVE
on, for every column, whether it has not ended, and the squares of ||r_j|| at or below which, and above which, the
device stops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import NamedTuple

import numpy as np

from workbench.compiler.kinds import real_of
from workbench.compiler.words import barrier, conj, member, members, real, shared_array, sqrt, unrolled
from workbench.devices.kernels.parameters import Sums

STOPPED, COUNTED, ACTIVE = range(3)
AT_ROW, IN_FACTOR, IN_ORTHONORMALIZATION = 1, 2, 3
"""Places where the device stops: a row that may end a column or the run; a matrix without Cholesky factor; columns that
depend on others, which the host has to resolve."""
GROUP = 256
"""Work-items of the group, at least one for each column."""
SQUARES = frozenset({"half", "first", "rho", "C", "before"})
"""The square matrices that only these kernels use."""
_CHOLESKY = {"factor", "pivoted", "again"}
"""Kernels with a Cholesky factor."""
_ZERO_COLUMN, _DEPENDENT, _ROUNDING = 1e-12, 1e-10, 16
"""The bounds of `RankBounds` in double precision, and units of roundoff of a column below which neither is."""


class RankBounds(NamedTuple):
    """The bounds below which columns of a block vector do not count.

    zero: of a norm, relative to the largest. dependent: of a pivot of the Gram matrix with a unit diagonal.

    Rounding in an entry of Q^H M^-1 Q is some units of roundoff of the precision that M^-1 Q is stored in, although the
    sum is not, and s such entries make that of a pivot, a square (Higham 2002, section 10.3; s times the unit roundoff
    is what LAPACK's xPSTRF takes). In norms, it is what is left of a column from which s others are subtracted.
    """

    zero: float
    dependent: float

    @classmethod
    def of(cls, s: int, dtype: np.dtype) -> RankBounds:
        """The bounds for s columns. dtype: of the block vectors."""
        noise = _ROUNDING * s * float(np.finfo(dtype).eps)
        return cls(max(_ZERO_COLUMN, noise), max(_DEPENDENT, noise))


def state_size(s: int) -> int:
    """Numbers in `state`."""
    return ACTIVE + 3 * s


class Step(NamedTuple):
    """A kernel and its constants; annotations: of parameters that have none."""

    function: FunctionType
    constants: Mapping[str, object]
    annotations: Mapping[str, object]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return self.function.__code__.co_varnames[: self.function.__code__.co_argcount]


def small(name: str, s: int, dtype: np.dtype, wide: np.dtype) -> Step:
    """The kernel of that name for s columns. dtype: of the block vectors; wide: of the small matrices."""
    constants: dict[str, object] = {"s": s}
    if name in _CHOLESKY:
        constants["reals"] = real_of(wide)
    if name == "pivoted":
        constants["bounds"] = tuple(RankBounds.of(s, dtype))
    return Step(_STEPS[name], constants, {})


def local_bytes(steps: Sequence[object], s: int, itemsize: int) -> int:
    """Bytes of local memory of the largest of these kernels, for numbers of `itemsize` bytes."""
    return s * s * itemsize + 24 * s if _CHOLESKY & {step for step in steps if isinstance(step, str)} else 0


def keep(s: int, kept: Sequence[str]) -> Step:
    """`keep_row` for matrices of these names. rr and gamma are among them. Where going is, delta must be positive for
    the columns that it names."""
    positive = (kept.index("going"), kept.index("delta")) if "going" in kept else ()
    constants = {"s": s, "rr": kept.index("rr"), "gamma": kept.index("gamma"), "positive": positive}
    return Step(keep_row, constants, {"matrices": (Sums,) * len(kept)})


def lengths(
    state: Sums, delta: Sums, gamma: Sums, rr: Sums, going: Sums, previous: Sums, alpha: Sums, *, s: int
) -> None:
    """The steps alpha = gamma/delta of columns whose residual is not zero."""
    j = member()
    if j < s and real(state[STOPPED]) == 0:
        d, g = real(delta[j]), real(gamma[j])
        goes = real(state[ACTIVE + j]) != 0 and real(rr[j]) != 0
        going[j] = 1 if goes else 0
        previous[j] = g
        alpha[j] = g / d if goes and d > 0 else 0


def ratios(state: Sums, going: Sums, previous: Sums, gamma: Sums, beta: Sums, *, s: int) -> None:
    """beta = gamma/previous."""
    j = member()
    if j < s and real(state[STOPPED]) == 0:
        p = real(previous[j])
        beta[j] = real(gamma[j]) / p if real(going[j]) != 0 and p != 0 else 0


def norms(state: Sums, C: Sums, F: Sums, rr: Sums, gamma: Sums, *, s: int) -> None:
    """gamma = ||c_j||^2 and rr = c_j^H F c_j for the columns of C, F = Q^H Q."""
    j = member()
    if j < s and real(state[STOPPED]) == 0:
        found, squares = real(C.dtype.type(0)), real(C.dtype.type(0))
        for k in range(s):
            c = C[k * s + j]
            found += real(conj(c) * c)
            for m in range(s):
                squares += real(conj(c) * (F[k * s + m] * C[m * s + j]))
        gamma[j], rr[j] = found, squares


def own_norms(state: Sums, C: Sums, rr: Sums, gamma: Sums, *, s: int) -> None:
    """gamma = rr = ||c_j||^2: `norms` without a preconditioner, where F = I."""
    j = member()
    if j < s and real(state[STOPPED]) == 0:
        found = real(C.dtype.type(0))
        for k in range(s):
            found += real(conj(C[k * s + j]) * C[k * s + j])
        gamma[j], rr[j] = found, found


def keep_row(
    state: Sums, rows: Sums, matrices, capacity: int, *, s: int, rr: int, gamma: int, positive: tuple[int, ...]
) -> None:
    """rows[count, k] = the s numbers of matrix k: a row of what the host reads of an iteration. The device stops at a
    row that may end a column, or the run. rr, gamma, positive: which of the matrices these are."""
    ends = shared_array(np.int32, 1)
    j, active, count = member(), real(state[STOPPED]) == 0, int(real(state[COUNTED]))
    if j == 0:
        ends[0] = count + 1 >= capacity
    barrier()
    if active and j < s:
        for k in unrolled(len(matrices)):
            rows[(count * len(matrices) + k) * s + j] = matrices[k][j]
        r, g = real(matrices[rr][j]), real(matrices[gamma][j])
        usual = r > real(state[ACTIVE + s + j]) and r <= real(state[ACTIVE + 2 * s + j]) and g > 0
        if real(state[ACTIVE + j]) != 0 and not usual:
            ends[0] = 1
        if len(positive) > 0:
            going, delta = matrices[positive[0]], matrices[positive[1]]
            if real(going[j]) != 0 and not real(delta[j]) > 0:
                ends[0] = 1
    barrier()
    if active and j == 0:
        state[COUNTED] = count + 1
        if ends[0] != 0:
            state[STOPPED] = 1


def factor(
    state: Sums, delta: Sums, spanned: Sums, C: Sums, half: Sums, inverse: Sums, step: Sums,
    *, s: int, reals: type[np.generic],
) -> None:  # fmt: skip
    """inverse = delta^-1 on the columns that are spanned, step = inverse C."""
    entries, diagonal, scale = shared_array(state.dtype, s * s), shared_array(reals, s), shared_array(reals, s)
    room = entries, diagonal, scale, shared_array(np.int32, s), shared_array(np.int32, s)
    ok, _, _ = _cholesky(state, delta, spanned, room, s=s, halts=IN_FACTOR, bounds=(0, 0), pivots=False)
    first = member() if ok else s * s
    for e in range(first, s * s, members()):
        half[e] = _inverse(room, e, s=s)
    barrier()
    for e in range(first, s * s, members()):
        total = half.dtype.type(0)
        for k in range(s):
            total += half[e // s * s + k] * conj(half[e % s * s + k])
        inverse[e] = total
    barrier()
    for e in range(first, s * s, members()):
        total = half.dtype.type(0)
        if real(state[ACTIVE + e % s]) != 0:
            for k in range(s):
                total += inverse[e // s * s + k] * C[k * s + e % s]
        step[e] = total


def pivoted(
    state: Sums, G: Sums, spanned: Sums, T: Sums, first: Sums, pivot: Sums,
    *, s: int, bounds: RankBounds, reals: type[np.generic],
) -> None:  # fmt: skip
    """T = L^-H for G = L L^H with pivots, and L^H; the device halts where columns depend on others."""
    entries, diagonal, scale = shared_array(state.dtype, s * s), shared_array(reals, s), shared_array(reals, s)
    room = entries, diagonal, scale, shared_array(np.int32, s), shared_array(np.int32, s)
    ok, _, ratio = _cholesky(state, G, spanned, room, s=s, halts=IN_ORTHONORMALIZATION, bounds=bounds, pivots=True)
    for e in range(member() if ok else s * s, s * s, members()):
        T[e] = _inverse(room, e, s=s)
        first[e] = _adjoint(room, e, s=s)
    if ok and member() < s:
        pivot[member()] = ratio


def again(
    state: Sums, G: Sums, spanned: Sums, first: Sums, T: Sums, rho: Sums, C: Sums, before: Sums, coupling: Sums,
    *, s: int, reals: type[np.generic],
) -> None:  # fmt: skip
    """T = L^-H for the new G = L L^H, rho = L^H first, C = rho C, coupling = rho^H."""
    entries, diagonal, scale = shared_array(state.dtype, s * s), shared_array(reals, s), shared_array(reals, s)
    room = entries, diagonal, scale, shared_array(np.int32, s), shared_array(np.int32, s)
    ok, largest, _ = _cholesky(state, G, spanned, room, s=s, halts=0, bounds=(0, 0), pivots=False)
    begin = member() if ok else s * s
    for e in range(begin, s * s, members()):
        T[e] = _inverse(room, e, s=s)
        before[e] = C[e]
        total = rho.dtype.type(0)
        for k in range(s):
            total += _adjoint(room, e // s * s + k, s=s) * first[k * s + e % s]
        rho[e] = total
    barrier()
    for e in range(begin, s * s, members()):
        total = rho.dtype.type(0)
        if real(state[ACTIVE + e % s]) != 0:
            for k in range(s):
                total += rho[e // s * s + k] * before[k * s + e % s]
        C[e] = total
        coupling[e] = conj(rho[e % s * s + e // s])
    # Not a number without a factor.
    if not ok and real(state[STOPPED]) == 0:
        for e in range(member(), s * s, members()):
            C[e] = (largest - largest) / (largest - largest)


def _cholesky(state, matrix, spanned, room, *, s, halts, bounds, pivots):
    """Factor a Hermitian matrix, scaled to a unit diagonal, as L L^H on the columns that are spanned; a work-item has
    one row. L^-1 is left above the diagonal in the array of L.

    pivots: each step takes the column with the largest diagonal that is left; else columns go in order. room: L, what
    is left of the diagonal, the scale, the column that each step has taken, and the step that took each column. bounds:
    see RankBounds. halts: where the device stops without a factor, 0 if it goes on. Returns whether there is one, the
    largest scale, and the least pivot over the largest.
    """
    factor, diagonal, scale, picked, place = room
    j, active, number = member(), real(state[STOPPED]) == 0, scale.dtype.type
    count, ok, largest, least, most = 0, active, number(0), number(1), number(0)
    # Scales, and the columns that take part.
    if j < s:
        d = real(matrix[j * s + j])
        scale[j] = sqrt(d) if d > 0 else 0
        place[j] = -1 if real(spanned[j]) != 0 else -2
        diagonal[j] = 1
    barrier()
    for i in range(s):
        if place[i] == -1:
            count += 1
            largest = max(largest, scale[i])
    for i in range(s):
        ok = ok and (place[i] != -1 or scale[i] > bounds[0] * largest)
    # Column k of L.
    for k in range(count):
        p, best = -1, number(0)
        for i in range(s):
            if place[i] == -1 and (diagonal[i] > best if pivots else p < 0):
                p, best = i, diagonal[i]
        ok = ok and p >= 0 and best > bounds[1]
        least, most = min(least, best), max(most, best)
        barrier()
        if ok and j < s and place[j] == -1:
            root = sqrt(best)
            if j == p:
                factor[j * s + k] = root
                place[j], picked[k] = k, j
            else:
                value = 1 / (scale[j] * scale[p]) * matrix[j * s + p]
                for q in range(k):
                    value -= factor[j * s + q] * conj(factor[p * s + q])
                value = 1 / root * value
                factor[j * s + k] = value
                diagonal[j] -= real(value * conj(value))
        barrier()
    # L^-1, a column each.
    if ok and j < count:
        row = picked[j] * s
        for a in range(j + 1, count):
            here = picked[a] * s
            value = 1 / real(factor[row + j]) * factor[here + j]
            for q in range(j + 1, a):
                value += factor[here + q] * factor[row + q]
            factor[row + a] = -1 / real(factor[here + a]) * value
    barrier()
    if halts != 0 and active and not ok and j == 0:
        state[STOPPED] = halts
    return ok, largest, least / most


def _inverse(room, e, *, s):
    """Entry e of L^-H, for the matrix that was not scaled."""
    factor, scale, place = room[0], room[2], room[4]
    row, column, found = place[e // s], place[e % s], factor.dtype.type(0)
    if row >= 0 and column >= row:
        found = conj(factor[e // s * s + column])
        if column == row:
            found = 1 / real(found)
        found = 1 / scale[e // s] * found
    return found


def _adjoint(room, e, *, s):
    """Entry e of L^H, for the matrix that was not scaled."""
    factor, scale, place = room[0], room[2], room[4]
    row, column, found = place[e // s], place[e % s], factor.dtype.type(0)
    if row >= 0 and column >= row:
        found = scale[e % s] * conj(factor[e % s * s + row])
    return found


_STEPS = {each.__name__: each for each in (lengths, ratios, norms, own_norms, factor, pivoted, again)}
