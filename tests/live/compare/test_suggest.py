"""The advisor on the page: a ranking that grows, what was ruled out, and what is done with the best."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.io import mmwrite

from tests.conftest import random_matrix
from tests.waiting import LIMIT
from workbench.advise.advice import Advice, Estimate, Probed, RuledOut, Stage
from workbench.advise.advisor import advise, advising
from workbench.advise.level_pairs import LevelPair
from workbench.errors import InputError
from workbench.live.compare import suggest
from workbench.live.compare.suggest_text import Progress, full_bar, marks, row, scene, verdict
from workbench.run import Stopping, configure
from workbench.run.jobs.ranking import Median

pytestmark = pytest.mark.usefixtures("brief_search")

CHOSEN = configure("two-layer", n=16, stopping=Stopping(rtol=1e-5), seed=3)


@pytest.fixture
def view(view_in):
    return view_in("suggest", CHOSEN, print, print)


def test_the_ranking_is_that_of_the_advisor_and_each_pair_can_be_taken_and_raced(view_in):
    taken, raced = [], []
    view = view_in("suggest", CHOSEN, taken.append, raced.append, state="ended")
    assert len(view.table.rows) > 3
    estimates = view.advice.estimates
    assert [row.pair for row in view.estimates] == [row.pair for row in estimates]
    assert view.status.text.startswith(f"Two layers, 16²: {verdict(view.advice)}; searched for ")
    cells = dict(zip(view.table.columns, view.table.rows[1], strict=True))
    assert cells["Together"]["key"] == estimates[1].seconds
    parts = cells["Setup + iterating"]["parts"]
    longest = max(row.seconds for row in estimates[: len(view.table.rows)] if row.seconds < math.inf)
    longest = min(longest, 5 * estimates[0].seconds)
    assert parts["first"] + parts["second"] == pytest.approx(min(1.0, estimates[1].seconds / longest))
    view.table.press("take", [2])
    (chosen,) = taken
    assert (chosen.stopping.rtol, chosen.seed, chosen.problem) == (1e-5, 3, view.base.problem)
    assert chosen.preconditioner.spec.startswith(estimates[1].pair.preconditioner.partition(":")[0])
    view.best.click()
    assert [c.label for c in raced[0]] == [view.configuration_of(row).label for row in estimates if row.measured][:3]


def test_a_sequence_is_probed_by_its_steps_and_not_raced_on_its_first_system(view_in, eventually):
    view = view_in("suggest", configure("rising-bubbles", n=16), print, print)
    eventually(lambda: "pairs solve few steps from zero, then the best ones 20" in view.status.text)
    assert view.best.layout.display == "none"
    view.rebase(configure("two-layer", n=16))
    eventually(lambda: view.best.layout.display is None and "coarser grids" in view.status.text)


def test_a_point_for_each_pair_tells_measured_ones_from_estimates():
    measured = [dataclasses.replace(row, measured=True) for row in advise("two-layer", n=16).estimates]
    pale = [dataclasses.replace(row, measured=False, grid_n=8, stopped_at=None) for row in measured[4:]]
    line, estimated, known = scene([*measured[:4], *pale]).layers
    assert line.x + line.y == pytest.approx(np.full(line.x.size, measured[0].seconds))
    assert (estimated.faint, estimated.filled, known.faint, known.filled) == (True, False, False, True)
    assert known.labels == ["1", "2", "3", ""]
    finite = [row for row in pale if row.seconds < math.inf]
    assert estimated.y.tolist() == [row.setup_seconds for row in finite]
    assert estimated.x.tolist() == [row.iteration_seconds for row in finite]
    assert known.texts[0][0] == f"1: {measured[0].pair.label}"
    assert measured[0].basis in known.texts[0][2]
    assert "predicted from n = 8" in estimated.texts[0][2]
    assert scene([]).note


def test_times_that_the_clock_cannot_tell_leave_a_plot():
    pair = LevelPair("jacobi", "none", "cholesky", "cpu")
    parts = [(0.0, 0.2), (0.1, 0.0), (0.0, 0.0)]
    rows = [Estimate(pair, 20, setup, iterating, True) for setup, iterating in parts]
    line, points = scene(rows).layers
    assert np.all(line.x + line.y == pytest.approx(0.2))
    assert line.x.min() > 0
    assert points.x.size == 3
    assert len(scene(rows[::-1]).layers) == 1


def timed(first, *seconds):
    """A measured pair with these times."""
    times = Median.of(seconds)
    return Estimate(LevelPair(first, "none", "cholesky", "cpu"), 20, 0.0, times.value, True, times=times)


def advice_of(*rows):
    return Advice(CHOSEN.problem, rows, {}, 1.0, 1e-6)


def test_pairs_within_the_spread_are_too_close_to_call():
    fast = timed("ic", 0.1, 0.1, 0.1, 0.1, 0.11)
    near, far = timed("mic", 0.1, 0.1, 0.12, 0.12, 0.12), timed("jacobi", 0.2, 0.2, 0.2, 0.2, 0.2)
    said = [verdict(advice_of(*rows)).replace("\u202f", " ") for rows in ((fast, far), (fast, near, far))]
    assert said == [
        "fastest is Incomplete Cholesky, 0.10 s ± 5%, 2.0 times as fast as the next",
        "Incomplete Cholesky and Modified incomplete Cholesky are too close to call: 0.10 s to 0.12 s",
    ]
    assert verdict(advice_of(fast, near, near, far)).startswith("3 pairs are too close to call: ")
    assert marks([fast, near, far, dataclasses.replace(far, measured=False)]) == ["best", "best", "", "estimated"]
    # An estimate is no competitor.
    guess = dataclasses.replace(far, measured=False, times=None, iteration_seconds=0.11)
    assert "2.0 times as fast as the next" in verdict(advice_of(fast, guess, far)).replace("\u202f", " ")
    assert "2 pairs are too close to call: 1, 2" in advice_of(fast, near, far).text()


def test_bars_end_at_five_times_the_best_and_longer_ones_are_cut():
    best, slow = timed("ic", 0.1), timed("jacobi", 2.0)
    assert full_bar([best, slow]) == pytest.approx(0.5)
    assert full_bar([best, timed("mic", 0.2)]) == pytest.approx(0.2)
    bar = row(2, slow, 0.5)[4]
    assert (bar["parts"]["cut"], bar["parts"]["first"] + bar["parts"]["second"]) == (True, 1.0)
    assert (bar["key"], "2.00" in bar["tip"]) == (2.0, True)
    assert not row(1, best, 0.5)[4]["parts"]["cut"]
    stopped = dataclasses.replace(slow, measured=False, at_least=True)
    assert row(2, stopped, 0.5)[5]["text"].startswith("> 2.0")


def test_progress_counts_all_stages_and_weighs_them_by_their_grids():
    progress = Progress()
    progress.enter(Stage("n = 16", 100, full=False, work=1 / 16, later=((24, 1 / 4), (10, 1.0))))
    progress.probed = 40
    assert (progress.done, progress.of) == (40, 134)
    assert progress.work == (40 / 16, 100 / 16 + 24 / 4 + 10)
    # Fewer than could have been are left.
    progress.enter(Stage("n = 32", 8, full=False, work=1 / 4, later=((10, 1.0),)))
    assert (progress.done, progress.of) == (100, 116)
    progress.enter(Stage("n = 64", 8, full=True))
    # Further solves are no pairs more.
    progress.enter(Stage("n = 64", 5, full=True, doing="neighbours of the best"))
    assert progress.again.candidates == 5
    progress.probed = 11
    assert (progress.done, progress.of) == (116, 116)
    assert progress.work[0] == progress.work[1]


def test_stages_of_the_advisor_announce_what_follows():
    stages = [event for event in advising("two-layer", n=128, probe_n=16) if isinstance(event, Stage)]
    assert [(stage.work, stage.later) for stage in stages] == [(1 / 256, ((24, 1 / 64),)), (1 / 64, ())]
    assert stages[1].candidates <= 24


def test_what_was_ruled_out_is_listed_with_its_reason(view, eventually, monkeypatch):
    pair = advise("two-layer", n=16).estimates[0].pair

    def events(*_args, **_options):
        yield Stage("Two layers, 16²", 2, full=True)
        yield RuledOut(pair, "it needs 9 GB, 1 GB are free")
        raise InputError("no pair of levels solves this")

    monkeypatch.setattr("workbench.live.compare.suggest.advising", events)
    view.find().join()
    eventually(lambda: view.status.tone == "bad" and "no pair of levels solves this" in view.status.text)
    eventually(lambda: "1 pair was ruled out" in view.note.value and "it needs 9 GB" in view.note.value)
    with pytest.raises(InputError, match="0 pairs are measured, a race takes 3"):
        view.race_best()


def test_a_search_that_is_stopped_keeps_its_ranking(view, eventually, monkeypatch):
    found = dataclasses.replace(advise("two-layer", n=16).estimates[0], measured=False)

    def events(*_args, stopped, **_options):
        yield Stage("Two layers, 8²", 9, full=False)
        yield Probed(found, None)
        eventually(stopped)

    monkeypatch.setattr("workbench.live.compare.suggest.advising", events)
    job = view.find()
    eventually(lambda: view.status.text.startswith("Two layers, 16²: 1 of 9 pairs tried, now on "))
    assert view.best.disabled
    eventually(lambda: view.status.progress == {"word": "tried", "iterations": 1, "left": 8})
    with pytest.raises(InputError, match="press Stop first"):
        view.find()
    view.stop()
    job.join()
    eventually(lambda: "stopped by the user; 1 ranked so far, 0 of them measured" in view.status.text)
    assert view.table.marks == ["estimated"]
    assert view.take(1).problem == view.base.problem
    with pytest.raises(InputError, match="there is no pair of rank 2"):
        view.take(2)


def test_another_problem_is_searched_from_the_next_press_on(view, eventually):
    view.rebase(configure("poisson5", n=12))
    eventually(lambda: view.status.text.startswith("Poisson, 12²: press Find the fastest"))


def test_a_search_ends_after_the_seconds_that_are_typed(view_in, monkeypatch, eventually, tmp_path):
    view, asked = view_in("suggest", CHOSEN, print, print), []
    monkeypatch.setattr(suggest, "advising", lambda *_, **choices: asked.append(choices["seconds"]) or iter(()))
    for text, seconds in (("", None), (" 2.5 ", 2.5)):
        view.seconds.value = text
        view.find().join(LIMIT)
        assert asked.pop() == seconds
    for text in ("soon", "0", "-1"):
        view.seconds.value = text
        with pytest.raises(InputError, match=r"seconds must be (a number|above 0), got '?" + text):
            view.find()
    assert view.seconds.placeholder == "no limit"
    mmwrite(tmp_path / "a.mtx", random_matrix(20).to_csr())
    view.rebase(configure(str(tmp_path / "a.mtx")))
    eventually(lambda: view.seconds.placeholder == "20 times the fastest solve, at least 2")
    view.rebase(configure("rising-bubbles", n=16))
    eventually(lambda: view.seconds.layout.display == "none")
    view.find().join(LIMIT)
    assert asked == [None]


def test_the_vectors_of_a_pair_that_was_solved_are_counted():
    pair = LevelPair("jacobi", "levelset:8", "cholesky", "cpu", dimensions=2)
    estimate = Estimate(pair, 20, 0.1, 0.2, False)
    assert row(1, estimate, 1.0)[2]["text"] == "8² blocks split by phase"
    assert row(1, dataclasses.replace(estimate, vectors=93), 1.0)[2]["text"] == "8² blocks split by phase, 93 vectors"
    found = [event.estimate for event in advising("two-layer", n=16) if isinstance(event, Probed) and not event.probe]
    counted = {each.pair.deflation: each.vectors for each in found if each.pair.preconditioner == "neumann:2"}
    assert all((vectors > 0) is (deflation != "none") for deflation, vectors in counted.items())
    assert counted.get("stripes", 32) == 32
