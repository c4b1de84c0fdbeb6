"""Both test cases of the rising bubble: their references, their spread, and a run on a coarse grid."""

from __future__ import annotations

import numpy as np
import pytest

from tests.extensions.papers.conftest import small
from workbench.extensions.flow.reference import CASES, band, case_of, references
from workbench.extensions.flow.scenes import measure_scene
from workbench.extensions.papers import item_of
from workbench.plots.scenes.scene import BarsOf
from workbench.run import configure


def problem(**parameters):
    return configure("rising-bubbles", parameters).problem


def test_a_test_case_is_known_on_every_grid():
    assert case_of(problem(n=20)) == case_of(problem(n=40, until=1.0)) == "case1"
    assert case_of(problem(n=20, **CASES["case2"])) == "case2"
    assert case_of(problem(n=20, eotvos=125.0)) == ""
    assert case_of(configure("two-layer", n=16).problem) == ""


def test_the_second_case_has_the_fluids_of_the_paper():
    """Densities 1000 and 1, viscosities 10 and 0.1, gravity 0.98 and surface tension 1.96, over the heavy density."""
    fluids = problem(**CASES["case2"]).fluids
    assert fluids.outside == pytest.approx((1.0, 10 / 1000))
    assert fluids.inside == pytest.approx((1 / 1000, 0.1 / 1000))
    assert (fluids.gravity, fluids.sigma) == pytest.approx((0.98, 1.96 / 1000))


def test_references_are_those_of_three_groups():
    for case in CASES:
        for reference in references(case).values():
            assert reference.groups == ("TP2D", "FreeLIFE", "MooNMD")
            assert len(reference.values) == 3
    assert "circularity" not in references("case2")
    assert references("case2")["second_velocity"].times == ()


@pytest.mark.parametrize("case", list(CASES))
def test_the_spread_holds_the_extremes_of_its_groups(case):
    """Thinned series miss the printed extremes by a little."""
    spread = band(case, "rise_velocity")
    known = {name: sorted(reference.values[1:]) for name, reference in references(case).items()}
    assert spread.groups == ("FreeLIFE", "MooNMD")
    assert (spread.low <= spread.high).all()
    first = spread.times < 1.3
    assert spread.high[first].max() == pytest.approx(max(known["rise_velocity"]), rel=2e-3)
    centre = band(case, "centre")
    assert [centre.low[-1], centre.high[-1]] == pytest.approx(known["centre"], abs=5e-4)
    if case == "case1":
        assert band(case, "circularity").low.min() == pytest.approx(min(known["circularity"]), abs=1e-4)
    else:
        assert spread.high[~first].max() == pytest.approx(max(known["second_velocity"]), rel=2e-3)


@pytest.mark.parametrize("case", list(CASES))
def test_the_height_of_the_series_is_the_integral_of_their_velocity(case):
    """Which finds a number that was mistyped: the trapezoidal rule over tenths is as near as the groups are."""
    velocity, centre = (band(case, measure) for measure in ("rise_velocity", "centre"))
    for speeds, heights in ((velocity.low, centre.low), (velocity.high, centre.high)):
        steps = np.diff(velocity.times) * (speeds[1:] + speeds[:-1]) / 2
        np.testing.assert_allclose(np.diff(heights), steps, atol=1e-3)


def test_a_measure_over_time_has_the_spread_behind_it():
    scene = measure_scene("velocity", [0.0, 1.0], [0.0, 0.2], 3.0, spread=band("case2", "rise_velocity"))
    bars = scene.layers[0]
    assert isinstance(bars, BarsOf)
    assert bars.faint
    assert np.interp(2.0, bars.x, bars.base) == pytest.approx(0.23836, abs=1e-5)
    assert scene.y.span[1] > 0.25


def test_the_second_case_on_a_coarse_grid_is_near_the_groups():
    """On 20 x 40 cells within 4% of the range of the groups; the first case is compared in the tests of the flow."""
    made = small("hysing", "case2")
    assert [value.column for value in made.compared] == [
        "reference_rise_velocity", "reference_second_velocity", "reference_centre",
    ]  # fmt: skip
    assert all(abs(value.percent) < 4 for value in made.compared)


def test_the_area_is_kept_also_where_pieces_break_off():
    """On 20 x 40 cells two pieces of a cell each leave the bubble of the second case at time 2.2, and vanish."""
    made = small("hysing", "case2")
    (row,) = made.rows
    assert abs(row["area_change"]) < 5e-4
    assert any(note.startswith("The area of the bubble at the end") for note in made.notes)


def test_both_cases_are_drawn_over_time_from_the_same_runs():
    made = small("hysing", "velocity")
    (scene,) = made.alive
    names = [layer.name for layer in scene.layers]
    assert names[:4] == [
        "case 1, spread of FreeLIFE and MooNMD",
        "case 2, spread of FreeLIFE and MooNMD",
        "case 1, greatest rise velocity, reference",
        "case 2, greatest rise velocity, reference",
    ]
    assert names[-2:] == ["case 1, 20 x 40 cells", "case 2, 20 x 40 cells"]
    works = [work for name in ("case2", "velocity", "centre") for work in works_of(name)]
    assert len({work.key for work in works if work.what.case == "case2"}) == 1


def test_a_measure_over_time_ends_next_to_the_groups():
    """The circularity of the second case is far above them, which its table says."""
    _, second = small("hysing", "circularity").rows
    low, high = second["groups_at_the_end"]
    assert (low, high) == pytest.approx((0.46471, 0.52), abs=0.01)
    assert second["circularity_at_the_end"] > 1.5 * high


def works_of(name):
    item = item_of("hysing", name)
    cases = item.cases({**item.paper_values, "report": True, "max_n": 20})
    return [work for case in cases for work in case.works]
