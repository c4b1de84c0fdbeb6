"""Kernels of rows get the arguments that their text names, on every device as in NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.conftest import refusal
from workbench.compiler.words import inside
from workbench.devices.accelerator.block_algebra import BlockAlgebra
from workbench.devices.bound import Request
from workbench.devices.kernels.block_algebra import GRAM_GROUP
from workbench.kernel_language.row_kernels import kernel
from workbench.lines.block_passes import BlockPass, Term, Update

X = np.arange(1.0, 8.0)


def result(device, of, *free, fixed=None, dtype="float64", **more):
    """What a kernel stores into y, its last argument."""
    bound = device.bind(Request(of, X.size, np.dtype(dtype), fixed or {}, **more))
    y = device.to_device(np.zeros(X.size, dtype))
    bound(*map(device.to_device, free), y)
    return device.to_host(y)


@kernel()
def times_number(row, number, x, y):
    y[row] = x[row] * number


NUMBERS = [True, np.bool_(True), 3, np.int32(-3), np.uint8(200), np.int64(2**40), 2.5, np.float32(0.5)]


@pytest.mark.parametrize("number", [*NUMBERS, 1 + 2j, np.complex64(1 + 2j)], ids=lambda one: f"{type(one).__name__}")
def test_numbers_of_every_type(device, number):
    dtype = "complex128" if np.iscomplexobj(number) else "float64"
    found = result(device, times_number, X.astype(dtype), fixed={"number": number}, dtype=dtype)
    np.testing.assert_array_equal(found, X * number)


@kernel()
def of_lengths(row, table, x, y):
    y[row] = len(x) * x[-1]
    for k in range(table.size):
        y[row] += table[k] * table[-1]


def test_lengths_of_arrays(device):
    table = np.arange(5.0)
    found = result(device, of_lengths, X, fixed={"table": table})
    np.testing.assert_array_equal(found, np.full(X.size, X.size * X[-1] + table.sum() * table[-1]))


@kernel()
def with_sign(row, x, y, *, number):
    y[row] = math.copysign(x[row], number)


def test_equal_constants_of_other_types_are_others(device):
    for number in (0.0, -0.0, 0):
        found = result(device, with_sign, X, constants={"number": number})
        np.testing.assert_array_equal(found, np.copysign(X, number))


@kernel()
def half(row, T, kernel, max, sum_, x_0, T_, double__, y):
    y[row] = T[row] + kernel * max + sum_ * x_0 + T_ + double__


def test_names_of_kernels_and_arguments_that_are_words_of_c(device):
    names = ("kernel", "max", "sum_", "x_0", "T_", "double__")
    found = result(device, half, X, fixed={name: k + 1 for k, name in enumerate(names)})
    np.testing.assert_array_equal(found, X + 1 * 2 + 3 * 4 + 5 + 6)


@kernel(halo="1")
def with_ghost(row, ghost, x, y):
    y[row] = x[row - 1] if inside(row - 1) else ghost[0]


@kernel()
def with_ghost_anywhere(row, ghost, x, y):
    y[row] = x[row - 1] if inside(row - 1) else ghost[0]


@pytest.mark.parametrize("of", [with_ghost, with_ghost_anywhere])
def test_an_argument_that_only_rows_at_the_ends_need(device, of):
    found = result(device, of, X, fixed={"ghost": np.array([5.0])})
    np.testing.assert_array_equal(found, [5.0, *X[:-1]])


def from_place(array, place):
    return array[place:]


def exchanged(one, other):
    return other, one


@kernel()
def by_returned_arrays(row, x, w, y):
    target, source = exchanged(from_place(w, 0), from_place(y, row))
    target[0] = source[row] + from_place(x, row)[0]


def test_arrays_that_helpers_return(device):
    np.testing.assert_array_equal(result(device, by_returned_arrays, X, 2 * X), 3 * X)
    request = Request(by_returned_arrays, X.size, np.dtype(float), {})
    found = request.form({}, np.dtype(float)).arguments
    assert [(name, one.read, one.written) for name, one in found.items()] == [
        ("x", True, False),
        ("w", True, False),
        ("y", False, True),
    ]


@kernel()
def doubled(row, x, y):
    y[row] = 2 * x[row]


def test_more_columns_than_a_group_has_work_items_are_refused(accelerator):
    if accelerator.layout.chunked:
        pytest.skip("on processors a work-item computes whole rows")
    most = accelerator.layout.group
    request = Request(doubled, X.size, np.dtype(float), {}, columns=most + 1, blocks=("x", "y"))
    sentence = f"block vectors of {most + 1} columns: a kernel of device {accelerator.name} takes at most {most}; "
    assert refusal(accelerator.bind, request).startswith(sentence)


def test_passes_of_more_columns_than_work_items_are_refused(accelerator):
    X = accelerator.zero_block(3, GRAM_GROUP + 1, np.dtype(float))
    work = BlockPass((Update("X", (Term(1, "X"), Term(1, "X"))),))
    assert f"takes at most {GRAM_GROUP}; " in refusal(BlockAlgebra(accelerator).fused, work, {"X": X}, {})
