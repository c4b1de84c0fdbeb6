"""Figures of Ritz values, spectra, estimates, fields and rooflines show the numbers passed to them."""

import numpy as np
import pytest

from workbench.analysis import Estimates, RooflinePoint
from workbench.errors import InputError
from workbench.figures import error_estimates, field, level_spectra, ritz, roofline, save
from workbench.figures.field import ceiling

COLUMNS = {1: np.array([4.5]), 2: np.array([1.5, 8.0])}


def lines(axes):
    return {line.get_label(): line for line in axes.get_lines()}


def test_ritz_values_by_iteration_and_exact_spectrum():
    axes, strip = ritz(COLUMNS, np.array([1.0, 2.0, 10.0]), last=9).axes
    drawn = lines(axes)
    assert drawn["Ritz values"].get_xydata().tolist() == [[1, 4.5], [2, 1.5], [2, 8]]
    assert drawn["smallest and largest"].get_ydata().tolist() == [4.5, 1.5]
    assert drawn["of iteration 2"].get_ydata().tolist() == [1.5, 8]
    assert axes.get_xlim()[1] > 9
    assert [segment[0][1] for segment in strip.collections[0].get_segments()] == [1, 2, 10]
    assert len(ritz(COLUMNS).axes) == 1


def test_eigenvalues_removed_by_deflation_are_counted_and_coloured():
    (axes,) = level_spectra(
        {
            "A": np.array([1e-6, 1.0]),
            "M^-1 A": np.array([0.01, 0.02, 0.5, 2.0]),
            "M^-1 P A": np.array([1e-18, 1e-17, 0.5, 2.0]),
        }
    ).axes
    words = [text.get_text() for text in axes.texts]
    assert "κ = 1e+06" in words
    assert "κ = 200" in words
    assert "κ = 4\n2 zeros" in words
    assert "2 eigenvalues removed by deflation" in words


def test_unknown_estimates_are_not_drawn():
    one = np.array([1.0, 0.1])
    known = Estimates(one, 2 * one, 1.5 * one, 1.0, 3 * one, 4 * one)
    assert {"CG bound, exact κ", "Gauss-Radau, upper bound", "true error"} <= set(lines(error_estimates(known).axes[0]))
    unknown = Estimates(np.empty(0), None, None, 1.0, 3 * one, None)
    (axes,) = error_estimates(unknown).axes
    assert list(lines(axes)) == ["CG bound, κ of the Ritz values so far"]


def test_the_cg_bound_of_every_level_is_drawn_from_the_same_start():
    found = Estimates(np.array([1.0, 0.1]), None, None, 3.0, np.array([6.0, 2.0]), np.array([6.0, 1.0]))
    drawn = lines(error_estimates(found, {"A": 100.0, "M^-1 A": 4.0}).axes[0])
    np.testing.assert_allclose(drawn["CG bound, κ of $A$"].get_ydata(), [6, 6 * 9 / 11])
    np.testing.assert_allclose(drawn["CG bound, κ of $M^{-1}A$"].get_ydata(), [6, 2])


@pytest.mark.parametrize("logarithmic", [False, True])
def test_a_field_of_both_signs_is_symmetric_about_zero(logarithmic):
    values = np.array([[-3e-4, 0.0], [1e-7, 1e-5]])
    axes, bar = field(values, "residual", logarithmic=logarithmic, title="after iteration 3").axes
    (image,) = axes.get_images()
    assert image.get_cmap().name == "vik"
    assert (image.norm.vmin, image.norm.vmax) == pytest.approx((-5e-4, 5e-4))
    assert image.norm(0.0) == pytest.approx(0.5)
    assert bar.get_ylabel() == ("residual, linear within ±5e-07" if logarithmic else "residual")
    np.testing.assert_array_equal(image.get_array(), values)


def test_a_field_of_magnitudes_and_one_without_a_grid():
    axes, _ = field(np.array([[1.0, 2.0]]), "solution", sides=("y", "z")).axes
    assert axes.get_images()[0].get_cmap().name == "viridis"
    assert axes.get_xlabel() == "y (side lengths)"
    (band,) = field(np.array([[-1.0, 0.0], [1.0, 3.0]]), "solution", sides=("", "")).axes
    assert band.get_ylabel() == "solution"
    low, high = band.collections[0].get_datalim(band.transData).intervaly
    assert (low, high) == (-1.0, 3.0)


SPOTS = [RooflinePoint("A", 3, 5.0, 0.9, 10**9, 10**8), RooflinePoint("E^-1", 1, 0.5, 0.1, 0, 0)]


def test_the_roof_is_limited_by_bandwidth_and_peak_operations():
    (axes,) = roofline(SPOTS, 4e9, 1e9, basis="measured", title="kernels").axes
    intensity, rate = axes.get_lines()[0].get_data()
    np.testing.assert_allclose(rate, np.minimum(4 * intensity, 1.0))
    assert rate[-1] == 1.0
    assert axes.get_title(loc="left") == "kernels\nroof, measured: 4 GB/s, 1 Gflop/s"
    assert axes.collections[0].get_offsets().tolist() == [[0.1, 0.02]]


def test_marker_areas_grow_with_time_and_all_kernels_are_in_the_legend():
    smaller = RooflinePoint("A", 3, 5.0, 0.3, 10**9, 10**8)
    sizes = [roofline([spot]).axes[0].collections[0].get_sizes()[0] for spot in (SPOTS[0], smaller)]
    assert sizes[0] > 2 * sizes[1]
    (legend,) = roofline(SPOTS).legends
    assert [text.get_text() for text in legend.get_texts()] == ["1  A  90%", "2  E^-1  10%"]
    assert "no roof" in roofline(SPOTS).axes[0].get_title(loc="left")


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_figures_are_written_in_every_format(ending, tmp_path):
    assert save(roofline(SPOTS, 4e9), tmp_path / f"roof.{ending}").stat().st_size > 1000


def test_empty_data_are_refused():
    with pytest.raises(InputError, match="no Ritz values to draw"):
        ritz({})
    with pytest.raises(InputError, match="no spectrum to draw"):
        level_spectra({})
    with pytest.raises(InputError, match="there are no roofline points"):
        roofline(SPOTS[1:])


@pytest.mark.parametrize("value", [np.nan, 5e-324, 1.7e308, -1.7e308])
@pytest.mark.parametrize("logarithmic", [False, True])
def test_a_field_of_any_value_can_be_drawn(value, logarithmic, tmp_path):
    path = save(field(np.full((2, 2), value), "r", logarithmic=logarithmic), tmp_path / "a.png")
    assert path.stat().st_size > 0


@pytest.mark.parametrize("value", [5e-324, 3e-320, 1.7e308])
def test_ceiling_is_not_below_its_argument(value):
    assert value <= ceiling(value) <= max(10 * value, np.finfo(float).max)
    assert np.isfinite(ceiling(value))
