"""Tiles: entries of rows in vector registers, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import DTYPES, random_values
from workbench.jit import compiled, tiles
from workbench.jit.threads import launch
from workbench.jit.tiles import widths

TEXT = """
def kernel(taken, x, y, factor, out, wide):
    for i in range(x.shape[0]):
        left, right = take(x, i, 1, {width}), take(y, i, 0, {width})
        total = add_scaled(zeros(out, {width}), factor[i], right)
        put(out, i, 2, add_products(total, conjugated(left), right))
        put(wide, i, 0, add_products(zeros(wide, {width}), widened(left), widened(right)))
"""


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [1, 3, 8, 13])
def test_words_of_tiles_agree_with_numpy(dtype, width):
    rng = np.random.default_rng(width)
    x, y, factor = (random_values(shape, dtype, rng) for shape in ((5, width + 3), (5, width), 5))
    out, wide = np.full((5, width + 4), 7, dtype), np.zeros((5, width), np.result_type(dtype, np.float64))
    launch(x.size, compiled.generated(TEXT.format(width=width)), x, y, factor, out, wide)
    left = x[:, 1 : width + 1]
    np.testing.assert_allclose(out[:, 2:-2], factor[:, None] * y + left.conj() * y, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(wide, left.astype(wide.dtype) * y.astype(wide.dtype), rtol=1e-13, atol=1e-13)
    # The entries next to the tile are left alone.
    assert np.all(out[:, [0, 1, -2, -1]] == 7)


@pytest.mark.parametrize("dtype", DTYPES)
def test_tiles_cover_a_row_by_one_register_or_powers_of_two(dtype):
    one = tiles.REGISTER // np.dtype(dtype).itemsize
    for columns in range(1, 70):
        made = widths(columns, np.dtype(dtype))
        sizes = [width for _, width in made]
        assert [begin for begin, _ in made] == list(np.cumsum([0, *sizes]))[:-1], columns
        assert sum(sizes) == columns
        assert all(width <= 16 and (width <= one or width.bit_count() == 1) for width in sizes), columns
        assert sizes == sorted(sizes, reverse=True), columns


@pytest.mark.parametrize("register", [16, 32, 64])
def test_twenty_columns_are_sixteen_and_four(register, monkeypatch):
    monkeypatch.setattr(tiles, "REGISTER", register)
    assert widths(20, np.dtype(float)) == [(0, 16), (16, 4)]
