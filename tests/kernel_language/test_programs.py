"""Random kernels on the cores and on accelerators, against Python, which runs the same text in double precision."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernel_language.defining import function
from tests.kernel_language.programs import ROWS, VECTORS, WRITTEN, Program
from workbench import devices
from workbench.compiler import words
from workbench.devices.bound import Request
from workbench.kernel_language.row_kernels import kernel

DTYPES = ("float32", "float64", "complex64", "complex128")
SEEDS = range(3)
MIXED = "def mixed(one, other):\n    return one + other/(1 + abs(one)) if real(other) > -9 else one*one\n"
"""A helper that names its first argument four times."""
NUMPY = {
    "conj": np.conj,
    "real": np.real,
    "abs": np.abs,
    "sqrt": np.sqrt,
    "wide": lambda value: value,
    "unrolled": range,
}
WORDS = {name: getattr(words, name) for name in ("conj", "real", "sqrt", "wide", "narrow", "inside", "unrolled")}
NUMPY["inside"] = lambda place: 0 <= place < ROWS


def given(seed, dtype):
    """The arguments by name: arrays, and the numbers a and b."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)

    def numbers(*shape):
        values = rng.uniform(-1, 1, shape) + (1j * rng.uniform(-1, 1, shape) if dtype.kind == "c" else 0)
        return values.astype(dtype)

    made = {name: numbers(ROWS) for name in VECTORS}
    made["d"] = rng.uniform(0.3, 1.5, ROWS).astype(np.finfo(dtype).dtype)
    made["k"] = rng.integers(0, 12, ROWS).astype(np.int32)
    return made | {"a": numbers()[()], "b": float(rng.uniform(0.3, 1))}


def by_python(text, arguments):
    """What the text writes, by name, and its sums, in double precision."""
    wide = np.result_type(arguments["x"].dtype, np.float64)
    run = function(text, mixed=function(MIXED, **NUMPY), **NUMPY)
    values = {name: wide.type(0) if name == "none" else value for name, value in arguments.items()}
    for name, value in arguments.items():
        if np.asarray(value).dtype.kind in "fc":
            values[name] = np.asarray(value).astype(np.result_type(np.asarray(value).dtype, np.float64))[()]
    written = {name: np.zeros(ROWS, wide) for name in WRITTEN}
    values["k"] = values["k"].astype(np.int64)
    sums = np.zeros(3, wide)
    for row in range(ROWS):
        sums += run(row, **values, **written)
    return written, sums


def by_device(device, text, arguments):
    of = kernel(sums=3)(function(text, mixed=function(MIXED, **WORDS), **WORDS))
    dtype = arguments["x"].dtype
    bound = device.bind(Request(of, ROWS, dtype, arguments))
    written = {name: device.zeros(ROWS, dtype) for name in bound.free}
    sums = bound(*written.values())
    made = {name: device.to_host(vector) for name, vector in written.items()}
    return made, sums if device.name == "cpu" else sums.to_host()


def check(device, seed, dtype):
    text, arguments = Program(seed).text, given(seed, dtype)
    wanted, sums = by_python(text, arguments)
    found, found_sums = by_device(device, text, arguments)
    eps = np.finfo(dtype).eps
    for name, values in found.items():
        assert values.dtype == dtype
        np.testing.assert_allclose(
            values, wanted[name], rtol=0, atol=500 * eps * np.abs(wanted[name]).max(), err_msg=text
        )
    np.testing.assert_allclose(found_sums, sums, rtol=0, atol=500 * eps * ROWS * np.abs(sums).max(), err_msg=text)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", SEEDS)
def test_on_the_cores(seed, dtype):
    check(devices.device("cpu"), seed, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", SEEDS)
def test_on_accelerators(accelerator, seed, dtype):
    check(accelerator, seed, dtype)
