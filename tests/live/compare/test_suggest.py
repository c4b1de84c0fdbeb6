"""The advisor on the page: a ranking that grows, what was ruled out, and what is done with the best."""

from __future__ import annotations

import pytest

from workbench.analysis.advice import Probed, RuledOut, Stage
from workbench.analysis.advisor import advise
from workbench.errors import InputError
from workbench.live import Suggest
from workbench.run import Stopping, configure


@pytest.fixture
def view():
    view = Suggest(configure("two-layer", n=16, stopping=Stopping(rtol=1e-5), seed=3), taken.append, raced.append)
    taken.clear()
    raced.clear()
    yield view
    view.close()


taken, raced = [], []


def test_the_ranking_is_that_of_the_advisor_and_each_pair_can_be_taken_and_raced(view, eventually):
    view.find().join()
    eventually(lambda: "fastest is" in view.status.text and len(view.table.rows) > 3)
    estimates = view.advice.estimates
    assert [row.pair for row in view.estimates] == [row.pair for row in estimates]
    assert {row.pair.label for row in estimates} == {row.pair.label for row in advise("two-layer", n=16).estimates}
    assert view.status.text.startswith(f"Two layers, 16²: fastest is {estimates[0].pair.label}, ")
    cells = dict(zip(view.table.columns, view.table.rows[1], strict=True))
    assert cells["Estimate"]["key"] == estimates[1].seconds
    view.table.press("take", [2])
    (chosen,) = taken
    assert (chosen.stopping.rtol, chosen.seed, chosen.problem) == (1e-5, 3, view.base.problem)
    assert chosen.preconditioner.spec.startswith(estimates[1].pair.preconditioner.partition(":")[0])
    view.best.click()
    assert [c.label for c in raced[0]] == [view.configuration_of(row).label for row in estimates[:3]]


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
    with pytest.raises(InputError, match="no pair is ranked yet"):
        view.race_best()


def test_a_search_that_is_stopped_keeps_its_ranking(view, eventually, monkeypatch):
    found = advise("two-layer", n=16).estimates[0]

    def events(*_args, stopped, **_options):
        yield Stage("Two layers, 8²", 9, full=False)
        yield Probed(found, None)
        eventually(stopped)

    monkeypatch.setattr("workbench.live.compare.suggest.advising", events)
    job = view.find()
    eventually(lambda: view.status.text == "Two layers, 16²: 1 of 9 pairs probed on Two layers, 8²")
    with pytest.raises(InputError, match="press Stop first"):
        view.find()
    view.stop()
    job.join()
    eventually(lambda: "stopped by the user; 1 pairs ranked by predictions" in view.status.text)
    assert view.take(1).problem == view.base.problem
    with pytest.raises(InputError, match="there is no pair of rank 2"):
        view.take(2)


def test_another_problem_is_searched_from_the_next_press_on(view, eventually):
    view.rebase(configure("poisson5", n=12))
    eventually(lambda: view.status.text.startswith("Poisson, 12²: press Find the fastest"))
