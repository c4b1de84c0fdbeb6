"""Vectors side by side against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import random_values
from workbench.devices.cpu import Cpu
from workbench.devices.cpu.columns import STRIP
from workbench.jit.threads import CHUNK, WORTH_SHARING
from workbench.lines.types import accumulator

CPU = Cpu()
SHAPES = [(1, 1), (3, 7), (2, STRIP + 1), (5, 3 * CHUNK + 11), (2, WORTH_SHARING + 3), (0, 9)]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_restrict_add_and_subtract(shape, dtype):
    rows, w = random_values(shape, dtype), random_values(shape[1], dtype, 1)
    columns, wide = CPU.columns(rows), accumulator(dtype)
    coarse = columns.restrict(w)
    assert coarse.dtype == wide
    # Products of numbers in single precision are rounded before they are summed in double.
    tolerance = np.finfo(dtype).eps * shape[1] ** 0.5
    np.testing.assert_allclose(coarse, rows.conj().astype(wide) @ w.astype(wide), rtol=0, atol=20 * tolerance)
    a = random_values(shape[0], wide, 2)
    step = a @ rows.astype(wide)
    for move, sign in ((columns.add, 1), (columns.subtract, -1)):
        x = w.copy()
        move(x, a)
        np.testing.assert_allclose(x, w + sign * step, rtol=0, atol=20 * np.finfo(dtype).eps)


def test_single_precision_is_summed_in_double():
    w = np.full(3 * CHUNK, 0.1, np.float32)
    found = CPU.columns(np.ones((1, w.size), np.float32)).restrict(w)
    np.testing.assert_allclose(found, [w.size * float(np.float32(0.1))], rtol=1e-6)
