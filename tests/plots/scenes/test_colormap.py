"""Scales: where zero, the threshold and the ends lie, and which colours part at zero."""

import numpy as np
import pytest

from workbench.plots.scenes.plane import Colormap


def test_what_has_both_signs_parts_at_zero():
    shades = Colormap.of(np.array([-3.0, 0.0, 1.0]), logarithmic=False)
    assert (shades.low, shades.high, shades.signed) == (-5.0, 5.0, True)
    np.testing.assert_allclose(shades.share(np.array([-5.0, 0.0, 2.5])), [0, 0.5, 0.75])


def test_logarithmic_to_both_sides_is_linear_in_the_middle():
    shades = Colormap.of(np.array([-2e-4, 1e-9]), logarithmic=True)
    assert (shades.high, shades.threshold) == (pytest.approx(2e-4), pytest.approx(2e-7))
    values = np.array([-2e-4, -2e-7, -1e-7, 0.0, 1e-7, 2e-7, 2e-6, 2e-4])
    np.testing.assert_allclose(shades.share(values), [0, 0.375, 0.4375, 0.5, 0.5625, 0.625, 0.75, 1], atol=1e-6)
    assert shades.to_bytes(values).tolist() == [0, 96, 112, 128, 143, 159, 191, 255]


def test_magnitudes_go_from_the_least_or_from_zero():
    linear = Colormap.of(np.array([2.0, 3.0]), logarithmic=False)
    assert (linear.low, linear.high, linear.signed) == (2.0, 3.0, False)
    logarithmic = Colormap.of(np.array([0.0, 3.0]), logarithmic=True)
    assert (logarithmic.low, logarithmic.high, logarithmic.signed) == (0.0, 5.0, False)
    np.testing.assert_allclose(logarithmic.share(np.array([0.0, 5e-3, 5.0])), [0, 0.25, 1])


def test_nothing_but_zeros_is_one_colour():
    shades = Colormap.of(np.zeros(3), logarithmic=True)
    assert (shades.low, shades.high) == (0.0, 0.0)
    assert shades.to_bytes(np.zeros(3)).tolist() == [0, 0, 0]


def test_what_is_not_finite_does_not_spoil_the_rest():
    values = np.array([1.0, -1.0, np.nan, np.inf])
    shades = Colormap.of(values, logarithmic=False)
    assert shades.high == 1.0
    assert shades.to_bytes(values).tolist() == [255, 0, 128, 255]


@pytest.mark.parametrize("signed", [True, False])
def test_logarithmic_bytes_are_those_of_the_shares_within_a_colour(signed):
    rng = np.random.default_rng(0)
    values = 1e-200 * rng.standard_normal(5001) * 10.0 ** rng.uniform(-6, 0, 5001)
    values = values if signed else np.abs(values)
    shades = Colormap.of(values, logarithmic=True)
    assert shades.signed is signed
    away = shades.to_bytes(values) - 255 * shades.share(values)
    assert np.abs(away).max() < 0.6
    not_finite = shades.to_bytes(np.array([np.inf, -np.inf, np.nan, -np.nan]))
    assert not_finite.tolist() == ([255, 0, 128, 128] if signed else [255, 255, 128, 128])


@pytest.mark.parametrize("logarithmic", [True, False])
def test_no_values_have_bounds_all_the_same(logarithmic):
    assert Colormap.of(np.array([]), logarithmic=logarithmic).high == 0.0
    assert Colormap.of(np.array([np.nan, np.inf]), logarithmic=logarithmic).high == 0.0


SIGNED = ([-1.0, 0.5], True)
"""Values of the picture before, and whether its scale is logarithmic."""
LINEAR = ([1.0, 2.0], False)


@pytest.mark.parametrize(
    ("before", "values", "logarithmic", "kept"),
    [
        *((SIGNED, [-largest, 0.01], True, kept) for largest, kept in ((1.0, True), (0.21, True), (0.15, True))),
        *((SIGNED, [-largest, 0.01], True, False) for largest in (0.1, 1.1)),
        # Of another kind, and for nothing.
        *((SIGNED, *other, False) for other in (([-1.0, 0.5], False), ([0.5, 1.0], True), ([0.0], True))),
        *((LINEAR, [1.0, high], False, kept) for high, kept in ((1.85, True), (1.75, False), (2.01, False))),
    ],
)
def test_the_scale_of_the_picture_before_is_kept_while_it_does(before, values, logarithmic, kept):
    last = Colormap.of(np.array(before[0]), logarithmic=before[1])
    own = Colormap.of(np.array(values), logarithmic=logarithmic)
    assert own.kept_from(last) is (last if kept else own)
    assert own.kept_from(None) is own
