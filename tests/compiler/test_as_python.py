"""Kernels whose results are easily other ones than Python's."""

from __future__ import annotations

import numpy as np
import pytest

from tests.compiler.checking import check as check_kernel
from tests.compiler.test_texts import check
from workbench.compiler.source import helper
from workbench.errors import InputError
from workbench.jit import compiled
from workbench.jit.compiled import kernel
from workbench.jit.threads import launch

AS_PYTHON = {
    "out[0], out[1] = x[-2:].size, x[-2:][0]": "slices that begin at a place from the end",
    "out[0] = x[:-2].size": "slices that end at a place from the end",
    "out[0], out[1] = (x[0] < x[1]) < (x[1] > x[0]), (x[0] < x[1]) > (x[1] < x[0])": "truths are 0 and 1",
    "out[0], out[1] = (x[0] < x[1]) <= (x[1] < x[0]), (x[0] > x[1]) >= (x[0] < x[1])": "truths are 0 and 1",
    "k = out[0] = 1\n    k = out[k] = 2": "targets from left to right",
    "out[0] = 1\n    out[1], out[2] = out[0:2]": "values are read before targets are set",
    "out[0] = 1 if 9 < x[0] < x[1000000000000] else 2": "comparisons end at the first that is false",
    "out[0] = 1 if 1 < x[0] <= x[1] < 9 else 2": "comparisons of several numbers",
    "for i in range(3):\n        last, i = i, 7\n        out[0] += last\n    out[1], out[2] = last, i": "of a loop",
    "i = 9\n    for i in range(x.size - 5):\n        pass\n    out[0] = i": "a name from before a loop",
    "while True:\n        a = x[0]\n        if a > 0:\n            break\n    out[0] = a": "names of an endless loop",
    "if x[0] > 3:\n        a = 1\n    else:\n        a = 2\n    out[0] = a": "names set in both branches",
    "out[0] = complex(1, x.size).imag + complex(x.size, 2.5).real": "complex numbers of integers",
    "out[0], out[1] = (x[0] > 3 and x[1] > 3) + 1, (x[0] > 3 or x[1] > 3) * 2": "`and` and `or` of truths",
    "pair = [1.0, 2.0]\n    pair[0] += 5\n    out[0], out[1] = pair": "entries of a list that are set",
    "for i in range(5, 0, -2):\n        out[1] += i\n    out[0] = i": "loops that count down",
    "for i in range(0, 4, max(1, x.size - 3)):\n        out[i] = i + 1": "steps that are at least 1",
}


@pytest.mark.parametrize("line", AS_PYTHON)
def test_a_line_is_that_of_python(line):
    check(f"def kernel(taken, x, out):\n    {line}\n", np.arange(3.0, 8.0), np.zeros(4))


def stored(x, value):
    x[0] = value
    return value


def doubled(x):
    x[0] *= 2
    return x[0], x[0] > 20


@kernel()
def in_order(taken, x, places, out):
    out[0] = x[0] + stored(x, 5.0)
    out[1], out[2] = x[0], stored(x, 6.0)
    out[3] = x[0] - x[0] * stored(x, 7.0)
    out[4] = x[0] - doubled(x)[0] * x[0]
    out[5] = x[0] < stored(x, 30.0) < x[0] + 1
    out[6] = max(x[0], stored(x, 8.0), x[0])
    out[7] += x[0] + (stored(x, 9.0) if x[0] > 0 and doubled(x)[1] else doubled(x)[0])
    for i in range(places[0], stored(places, 4)):
        out[8] += i
    x[0] += stored(x, 3.0)
    a, (b, c) = x[0], doubled(x)
    out[9] = a + 10 * b + 100 * c
    out[places[0]] = x[0] * stored(x, 2.0)
    a = x[0]
    a -= stored(x, 1.0)
    out[10] = a


def test_what_stands_left_of_a_call_is_read_before_it_stores():
    check_kernel(in_order, np.arange(3.0, 8.0), np.array([1, 2]), np.zeros(11))


@pytest.mark.parametrize("divisor", ["y[0]", "-1"])
def test_the_least_integer_over_minus_one_is_that_of_numpy(divisor):
    least = np.array([np.iinfo(np.int64).min, 7, -7])
    text = f"def kernel(taken, x, y, out):\n    for i in range(3):\n        out[i, 0] = x[i] // {divisor}\n"
    check(text + f"        out[i, 1] = x[i] % {divisor}\n", least, np.array([-1]), np.ones((3, 2), np.int64))


@pytest.mark.parametrize(
    "numbers", [(np.float32(0.1), 0.1), (True, 5), (2, 0.5, True), (1.5, 1j, np.complex64(0.1)), (0.1, np.float64(0.3))]
)
def test_a_number_of_a_later_launch_keeps_its_type(numbers):
    out, made = np.zeros(1, complex), compiled.generated("def kernel(taken, number, out):\n    out[0] = number * 3.0\n")
    for number in (*numbers, *numbers):
        launch(1, made, number, out)
        np.testing.assert_allclose(out[0], complex(number) * 3.0, rtol=1e-15)


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, np.uint64(2**63)])
def test_an_integer_of_more_than_64_bits_is_refused(number):
    out, made = np.zeros(1), compiled.generated("def kernel(taken, number, out):\n    out[0] = number + 0.5\n")
    launch(1, made, 5, out)
    with pytest.raises(InputError, match=r"integers from -2\^63 to 2\^63 - 1, not -?9223372036854775"):
        launch(1, made, number, out)


def test_an_expression_that_is_too_deep_is_refused():
    text = f"def kernel(taken, x):\n    x[0] = {' + '.join(['x[0]'] * 3000)}\n"
    with pytest.raises(InputError, match="nested too deep; name parts of them"):
        launch(1, compiled.generated(text), np.zeros(3))


def test_an_unknown_licence_is_refused():
    for decorator in (kernel, helper):
        with pytest.raises(InputError, match="has the licence 'wrong', and LLVM knows afn, arcp, contract"):
            decorator("contract", "wrong")


def test_an_integer_of_a_later_launch_is_whole():
    out, made = np.zeros(1), compiled.generated("def kernel(taken, number, out):\n    out[0] = number + 0.25\n")
    for number in (np.int8(5), 300, np.int64(2**40)):
        launch(1, made, number, out)
        assert out[0] == number + 0.25
