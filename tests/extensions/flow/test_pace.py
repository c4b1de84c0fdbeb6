"""The pace of methods: running medians with their band, verdicts on the same steps, names."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.extensions.flow.pace import LONGEST, POINTS, WINDOW, running, short_names, verdict
from workbench.extensions.flow.scenes import ITERATIONS, steps_scene
from workbench.sequences.sequence import Sequence

TWO_METHODS = {"preconditioner": "neumann:2", "deflation": "levelset:2"}


@pytest.fixture
def flow():
    """A flow whose two methods have solved 40 steps, in times that a test sets."""
    problem = {"n": 16, "density_ratio": 1e-3}
    made = Sequence(
        "rising-bubbles", others=[{"preconditioner": "jacobi", "deflation": "none"}], **problem, **TWO_METHODS
    )
    made.seconds = [{} for _ in range(40)]
    return made


def timed(flow, fast, slow):
    """Set the seconds per step of both methods; iterations are 10 and 200."""
    for method, seconds, iterations in zip(flow.methods, (fast, slow), (10, 200), strict=True):
        method.seconds = np.broadcast_to(seconds, 40).tolist()
        method.iterations = [iterations] * 40
    return verdict(flow)


def test_a_running_median_is_that_of_its_window_and_the_band_holds_four_fifths():
    values = np.random.default_rng(1).random(200)
    found = running(values)
    assert found.steps.size <= POINTS
    assert found.steps[0] == 1
    k = int(np.flatnonzero(found.steps == 101)[0])
    window = values[100 - WINDOW // 2 : 101 + WINDOW // 2]
    assert found.middle[k] == np.median(window)
    assert np.mean((found.low[k] <= window) & (window <= found.high[k])) == pytest.approx(0.8, abs=0.05)


def test_no_window_spans_the_step_at_which_a_method_was_changed():
    found = running([1.0] * 50 + [9.0] * 50, cuts=[51])
    assert set(found.middle.tolist()) == {1.0, 9.0}
    assert (found.middle[found.steps < 51] == 1).all()


def test_steps_that_were_not_solved_leave_a_gap():
    found = running([np.nan] * 60 + [2.0] * 60)
    assert np.isnan(found.middle[found.steps < 30]).all()
    assert (found.middle[found.steps > 80] == 2).all()
    assert running([]).steps.size == 0


def test_the_curve_lies_on_a_pale_band_whose_quantiles_the_axis_names():
    scene = steps_scene("iterations per step", ITERATIONS, [("mg", [7.0, 5.0, 4.0])])
    band, curve = scene.layers
    assert (band.layer, band.faint, band.name) == ("bars", True, "")
    assert curve.y.tolist() == [5.0, 5.0, 5.0]
    assert scene.y.title == "iterations per step: median of 25, band 10% to 90%"
    assert steps_scene("iterations per step", ITERATIONS, [("mg", [])], note="Setting up.").note == "Setting up."


def test_names_leave_out_what_is_common():
    labels = ["CG, Neumann 2, 8² blocks split by phase", "CG, Jacobi"]
    assert short_names(labels) == ["Neumann 2, 8² blocks split by phase", "Jacobi"]
    assert short_names(["CG, Jacobi"]) == ["CG, Jacobi"]


def test_the_faster_method_wins_with_the_reason_and_a_line_to_copy(flow):
    found = timed(flow, 0.01, 0.032)
    fast, times = "Neumann 2, 2² blocks split by phase", "10.0\u202fms and 32.0\u202fms"
    assert found.sentence == f"So far {fast} is 3.2 times as fast per step as Jacobi: {times}."
    assert found.why == (
        "Medians of 39 steps. Each light bubble gives M⁻¹A an eigenvalue near ε = 0.001; deflation removes these. "
        "Iterations per step: 10 with it, 200 without."
    )
    assert found.quote.startswith("1 rising bubble, ")
    assert found.quote.endswith(f": {fast} 10\u202fms per step, 3.2 times as fast as Jacobi")
    assert len(found.quote) <= LONGEST
    flow.done = True
    assert not verdict(flow).sentence.startswith("So far")


def test_methods_within_the_spread_are_too_close_to_call(flow):
    noise = np.random.default_rng(0).random(40)
    found = timed(flow, 0.01, 0.01 * (0.8 + 0.5 * noise))
    assert "are too close to call per step" in found.sentence
    assert (found.tone, found.why) == ("plain", "Medians of 39 steps.")


def test_a_verdict_waits_for_steps_and_counts_from_the_last_change(flow):
    timed(flow, 0.01, 0.03)
    flow.methods[1].marks = [*flow.methods[1].marks, flow.methods[1].marks[0]._replace(step=25)]
    assert verdict(flow).why.startswith("Medians of 15 steps since a method was changed.")
    flow.methods[1].marks[-1] = flow.methods[1].marks[-1]._replace(step=36)
    assert verdict(flow).sentence == ""
    flow.methods[1].failure = "it diverged"
    assert verdict(flow).sentence == ""
