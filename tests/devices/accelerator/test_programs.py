"""Paper lines on every accelerator against their line-by-line meaning in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import DTYPES
from workbench.devices.programs import LinesError
from workbench.lines.interpret import evaluate

SIZES = (1, 7, 16385, 50021)
EVERYTHING = """
    c = (a + 1)/(2 + abs(a)) if k0 > 0 else -a
    t = x*y - 0.5*conj(z)/d
    u = sqrt(1 + abs(t)) if k < 0.25 else -t
    x = c*x + b*u
    g = (x, t)
    h = (u, x)
    e = sqrt(1 + abs(g))
    y = y + u/e - sqrt(d)
    z = t if k >= k0 else h*t/e
    a = (y, y)
"""
COUNTING = """
    e = e + 1
    f = e*e
    x = x + f*y
    g = (x, y)
    e = e + f
    x = x - e*y
"""
PIPELINED = """
    z = y + b*z
    q = x + b*q
    y = y - a*z
    w = w - a*q
    g = (x, w)
    h = (w, w)
"""


def values_of(dtype, size):
    rng = np.random.default_rng(size)

    def draw(shape):
        modulus, angle = rng.uniform(0.5, 2, shape), rng.uniform(-0.7, 0.7, shape)
        return modulus * np.exp(1j * angle) if np.dtype(dtype).kind == "c" else modulus

    vectors = {name: draw(size).astype(dtype) for name in "xyzdkqw"}
    return vectors | {name: draw(()).item() for name in ("a", "b", "k0", "e")}


@pytest.mark.parametrize("fuse", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("text", [EVERYTHING, COUNTING, PIPELINED], ids=["everything", "counting", "pipelined"])
def test_programs(accelerator, text, dtype, fuse):
    update = accelerator.lines(text, fuse=fuse)
    for size in SIZES if fuse else SIZES[1:3]:
        values = {name: value for name, value in values_of(dtype, size).items() if name in text}
        # The program's own scalars and locals are no input, but for those that it reads first.
        values = {name: value for name, value in values.items() if not (text is EVERYTHING and name == "e")}
        if text is not PIPELINED:
            values = {name: value for name, value in values.items() if name not in "qw"}
        if text is COUNTING:
            values = {name: values[name] for name in "xye"}
        if text is PIPELINED:
            values = {name: values[name] for name in "zyxqwab"}
        expected = {name: np.copy(value) if np.ndim(value) else value for name, value in values.items()}
        given = {
            name: accelerator.array(value, value.dtype) if np.ndim(value) else value for name, value in values.items()
        }
        scalars = update(**given)
        evaluate(text, expected)
        tolerance = 2000 * np.finfo(dtype).eps
        for name, value in given.items():
            if np.ndim(values[name]):
                np.testing.assert_allclose(accelerator.to_host(value), expected[name], rtol=tolerance, atol=tolerance)
        for name, value in scalars.items():
            np.testing.assert_allclose(value, expected[name], rtol=tolerance)


def test_sums_are_the_same_bit_by_bit(accelerator):
    x = np.random.default_rng(0).random(100003)
    update = accelerator.lines("g = (x, x)")
    assert len({update(x=accelerator.array(x, x.dtype))["g"] for _ in range(5)}) == 1


def test_single_precision_is_summed_in_double(accelerator):
    x = np.full(100003, 0.1, np.float32)
    found = accelerator.lines("g = (x, x)")(x=accelerator.array(x, x.dtype))["g"]
    np.testing.assert_allclose(found, x.size * float(np.float32(0.1)) ** 2, rtol=1e-12)


def test_not_a_number_and_infinity_are_kept(accelerator):
    x = np.array([1.0, np.nan, np.inf, -np.inf, 0.0])
    ours = accelerator.array(x, x.dtype)
    found = accelerator.lines("g = (x, x)\nx = 1/x")(x=ours)["g"]
    assert np.isnan(found)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(accelerator.to_host(ours), 1 / x)


def test_dot_products_that_a_group_has_no_room_for_are_refused(accelerator):
    x = accelerator.array(np.ones(9), np.dtype(float))
    lines = accelerator.lines("\n".join(f"g{k} = (x, x)" for k in range(100)))
    if accelerator.layout.chunked:
        assert set(lines(x=x).values()) == {9}
        return
    with pytest.raises(LinesError, match=r"a pass adds up 100 sums, .* has room for \d+; .*fewer dot products"):
        lines(x=x)


def test_one_array_under_two_names_is_refused(accelerator):
    x = accelerator.zeros(9, np.dtype(float))
    with pytest.raises(LinesError, match="shares memory"):
        accelerator.lines("x = x + y")(x=x, y=x)
