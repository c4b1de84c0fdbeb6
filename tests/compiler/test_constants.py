"""Constants of kernels and helpers, loops that are unrolled, arrays that belong to a thread."""

from __future__ import annotations

import numpy as np
import pytest

from tests.compiler.checking import check
from tests.conftest import random_values
from workbench.compiler.words import (
    add_products,
    conjugated,
    filled,
    local,
    put,
    shared,
    take,
    threads,
    unrolled,
    zeros,
)
from workbench.jit import compiled
from workbench.jit.compiled import kernel
from workbench.jit.threads import launch


def part(x, y, i, column, *, width, conjugate):
    """A product of tiles, and a variable whose kind depends on the constants."""
    tile = take(x, i, column, width)
    if conjugate:
        tile = conjugated(tile)
    return add_products(zeros(x, width), tile, take(y, i, column, width))


def added(total, tile, x, *, width):
    return add_products(total, filled(x, width, 1), tile)


@kernel()
def gram(taken, x, y, parts, *, tiles, conjugate):
    for thread in threads(taken):
        for chunk in shared(taken, thread, parts.shape[0]):
            sums = []
            for _, width in tiles:
                sums += [zeros(x, width)]
            for i in range(x.shape[0] * chunk // parts.shape[0], x.shape[0] * (chunk + 1) // parts.shape[0]):
                now = []
                for column, width in tiles:
                    now += [part(x, y, i, column, width=width, conjugate=conjugate)]
                news = []
                for k in unrolled(len(tiles)):
                    news += [added(sums[k], now[k], x, width=tiles[k][1])]
                sums = news
            for k in unrolled(len(tiles)):
                put(parts, chunk, tiles[k][0], sums[k])


@kernel()
def counted(taken, x, out, *, kinds, scale, wide):
    for which, number in kinds:
        value = wide(x[which])
        for k in unrolled(3):
            if which > k - 1:
                value = value * scale
        out[which] += value + number
    for _, _, k in ((0, 0, 1), (9, 9, 2)):
        out[k] += 1
    out[k] += 5
    for begin, more in ((2, 1), (x[0], 3), (5, 4)):
        out[2] += begin * more
    out[2] += begin
    for k, more in ((0, 1), (1, 2)):
        k += more
        out[k] -= 1
    out[3] = k * len(kinds)


@kernel("contract")
def sorted_rows(taken, x, out, *, count, dtype):
    room, places = local(x.dtype, count), local(np.int32, count)
    for i in range(x.shape[0]):
        for k in range(count):
            room[k], places[k] = x[i, k], k
        ordered(room, places)
        for k in range(count):
            out[i, k] = room[k]
        tail = room[1:]
        out[i, 0] += dtype(tail[tail.size - 1]) + places[0] + places[count - 1]


def ordered(room, places):
    """Sort numbers by their real parts, with their places."""
    for last in range(room.size - 1, 0, -1):
        for k in range(last):
            if room[k].real > room[k + 1].real:
                room[k], room[k + 1] = room[k + 1], room[k]
                places[k], places[k + 1] = places[k + 1], places[k]


@pytest.mark.parametrize(("dtype", "conjugate"), [("float64", False), ("float32", True), ("complex128", True)])
def test_tiles_of_constant_widths(dtype, conjugate):
    rng = np.random.default_rng(1)
    x, y = (random_values((40, 5), dtype, rng) for _ in range(2))
    parts = np.zeros((3, 5), dtype)
    check(gram.of(tiles=((0, 4), (4, 1)), conjugate=conjugate), x, y, parts, rtol=1e-5 if dtype == "float32" else 1e-14)
    np.testing.assert_allclose(parts.sum(0), ((x.conj() if conjugate else x) * y).sum(0), rtol=1e-4)


def test_constants_decide_and_names_keep_their_last_values():
    check(counted.of(kinds=((1, 0.5), (0, 2)), scale=3, wide=np.float64), np.arange(3.0, 6.0), np.zeros(4))


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_arrays_of_a_thread(dtype):
    x = random_values((20, 6), dtype, np.random.default_rng(2))
    check(sorted_rows.of(count=6, dtype=np.dtype(dtype)), x, np.zeros_like(x))


def test_entries_of_tuples_are_set():
    text = """
def kernel(taken, x, out):
    three = [0.0] * 3
    three[1] = x[0]
    three[-1] += 2
    for k in unrolled(2):
        three[k] += x[1]
    three[0] = three[1] + three[2]
    for i in range(4):
        three[2] += three[0]
    out[0], out[1], out[2] = three
"""
    out = np.zeros(3)
    launch(1, compiled.generated(text), np.array([3.0, 5.0]), out)
    assert list(out) == [10, 8, 42]


def test_equal_constants_give_one_kernel():
    made = counted.of(kinds=((1, 2),), scale=1, wide=np.float32)
    assert made is counted.of(scale=np.int8(1), wide=np.dtype("f4"), kinds=((1, np.int64(2)),))
    kinds = compiled.kinds_of((np.zeros((1, 16), np.int64), np.zeros(3)))
    assert counted.of(kinds=(), scale=np.float64(0.5), wide=np.float32) is counted.of(
        kinds=(), scale=0.5, wide=np.float32
    )
    others = [counted.of(kinds=((1, 2),), scale=scale, wide=np.float32) for scale in (1.0, True, 2, 0.0, -0.0)]
    assert len({made, *others}) == 6
    assert len({each.key(kinds) for each in (made, *others)}) == 6
