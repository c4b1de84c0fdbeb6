"""What the grammar of kernels has, by machine code and by Python."""

from __future__ import annotations

import cmath

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.compiler import checking
from tests.compiler.interpreted import copied, run
from tests.conftest import random_values
from workbench.compiler.llvm import llvm_text
from workbench.compiler.reading import Kernel
from workbench.compiler.source import source_of_text
from workbench.jit import c_abi, compiled, linking, pool
from workbench.jit.threads import launch
from workbench.jit.work_stealing import counters

INTEGERS = """
def kernel(taken, a, b, out):
    for i in range(a.size):
        one, two = a[i], b[i]
        out[i, 0], out[i, 1] = one // two, one % two
        out[i, 2] = (one << 3) | (two & 5) ^ (one >> 1)
        out[i, 3] = min(one, two, 4) - max(one, -two)
        out[i, 4] = abs(two) if one < two or two == 3 else -two
        out[i, 5] = (one < two) + (one >= two) * 2 + (not one) * 4
        out[i, 6] = one * two - 7 * (one + 1)
        out[i, 7] = -3 <= one < 3
        out[i, 8], out[i, 9] = one // 4, one % 8
"""
NUMBERS = """
def kernel(taken, x, y, scale, out):
    for i in range(x.size):
        total = 0
        for k in range(i, -1, -2):
            if k == 5:
                continue
            total += x[k]*np.conj(y[i]) - scale*x[i]
            if k < 2:
                break
        out[i] = -total if x[i] == y[i] or i % 3 else total + 2*x[i]
        out[i] /= y[i]
"""
SLICES = """
def kernel(taken, x, places, pair, out):
    n = x.shape[0]
    for i in range(places.size):
        row, part = x[i % n], x[i % n, places[i]:5]
        k = 0
        while k < part.size and part[k] != 0:
            out[i] += part[k] + row[-1] + pair[0][i] + pair[i % 2][0]
            k += 1
        beyond = row[places[i]:]
        for k in range(beyond.size):
            beyond[k] += 1
        last = x[n - 1]
        last[:2] = i
        first, second = x[0, 2:4]
        out[i] += first**3 - second**2
    total(x, out[:x.shape[1]])
"""
TRUTHS = """
def kernel(taken, seen, wanted, small, out):
    for i in range(seen.size):
        both = seen[i] and wanted
        out[i] = (both | (i > 3)) == (small[i] > 100)
        if small[i] and not both or i == 2:
            seen[i] = small[i] + small[i - i // 2] > 300
        either = not (both and i > 5) or i == 7 and seen[i]
        k = 0
        while k < i and not (seen[k] or small[k] > 200 and either):
            k += 1
        out[i] += k if (either or k > 3) and not (k == 5 and both) else -k
"""
TUPLES = """
def kernel(taken, x, y, out):
    for i in range(x.size):
        a, b = x[i], y[i]
        a, b = b, a
        pair = a, b
        for sign, name in ((1, 0), (-1, 1)):
            if name:
                out[i] += sign * pair[name]
            else:
                out[i] += 2 * sign * pair[name]
        low, high = min(a, b, 0.5), max(a, b)
        found = (low, high)
        found = (high, low) if a > b and x[(i + 1) % x.size] > 0 else found
        out[i] += 10 * found[0] + found[1] + len(found)
        three = (0.0,) * 3
        three[1] = a
        out[i] += three[1] + three[2] + np.sqrt(abs(a)) + math.copysign(b, a)
"""
SHARED = """
def kernel(taken, x, parts, sums):
    sums[0] = 1
    n = parts.shape[0]
    for thread in threads(taken):
        for chunk in shared(taken, thread, n):
            for i in range(x.size * chunk // n, x.size * (chunk + 1) // n):
                parts[chunk, 0] += at(x, i)
                set_at(parts, 2*chunk + 1, quotient(i, 3) + remainder(i, 3))
    total(parts, sums)
"""


def check(text, *arguments, rtol=0.0):
    """Compare a text with Python."""
    checking.check(compiled.generated(text), *arguments, rtol=rtol)


@pytest.mark.parametrize(
    "dtypes",
    [(np.int64, np.int64), (np.int32, np.int64), (np.int8, np.int16), (np.uint32, np.int64), (np.uint8, np.int8)],
)
def test_integers(dtypes):
    rng = np.random.default_rng(1)
    a = rng.integers(0 if dtypes[0]().dtype.kind == "u" else -9, 9, 200).astype(dtypes[0])
    b = rng.integers(-9, 9, 200).astype(dtypes[1])
    b[b == 0] = 3
    out, theirs = np.zeros((200, 10), np.int64), np.zeros((200, 10), np.int64)
    kernel = compiled.generated(INTEGERS)
    # In registers integers have 64 bits and a sign.
    run(kernel, (a.astype(np.int64), b.astype(np.int64), theirs))
    for launched in checking.launched(kernel, a, b, out):
        np.testing.assert_array_equal(launched[2], theirs)


@given(st.integers(-(2**63) + 1, 2**63 - 1), st.integers(-(2**31), 2**31 - 1))
def test_quotients_are_rounded_down(a, b):
    out = np.zeros(2, np.int64)
    text = "def kernel(taken, x, y, out):\n    out[0], out[1] = x[0] // y[0], x[0] % y[0]\n"
    launch(1, compiled.generated(text), np.array([a]), np.array([b]), out)
    assert list(out) == ([a // b, a % b] if b else [0, 0])


def test_division_by_zero_is_that_of_numpy():
    text = "def kernel(taken, x, k, out):\n    out[0], out[1], out[2] = x[0]/x[1], k[0]//k[1], k[0]/k[1]\n"
    out = np.ones(3)
    launch(1, compiled.generated(text), np.array([1.0, 0]), np.array([1, 0]), out)
    assert list(out) == [np.inf, 0, np.inf]


@pytest.mark.parametrize(
    ("dtype", "scale"),
    [
        *[("float32", 2), ("float32", 0.5), ("float64", np.float32(0.5)), ("float64", 2)],
        *[("complex64", np.float32(0.5)), ("complex64", 0.5), ("complex128", 2), ("complex128", 0.5)],
    ],
)
def test_numbers_of_all_types(dtype, scale):
    rng = np.random.default_rng(2)
    x, y = random_values(30, dtype, rng), random_values(30, dtype, rng)
    x[4] = y[4]
    check(NUMBERS, x, y, scale, np.zeros(30, dtype), rtol=1e-4 if dtype in ("float32", "complex64") else 1e-12)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_quotients_neither_overflow_nor_underflow(dtype):
    most = np.finfo(dtype).max ** 0.7
    x = np.array([1 + 1j, most, most * 1j, 1 / most, 3 - 1j]).astype(dtype)
    y = np.array([1e-3j, most + most * 1j, most, (1 + 1j) / most, 0]).astype(dtype)
    out = np.zeros(5, dtype)
    launch(
        1,
        compiled.generated("def kernel(taken, x, y, out):\n    for i in range(5):\n        out[i] = x[i]/y[i]\n"),
        x,
        y,
        out,
    )
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(out[:4], x[:4] / y[:4], rtol=1e-6 if dtype == "complex64" else 1e-14)
    assert not np.isfinite(out[4])


def test_slices_and_tuples():
    rng = np.random.default_rng(3)
    pair = rng.standard_normal(24), rng.standard_normal(24)
    check(SLICES, rng.standard_normal((5, 7)), rng.integers(0, 5, 24), pair, np.zeros(24), rtol=1e-12)


def test_tuples_and_constants():
    rng = np.random.default_rng(6)
    text = (
        TUPLES.replace("math.copysign", "np.copysign").replace("        three[1] = a\n", "").replace(" + three[1]", "")
    )
    check(text, rng.standard_normal(50), rng.standard_normal(50), np.zeros(50), rtol=1e-12)


TURNED = """
def kernel(taken, x, pairs):
    for i in range(x.size):
        z, w = x[i], 0j
        for _ in range(3):
            z = z*z - w*z
            z, w = w + z, z - 2*w
        x[i] = np.complex128(x[i])*z - w
        one, two = pairs[i]
        one, two = two, one
        pairs[i, 0], pairs[i, 1] = one + two, pairs[i, 0]
"""


def test_parts_of_a_number_and_several_names_are_set_together():
    """The imaginary part of z*z needs the real part from before the assignment."""
    rng = np.random.default_rng(7)
    check(TURNED, random_values(20, "complex128", rng), random_values(40, "complex128", rng).reshape(20, 2), rtol=1e-13)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_moduli_and_roots_are_right_at_all_scales(dtype):
    most, least = np.finfo(dtype).max, np.finfo(dtype).tiny
    parts = [0, -0.0, 1, -2, most / 2, -most / 2, least, -least, np.inf]
    x = np.array([complex(a, b) for a in parts for b in parts]).astype(dtype)
    moduli, roots = np.zeros(x.size, np.finfo(dtype).dtype), np.zeros(x.size, dtype)
    text = "def kernel(taken, x, moduli, roots):\n    for i in range(x.size):\n"
    launch(1, compiled.generated(text + "        moduli[i], roots[i] = abs(x[i]), np.sqrt(x[i])\n"), x, moduli, roots)
    np.testing.assert_allclose(moduli, np.abs(x), rtol=4 * np.finfo(dtype).eps)
    finite = np.isfinite(x)
    expected = np.array([cmath.sqrt(each) for each in x[finite]])
    np.testing.assert_allclose(roots[finite], expected, rtol=8 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(np.signbit(roots[finite].imag), np.signbit(expected.imag))


def test_truths():
    rng = np.random.default_rng(4)
    seen, small = rng.integers(0, 2, 20).astype(bool), rng.integers(0, 255, 20).astype(np.uint8)
    out, theirs = np.zeros(20), np.zeros(20)
    kernel, copies = compiled.generated(TRUTHS), seen.copy()
    run(kernel, (copies, True, small.astype(int), theirs))
    for launched in checking.launched(kernel, seen, True, small, out):
        np.testing.assert_array_equal(launched[0], copies)
        np.testing.assert_array_equal(launched[3], theirs)


def test_chunks_are_shared_and_summed():
    check(SHARED, np.random.default_rng(5).standard_normal(100), np.zeros((7, 2)), np.zeros(2), rtol=1e-13)
    if pool.threads < 3:
        pool.start(linking.linker(), 3)
    for threads in (1, 3):
        x, parts, sums = np.random.default_rng(5).standard_normal(100), np.zeros((7, 2)), np.zeros(2)
        kernel, theirs = compiled.generated(SHARED), copied((x, parts, sums))
        kinds = compiled.kinds_of((counters(threads), x, parts, sums))
        assert not kernel.compile(kinds).launch(counters(threads), (x, parts, sums))
        run(kernel, theirs, threads)
        np.testing.assert_allclose(parts, theirs[1], rtol=1e-13)
        np.testing.assert_allclose(sums, theirs[2], rtol=1e-13)


def printed(text, *arguments):
    """LLVM's text of a kernel."""
    kinds = compiled.kinds_of((counters(1), *arguments))
    source = source_of_text(text, "a text", compiled.VOCABULARY, ())
    made = Kernel(source, tuple(map(c_abi.in_registers, kinds[1:])))
    return llvm_text(made, "worker", c_abi.arguments_of(kinds), c_abi.LAYOUT)


def test_conditions_jump_as_soon_as_their_answer_is_known():
    """A bit that is tested later becomes a choice between values, for which everything after it waits."""
    text = "def kernel(taken, x, out):\n    if x[0] > 0 and (x[1] > 0 or not x[2] > 0):\n        out[0] = 1\n"
    llvm = printed(text, np.zeros(3), np.zeros(3))
    assert llvm.count("br i1 %") == 4  # Three comparisons, and whether this thread is the last.
    assert "phi i1" not in llvm
    assert "store i1" not in llvm


FORM = """
def kernel(turns, x, y):
    y[1] = x[0]
    n = x.size
    for lane in threads(turns):
        y[lane] = n
    y[0] = n
"""


def test_what_threads_do_together_stands_apart_from_what_one_does():
    source = source_of_text(FORM, "a text", compiled.VOCABULARY, ())
    kinds = (c_abi.in_registers(c_abi.ArrayOf(np.dtype(float), 1, writeable=True)),) * 2
    phases = Kernel(source, kinds).phases
    assert (len(phases.first), phases.thread, len(phases.after)) == (1, "lane", 1)
    source = source_of_text(FORM.replace("y[1] = x[0]", "m = x[0]"), "a text", compiled.VOCABULARY, ())
    assert not Kernel(source, kinds).phases.first
