"""The front end for the texts of kernels, against numba's own: the same results, bit by bit, or it is left to numba."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from tests.conftest import random_values
from workbench.jit import by_front_end, by_numba, by_threads, compiled, linking
from workbench.jit.front_end import UnsupportedError
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
"""
SLICES = """
def kernel(taken, x, places, pair, out):
    n = x.shape[0]
    for i in range(places.size):
        row, part = x[i % n], x[i % n, places[i]:i - 1]
        k = 0
        while k < part.size and part[k] != 0:
            out[i] += part[k] + row[-1] + pair[0][i] + pair[i % 2][0]
            k += 1
        beyond = row[places[i]:]
        for k in range(beyond.size):
            beyond[k] += 1
    total(x, out[:x.shape[1]])
"""
TRUTHS = """
def kernel(taken, seen, wanted, small, out):
    for i in range(seen.size):
        both = seen[i] and wanted
        out[i] = (both | (i > 3)) == (small[i] > 100)
        if small[i] and not both or i == 2:
            seen[i] = small[i] + small[i - 1] > 300
        either = not (both and i > 5) or i == 7 and seen[i]
        k = 0
        while k < i and not (seen[k] or small[k] > 200 and either):
            k += 1
        out[i] += k if (either or k > 3) and not (k == 5 and both) else -k
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


def by_both(text, *arguments, **options):
    """The arguments after the kernel by each of the two ways, and whether it failed."""
    made = []
    for maker in (by_front_end, by_numba):
        copies = tuple(map(copied, arguments))
        taken = counters(1)
        kinds = compiled.kinds_of((taken, *copies))
        source = compiled.Source(compiled.generated(text).source.module, "kernel", text, tuple(options.items()))
        failed = linking.link(compiled.compiled_bytes(source, kinds, (maker,)), kinds)(taken, copies)
        made.append((failed, copies))
    return made


def copied(argument):
    return (
        tuple(map(copied, argument)) if isinstance(argument, tuple) else getattr(argument, "copy", lambda: argument)()
    )


def check(text, *arguments, **options):
    (failed, ours), (failed_there, theirs) = by_both(text, *arguments, **options)
    assert failed == failed_there
    for one, other in zip(ours, theirs, strict=True):
        if isinstance(one, np.ndarray):
            np.testing.assert_array_equal(one, other)
    return failed


@pytest.mark.parametrize(
    ("dtypes", "error_model"),
    [
        *[((np.int64, np.int64), "python"), ((np.int64, np.int64), "numpy"), ((np.int32, np.int64), "python")],
        *[((np.int8, np.int16), "numpy"), ((np.uint32, np.int64), "python")],
    ],
)
def test_integers(dtypes, error_model):
    rng = np.random.default_rng(1)
    low = 0 if dtypes[0] == np.uint32 else -9
    a, b = rng.integers(low, 9, 200).astype(dtypes[0]), rng.integers(-9, 9, 200).astype(dtypes[1])
    b[b == 0] = 3
    assert not check(INTEGERS, a, b, np.zeros((200, 8), np.int64), error_model=error_model)


def test_division_by_zero_is_that_of_the_error_model():
    text = "def kernel(taken, x, k, out):\n    for i in threads(taken):\n        out[:2][i] = x[0]/x[1] + k[0]//k[1]\n"
    arguments = np.array([1.0, 0]), np.array([1, 0]), np.zeros(2)
    assert check(text, *arguments)
    assert not check(text, *arguments, error_model="numpy")


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
    check(NUMBERS, x, y, scale, np.zeros(30, dtype))


def test_slices_and_tuples():
    rng = np.random.default_rng(3)
    pair = rng.standard_normal(24), rng.standard_normal(24)
    check(SLICES, rng.standard_normal((5, 7)), rng.integers(-9, 9, 24), pair, np.zeros(24))


def test_truths():
    rng = np.random.default_rng(4)
    seen, small = rng.integers(0, 2, 20).astype(bool), rng.integers(0, 255, 20).astype(np.uint8)
    check(TRUTHS, seen, True, small, np.zeros(20))


def test_conditions_jump_as_soon_as_their_answer_is_known():
    """A bit that is tested later becomes a choice between values, for which everything after it waits."""
    text = "def kernel(taken, x, out):\n    if x[0] > 0 and (x[1] > 0 or not x[2] > 0):\n        out[0] = 1\n"
    made = by_threads.by_threads(text, "kernel")
    kinds = compiled.kinds_of((counters(1), np.zeros(3), np.zeros(3)))
    module, _ = by_front_end.worker(made, {}, kinds, {}, "")
    assert str(module).count("br i1 %") == 4  # Three comparisons, and whether this thread is the last.
    assert "phi i1" not in str(module)
    assert "store i1" not in str(module)


def test_chunks_are_shared_and_summed():
    check(SHARED, np.random.default_rng(5).standard_normal(100), np.zeros((7, 2)), np.zeros(2))


def test_functions_within_a_kernel():
    from workbench.host import coarse_rows

    indptr, indices = np.array([0, 2, 4, 4, 6, 8]), np.array([1, 2, 1, 2, 3, 4, 3, 5], np.int32)
    arguments = (indptr, indices, 3, *(np.zeros(6, np.int64) for _ in range(3)))
    kinds, found = compiled.kinds_of((counters(1), *arguments)), []
    for maker in (by_front_end, by_numba):
        copies = tuple(map(copied, arguments))
        assert not linking.link(compiled.compiled_bytes(coarse_rows._alike.source, kinds, (maker,)), kinds)(
            counters(1), copies
        )
        found.append(copies)
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    "line",
    [
        "out[0] = x[::2][1]",
        "out[0] = np.sum(x)",
        "out[0] = x[0] ** 2",
        "out[:] = 0",
        "out[0] = nobody",
        "number = 1\n    number = x",
        "out[0] = x[0.5]",
        "out[0] = (x[0], x[1])[2]",
        "out[0] = 9223372036854775808",
    ],
)
def test_what_it_does_not_know_is_left_to_numba(line):
    source = compiled.generated(f"def kernel(taken, x, out):\n    {line}\n").source
    kinds = numba.int64[:, ::1], numba.float64[::1], numba.float64[::1]
    with pytest.raises(UnsupportedError):
        compiled.compiled_bytes(source, kinds, (by_front_end,))
