"""What pictures of Ritz values, spectra, estimates, rooflines and sizes show."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.costs import RooflinePoint
from workbench.errors import InputError
from workbench.machines.profile import profile
from workbench.plots.scenes import (
    crossover_scene,
    estimates_scene,
    levels_scene,
    ritz_scene,
    roofline_scene,
    row_lengths_scene,
)
from workbench.plots.scenes.row_lengths import MAX_BARS, binned
from workbench.plots.scenes.scaling import scaling_scene
from workbench.spectra import Estimates

COLUMNS = {1: np.array([4.5]), 2: np.array([1.5, 8.0])}
SPOTS = [RooflinePoint("A", 3, 5.0, 0.9, 10**9, 10**8), RooflinePoint("E^-1", 1, 0.5, 0.1, 0, 0)]
LOOKS = {"A": "#9bbde6", "E^-1": "#c98ab0"}
UNKNOWNS = [1000, 10_000, 100_000]
SECONDS = {"one": [1e-6, 4e-5, 6e-4], "two": [2e-6, 2e-5, None]}


def named(scene):
    return {layer.name: layer for layer in scene.layers if layer.name}


def test_ritz_values_by_iteration_and_exact_spectrum():
    scene = ritz_scene(COLUMNS, np.array([1.0, 2.0, 10.0]), 9, "")
    low, high, values, newest, *_ = scene.layers
    assert (low.value, high.value) == (1, 10)
    assert np.column_stack([values.x, values.y]).tolist() == [[1, 4.5], [2, 1.5], [2, 8]]
    assert newest.y.tolist() == [1.5, 8]
    assert named(scene)["smallest"].y.tolist() == [4.5, 1.5]
    assert named(scene)["exact"].y.tolist() == [1, 2, 10]
    assert scene.x.span[1] > 9


def test_eigenvalues_removed_by_deflation_are_counted_and_coloured():
    scene = levels_scene(
        {
            "A": np.array([1e-6, 1.0]),
            "M^-1 A": np.array([0.01, 0.02, 0.5, 2.0]),
            "M^-1 P A": np.array([1e-18, 1e-17, 0.5, 2.0]),
        }
    )
    assert scene.y.names == ["M⁻¹PA, κ = 4.00, 2 zeros", "M⁻¹A, κ = 200", "A, κ = 1.00\u202f×\u202f10⁶"]
    assert named(scene)["2 eigenvalues removed by deflation"].style == 1
    one = np.array([0.0, 1.0, 2.0])
    scene = levels_scene({"A": one, "M^-1 A": one + 0.5, "M^-1 P A": one})
    assert scene.y.names == ["M⁻¹PA, κ = 2.00, 1 zero", "M⁻¹A, κ = 5.00", "A, κ = 2.00, 1 zero"]
    assert list(named(scene)) == ["1 eigenvalue removed by deflation"]
    assert scene.y.span == (-0.6, 2.6)
    # Spectra of several first levels have nothing to do with deflation.
    firsts = levels_scene({"jacobi": one, "neumann:1": one + 0.5, "ic": one + 1}, deflates=False)
    assert not named(firsts)


def test_unknown_estimates_are_not_drawn():
    one = np.array([1.0, 0.1])
    known = named(estimates_scene(Estimates(one, 2 * one, 1.5 * one, 1.0, 3 * one, 4 * one), {}, 1, ""))
    assert {"CG bound, exact κ", "upper bound (Gauss–Radau)", "true error"} <= set(known)
    unknown = named(estimates_scene(Estimates(np.empty(0), None, None, 1.0, 3 * one, None), {}, 1, ""))
    assert list(unknown) == ["CG bound, κ of the Ritz values"]


def test_the_cg_bound_of_every_level_is_drawn_from_the_same_start():
    found = Estimates(np.array([1.0, 0.1]), None, None, 3.0, np.array([6.0, 2.0]), np.array([6.0, 1.0]))
    drawn = named(estimates_scene(found, {"A": 100.0, "M^-1 A": 4.0}, 1, ""))
    np.testing.assert_allclose(drawn["CG bound, κ of A"].y, [6, 6 * 9 / 11])
    np.testing.assert_allclose(drawn["CG bound, κ of M⁻¹A"].y, [6, 2])


def test_the_roof_is_limited_by_bandwidth_and_peak_operations():
    machine = profile("k20m")
    roof, points = roofline_scene(SPOTS, machine, LOOKS, "").layers
    bandwidth, peak = machine.bandwidth.value / 1e9, machine.flops.value / 1e9
    np.testing.assert_allclose(roof.y, np.minimum(bandwidth * roof.x, peak))
    assert (points.x.tolist(), points.y.tolist()) == ([0.1], [0.02])
    assert points.colours == ["#9bbde6"]


def test_marks_grow_with_time_and_kernels_without_numbers_are_left_out():
    smaller = RooflinePoint("A", 3, 5.0, 0.3, 10**9, 10**8)
    sizes = [roofline_scene([spot], None, LOOKS, "").layers[0].sizes[0] for spot in (SPOTS[0], smaller)]
    assert sizes[0] > sizes[1]
    with pytest.raises(InputError, match="there are no roofline points"):
        roofline_scene(SPOTS[1:], None, LOOKS, "")


def test_times_are_per_unknown_and_rings_mark_the_fastest():
    drawn = named(crossover_scene(UNKNOWNS, SECONDS, at=5000))
    np.testing.assert_allclose(drawn["one"].y, [1e-9, 4e-9, 6e-9])
    np.testing.assert_allclose(drawn["two"].x, [1000, 10_000])
    np.testing.assert_allclose(drawn["the fastest"].y, [1e-9, 2e-9, 6e-9])
    assert "three" in named(crossover_scene(UNKNOWNS, {**SECONDS, "three": [None] * 3}))
    assert crossover_scene(UNKNOWNS, SECONDS, at=5000).layers[-1].words == "N = 5000"


def test_numbers_that_double_have_the_ticks():
    assert scaling_scene([1, 2, 4], {"CG": [4.0, 2.0, 1.0]}).x.marks == [1, 2, 4]
    assert scaling_scene([1, 2, 8], {"CG": [4.0, 2.0, 0.5]}).x.marks is None


def test_sizes_without_times_are_refused():
    with pytest.raises(InputError, match="one has 2 times for 3 sizes"):
        crossover_scene(UNKNOWNS, {"one": [1.0, 2.0]})
    with pytest.raises(InputError, match="no method can run"):
        crossover_scene(UNKNOWNS, {"one": [None] * 3})


@given(st.lists(st.integers(0, 3000), min_size=1, max_size=80))
def test_every_row_is_counted_in_its_bar(given):
    lengths = np.array(given)
    counts, edges = binned(lengths)
    assert len(counts) <= MAX_BARS
    assert edges.size == counts.size + 1
    np.testing.assert_array_equal(counts, np.histogram(lengths, edges)[0])


def test_few_lengths_have_one_bar_each_and_the_axis_says_how_many():
    counts, edges = binned(np.array([3, 5, 5, 7]))
    assert counts.tolist() == [1, 0, 2, 0, 1]
    assert edges.tolist() == [2.5, 3.5, 4.5, 5.5, 6.5, 7.5]
    few = row_lengths_scene(np.array([3, 5, 5, 7]))
    assert (few.x.title, few.y.log, few.layers[1].words) == ("entries per row", False, "mean 5")
    many = row_lengths_scene(np.concatenate([np.full(1000, 2), [700]]))
    assert (many.x.title, many.y.log) == ("entries per row, 12 per bar", True)
    with pytest.raises(InputError, match="without rows"):
        row_lengths_scene(np.array([], dtype=int))
