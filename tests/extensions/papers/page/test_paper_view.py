"""A PaperView without a browser: deviations follow the sliders, runs are listed, and what is stale ends."""

from __future__ import annotations

import pytest

from tests.waiting import LIMIT
from workbench.errors import InputError
from workbench.extensions.papers.page import computing, paper_view
from workbench.extensions.papers.page.paper_view import PaperView
from workbench.extensions.papers.page.papers_page import PapersPage
from workbench.extensions.papers.results import Results
from workbench.live.ui.run_list import RunList


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.setattr(computing, "RESULTS", Results())
    monkeypatch.setattr(computing, "SETTLED", 0.0)
    paper_view.KNOWN.clear()


@pytest.fixture
def table2():
    view = PaperView("two-level", "table2", runs=RunList())
    view.turn(largest=32)
    assert view.wait(LIMIT)
    yield view
    view.close()


def test_curves_follow_the_sliders_and_runs_are_listed(table2):
    latest = table2.computing.latest
    assert latest.whole
    assert [curve.name for curve in latest.curves] == [curve.name for curve in table2.printed]
    assert {run.origin for run in table2.runs.runs} == {"Papers"}
    assert len(table2.runs.runs) == len(latest.curves)
    before = [curve.y[0] for curve in latest.curves]
    table2.turn(density_ratio=1.0)
    assert table2.wait(LIMIT)
    assert [curve.y[0] for curve in table2.computing.latest.curves] != before
    table2.reset()
    table2.turn(largest=32)
    assert table2.wait(LIMIT)
    assert [curve.y[0] for curve in table2.computing.latest.curves] == before


def test_what_was_computed_is_not_computed_again(table2):
    listed = len(table2.runs.runs)
    table2.turn(density_ratio=0.1)
    assert table2.wait(LIMIT)
    table2.turn(density_ratio=0.001)
    assert table2.wait(LIMIT)
    assert len(table2.runs.runs) == 2 * listed


def test_stopped_work_goes_on(table2):
    table2.turn(largest=1024)
    table2.stop()
    assert table2.wait(LIMIT)
    assert table2.computing.latest.stopped
    table2.go_on()
    table2.stop()
    table2.turn(largest=32)
    assert table2.wait(LIMIT)
    assert table2.computing.latest.whole


def test_the_deviation_is_a_sentence_that_changes():
    view = PaperView("mpcg", "table1")
    view.stop()
    assert view.wait(LIMIT)
    view.publish()
    at_first = view.message.text
    assert at_first.startswith("At the paper's values, ours deviate from print by")
    assert len(view.table.rows) == 10
    view.turn(launch=view.item.turned[1].choices[-1])
    view.stop()
    assert view.wait(LIMIT)
    view.publish()
    assert view.message.text.startswith("Turned away from the paper (GPU's latency of a launch")
    assert not view.back.disabled
    view.close()


def test_wrong_values_are_sentences():
    view = PaperView("hybrid-pipecg", "fig4")
    with pytest.raises(InputError, match="machine is one of k40, k20m, v100, h200, got 'tpu'"):
        view.turn(machine="tpu")
    with pytest.raises(InputError, match="unknown parameter 'speed'"):
        view.turn(speed=1)
    view.close()


def test_a_page_shows_one_item_and_its_badge():
    page = PapersPage()
    badges = {item["name"]: item["badge"] for paper in page.shelf.papers for item in paper["items"]}
    assert badges["fig1"] == "no printed numbers"
    assert badges["fig7-2021"] == "not computed here yet"
    view = page.open("hybrid-pipecg", "fig7-2021")
    assert page.at == "hybrid-pipecg.fig7-2021"
    assert view.wait(LIMIT)
    view.publish()
    page.back()
    assert page.at == ""
    badges = {item["name"]: item["badge"] for paper in page.shelf.papers for item in paper["items"]}
    assert badges["fig7-2021"].endswith("% from print")
    page.open_at("hybrid-pipecg.fig99")
    assert "is one of fig4, fig5, fig6, fig6-2021" in page.message.text
    page.open_at("mpcg")
    assert (page.at, page.shelf.last, page.message.text) == ("", "mpcg.table1", "")
    page.open_at("cgnr")
    assert page.message.text.startswith("unknown paper")
    page.close()
