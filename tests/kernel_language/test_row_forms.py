"""Kernels of rows for the types of their arguments: what is used, and how; operations; texts for accelerators."""

from __future__ import annotations

import numpy as np
import pytest

from tests.devices.cuda.test_nvcc import Recorder
from workbench.compiler.words import inside, unrolled, wide
from workbench.devices.accelerator.device import Accelerator
from workbench.devices.bound import Request
from workbench.devices.ops.csr import csr
from workbench.kernel_language.row_kernels import kernel

ROWS = 12
MATRIX = {
    "data": np.ones(ROWS),
    "indices": np.arange(ROWS, dtype=np.int32),
    "starts": np.arange(ROWS + 1, dtype=np.int32),
}


@kernel(halo="steps[bands - 1]")
def banded(row, lower, steps, x, y, *, bands, scaled=False):
    value = 2 * x[row]
    for k in unrolled(bands):
        if inside(row - steps[k]):
            value += lower[k][row] * x[row - steps[k]]
    if scaled:
        value *= 0.5
    y[row] = value


@kernel()
def scaled_row(row, x, y, scale, *, scaled=False):
    y[row] = x[row] * scale[row] if scaled else x[row]


@kernel()
def of_two_kinds(row, d, x, y):
    y[row] = x[row] * d[row] + 2 * x[row]


def form(of, dtype, fixed=None, **more):
    request = Request(of, ROWS, np.dtype(dtype), fixed or {}, **more)
    return request.form(request.fixed, np.dtype(np.result_type(dtype, float)))


def text_of(request):
    """The kernel of a request on a device without hardware."""
    texts = []

    class Keeping(Recorder):
        def compile(self, prelude, kernel):
            texts.append(kernel.text)
            return super().compile(prelude, kernel)

    Accelerator(Keeping()).bind(request)
    return texts[-1]


def of_csr(dtype, **more):
    fixed = MATRIX | {"data": np.ones(ROWS, dtype)}
    return Request(csr, ROWS, np.dtype(dtype), fixed, work=MATRIX["starts"], hints={"items_per_row": 1}, **more)


def of_bands(dtype, bands, **constants):
    fixed = {f"lower_{k}": np.ones(ROWS, dtype) for k in range(bands)}
    fixed |= {f"steps_{k}": np.int64(k + 1) for k in range(bands)}
    numbered = {"lower": bands, "steps": bands}
    return Request(banded, ROWS, np.dtype(dtype), fixed, constants={"bands": bands, **constants}, numbered=numbered)


def test_a_constant_may_decide_an_argument_away():
    assert list(form(scaled_row, float).arguments) == ["x", "y"]
    assert list(form(scaled_row, float, constants={"scaled": True}).arguments) == ["x", "y", "scale"]


def test_what_is_read_and_written():
    found = form(csr, float, MATRIX, constants={"onto": True}, summed=False).arguments
    assert (found["y"].read, found["y"].written, found["x"].written) == (True, True, False)
    assert not form(csr, float, MATRIX, summed=False).arguments["y"].read
    assert "base" not in found


def test_an_argument_that_only_the_halo_needs_is_given():
    @kernel(halo="reach")
    def one(row, reach, x, y):
        y[row] = x[row]

    assert list(form(one, float, {"reach": np.int64(2)}).arguments) == ["reach", "x", "y"]


@pytest.mark.parametrize(("scaled", "operations"), [(False, 5), (True, 6)])
def test_operations_of_a_row_with_all_its_neighbours(scaled, operations):
    request = of_bands("float32", 2, scaled=scaled)
    assert request.form(request.fixed, np.dtype(float)).flops(1) == operations


def test_a_real_factor_of_a_complex_number_stays_real():
    assert form(of_two_kinds, "complex64", {"d": np.ones(ROWS, "float32")}).flops(1) == 6


def test_operations_of_rows_of_block_vectors():
    made = form(csr, float, MATRIX, columns=6, blocks=("x", "y"), summed=False)
    assert made.flops(7) == 2 * 6 * 7
    assert made.blocks == ["x", "y"]
    assert form(csr, float, MATRIX, columns=1, blocks=("x", "y"), summed=False).blocks == []


def test_sums_may_be_left_out():
    assert form(csr, float, MATRIX).sums == 3
    assert form(csr, float, MATRIX, summed=False).sums == 0
    assert "SHARED" not in text_of(of_csr(float, summed=False))


def test_arrays_have_their_types_and_indices_64_bits():
    text = text_of(of_csr("float32"))
    assert "GLOBAL float* RESTRICT arguments_0" in text
    assert "GLOBAL int* RESTRICT" in text
    assert "(I64)indices_0" in text


def test_a_literal_takes_the_precision_of_vectors():
    assert "(2.0f * x_0[row_])" in text_of(of_bands("float32", 1))


def test_rows_that_have_all_neighbours_are_not_tested():
    helpers = text_of(of_bands("float64", 2)).split("DEVICE ")
    first, second = (part for part in helpers if part.startswith("void banded"))
    assert ("if" in first, second.count("if (")) == (False, 2)


def test_the_precision_of_sums():
    @kernel(sums=1)
    def one(row, x):
        return (wide(x[row]) * x[row],)

    text = text_of(Request(one, ROWS, np.dtype("float32"), {}))
    assert "((double)x_0[row_] * (double)x_0[row_])" in text.replace("(double)(x_0[row_])", "(double)x_0[row_]")
