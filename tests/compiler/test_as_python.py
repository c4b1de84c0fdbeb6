"""Kernels whose results are easily other ones than Python's."""

from __future__ import annotations

import numpy as np
import pytest

from tests.compiler.test_texts import check
from workbench.jit import generated
from workbench.jit.threads import launch

AS_PYTHON = {
    "out[0], out[1] = x[-2:].size, x[-2:][0]": "slices that begin at a place from the end",
    "out[0] = x[:-2].size": "slices that end at a place from the end",
    "out[0], out[1] = (x[0] < x[1]) < (x[1] > x[0]), (x[0] < x[1]) > (x[1] < x[0])": "truths are 0 and 1",
    "out[0], out[1] = (x[0] < x[1]) <= (x[1] < x[0]), (x[0] > x[1]) >= (x[0] < x[1])": "truths are 0 and 1",
    "k = out[0] = 1\n    k = out[k] = 2": "targets from left to right",
}


@pytest.mark.parametrize("line", AS_PYTHON)
def test_a_line_is_that_of_python(line):
    check(f"def kernel(taken, x, out):\n    {line}\n", np.arange(3.0, 8.0), np.zeros(4))


@pytest.mark.parametrize("divisor", ["y[0]", "-1"])
def test_the_least_integer_over_minus_one_is_that_of_numpy(divisor):
    least = np.array([np.iinfo(np.int64).min, 7, -7])
    text = f"def kernel(taken, x, y, out):\n    for i in range(3):\n        out[i, 0] = x[i] // {divisor}\n"
    check(text + f"        out[i, 1] = x[i] % {divisor}\n", least, np.array([-1]), np.ones((3, 2), np.int64))


def test_an_integer_of_a_later_launch_is_whole():
    out, made = np.zeros(1), generated.kernel("def kernel(taken, number, out):\n    out[0] = number + 0.25\n")
    for number in (np.int8(5), 300, np.int64(2**40)):
        launch(1, made, number, out)
        assert out[0] == number + 0.25
