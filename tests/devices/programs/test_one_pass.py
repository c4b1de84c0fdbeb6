"""Paper lines of one pass as a function of vectors, on every device."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import DTYPES, random_values
from tests.devices.comparing import on_host
from workbench import devices
from workbench.lines.types import LinesError

STEP = """
p = a*p + b*(d*(r - s))
u = u + p
xy = (r, u)
yy = (u, u)
xx = (r, r)
"""


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_stay_and_vectors_change_in_place(device, dtype):
    step = device.one_pass(STEP, ("d", "r", "s", "p", "u"), np.dtype(dtype), numbers={"a": 0.3, "b": 0.7})
    # Other sizes in between, since partial sums are kept from call to call.
    for size in (20011, 300, 20011):
        d, r, s, p, u = random_values((5, size), dtype)
        placed = [device.copy(device.array(values, values.dtype)) for values in (d, r, s, p, u)]
        dots = on_host(step.apply(*placed))
        p = 0.3 * p + 0.7 * d * (r - s)
        u = u + p
        eps = np.finfo(dtype).eps
        for found, expected in zip(placed, (d, r, s, p, u), strict=True):
            np.testing.assert_allclose(device.to_host(found), expected, rtol=0, atol=16 * eps)
        expected = [np.vdot(r, u), np.vdot(u, u), np.vdot(r, r)]
        np.testing.assert_allclose(dots, expected, rtol=0, atol=size * 40 * eps)
    assert step.work(1000, np.dtype(dtype)) == (
        7 * 1000 * np.dtype(dtype).itemsize,
        1000 * (12 if d.dtype.kind == "f" else 48),
    )


def test_lines_of_several_passes_are_refused():
    with pytest.raises(LinesError, match="take 2 steps, not one pass"):
        devices.device("cpu").one_pass("g = (x, x)\nx = g*x", ("x",), np.dtype(float))
