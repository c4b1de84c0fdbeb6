"""Scenes in words: axes, names and numbers of each layer."""

import numpy as np

from workbench.plots import scenes
from workbench.plots.scenes import Axis, BarsOf, CellsOf, CurveOf, LineAt, ParallelOf, PointsOf, Scene, in_words
from workbench.plots.scenes.words import MOST
from workbench.run import Run, configure, run_through
from workbench.spectra import spectra

ITERATION, SECONDS = Axis("iteration", "count", whole=True), Axis("time", "s")


def said(*layers, x=ITERATION, y=SECONDS):
    words = in_words(Scene("s", x, y, layers)).replace("\u202f", " ")
    return words.removeprefix("time against iteration. ")


def test_each_layer_says_its_numbers():
    x = np.arange(3)
    assert said(CurveOf("CG", x, np.array([2.0, np.nan, 1e-3]))) == "CG: from 2.00 s at 0 to 1.00 ms at 2."
    assert said(CurveOf("", x[:1], np.array([2.0]))) == "2.00 s at 0."
    assert said(PointsOf("printed", x, x + 1.0)) == "printed: 3 points at 0 to 2, of 1.00 s to 3.00 s."
    assert said(PointsOf("ticks", x, x + 1.0, tall=0.3)) == "ticks: 3 points at 0 to 2."
    assert said(BarsOf("rows", x, np.array([2.0, 5.0, 1.0]))) == "rows: 3 bars, the highest 5.00 s at 1."
    assert said(LineAt(1e-6, "tolerance {}")) == "tolerance 10⁻⁶."
    cells = CellsOf("iterations", np.array([[20.0, 31.0], [44.0, np.nan]]), kind="count")
    assert said(cells) == "2 × 2 cells: iterations, 20 to 44."
    axes = [("n", [(0, "8"), (1, "16")]), ("iterations", [(0, "20"), (1, "40")])]
    parallel = ParallelOf(axes, np.array([[0.0, 0.1]]), texts=[["8"]])
    assert said(parallel) == "1 run through axes of n, iterations."


def test_what_has_no_numbers_is_left_out_and_many_layers_are_counted():
    none = CurveOf("none", np.arange(2), np.full(2, np.nan))
    one = CurveOf("one", np.arange(2), np.ones(2))
    assert said(none, one) == "one: from 1.00 s at 0 to 1.00 s at 1."
    assert said(*[one] * (MOST + 3)).endswith("at 1. 3 more.")


def test_names_of_places_take_the_place_of_numbers():
    named = Axis("operator", names=["A", "M⁻¹A"])
    assert "from A at 0 to M⁻¹A at 1" in said(CurveOf("", np.arange(2), np.arange(2.0)), y=named)


def test_scenes_of_runs_are_said():
    chosen = configure("two-layer", n=8)
    run = run_through(Run(chosen, trace=True))
    convergence = in_words(scenes.convergence_scene([run.record()], tolerance=1e-6))
    assert convergence.startswith("‖r‖ / ‖b‖ against iteration. CG, Jacobi: from ")
    assert f"at {run.iterations}." in convergence
    assert "tolerance 10⁻⁶" in convergence
    assert "64 points" in in_words(scenes.levels_scene(spectra(chosen)))
    assert "events on cpu; most time: " in in_words(scenes.timeline_scene(run.record().trace))
