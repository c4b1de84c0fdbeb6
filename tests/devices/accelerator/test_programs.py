"""Sums and refusals of paper lines on every accelerator; `test_random_programs` has what lines mean."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.devices.programs import LinesError


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
