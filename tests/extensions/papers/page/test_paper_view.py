"""A PaperView without a browser: deviations follow the sliders, runs are listed, and what is stale ends."""

from __future__ import annotations

import pytest

from tests.waiting import LIMIT
from workbench.errors import InputError
from workbench.extensions.papers.page import computing, paper_view
from workbench.extensions.papers.page.paper_scene import NO_LINE
from workbench.extensions.papers.page.paper_view import PaperView
from workbench.extensions.papers.page.papers_page import PapersPage
from workbench.extensions.papers.recorded import recorded
from workbench.extensions.papers.results import Results
from workbench.live.ui.run_list import RunList
from workbench.plots.scenes.scene import PointsOf


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    """Neither results of tests before, nor a thread that brings views up to date: tests do so themselves."""
    monkeypatch.setattr(computing, "RESULTS", Results())
    monkeypatch.setattr(computing, "SETTLED", 0.0)
    # What the publisher's thread is about to show, a call of `publish` from a test does not show once more.
    monkeypatch.setattr(paper_view.Publisher, "add", lambda *_view, **_first: None)
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
    assert at_first.startswith("At the paper's values, 10 points are ")
    assert "% from print on average, at most +66.1% (GPU, N = 200)" in at_first
    assert len(view.table.rows) == 10
    view.turn(launch=view.item.turned[1].choices[-1])
    view.stop()
    assert view.wait(LIMIT)
    view.publish()
    assert view.message.text.startswith("Away from the paper's values (GPU's latency of a launch, µs ")
    assert not view.back.disabled
    view.close()


def test_recorded_results_are_drawn_at_once_and_computed_here_on_request():
    view = PaperView("hybrid-pipecg", "fig7-2021")
    assert view.wait(LIMIT)
    view.publish()
    stored = recorded(view.item)
    assert view.progress.value == f"<p class='wb-note'>Computed on {stored.day} on {stored.machine}.</p>"
    assert (view.halt.description, view.halt.disabled) == ("Compute here", False)
    assert view.chart.scene.layers
    there = view.message.text
    view.toggle()
    assert view.wait(LIMIT)
    view.publish()
    # A model is equal on all machines.
    assert view.message.text == there
    assert (view.progress.value, view.halt.description) == ("", "Stop")
    view.close()


def test_a_model_that_is_more_than_three_times_off_does_not_apply():
    view = PaperView("two-level", "table1")
    assert view.wait(LIMIT)
    view.publish()
    assert view.message.text == (
        "At the paper's values, the model does not apply: 10 points, all more than 3 times off."
    )
    assert view.message.tone == "bad"
    assert {row[4]["text"] for row in view.table.rows} == {"model does not apply"}
    assert set(view.table.marks) == {"failed"}
    assert (
        "Printed numbers: 10 compared independently: 7 plausible, not measured, 3 not explained." in view.reason.value
    )
    assert "for each row that a block solves after another" in view.reason.value
    assert [cell["text"] for cell in (row[2] for row in view.table.rows)][:4] == ["28.4", "25.48", "22.8", "20.15"]
    assert view.table.columns[2:4] == ["Printed, s", "Ours, s"]
    view.close()


def test_points_read_off_a_figure_are_called_so_and_all_are_in_legend_and_table():
    view = PaperView("block-cg", "fig5")
    assert view.wait(LIMIT)
    view.publish()
    named = {layer.name: layer for layer in view.chart.scene.layers if isinstance(layer, PointsOf) and layer.name}
    assert {"read off the figure", "clSPARSE, 2080S, read off the figure", "clSPARSE, i5, read off the figure"} == set(
        named
    )
    assert {layer.marker for layer in named.values()} == {"D"}
    assert {row[0]["text"] for row in view.table.rows} == {"2080S", "i5", "clSPARSE, 2080S", "clSPARSE, i5"}
    assert view.table.columns[2] == "Read off the figure"
    # The table has the marks of the picture, which has no lines.
    assert {(fact["style"]["marker"], *fact["style"]["dash"]) for fact in view.table.facts} == {
        ("o", *NO_LINE),
        ("s", *NO_LINE),
        ("D", *NO_LINE),
    }
    assert "does not apply to 5 of 10 points; the other 5 are " in view.message.text
    view.close()


def test_the_paper_without_numbers_and_references_are_said():
    words = {}
    for paper, name in (("two-level", "fig1"), ("mpcg", "fig4"), ("hysing", "case1")):
        view = PaperView(paper, name)
        assert view.wait(LIMIT)
        view.publish()
        words[name] = view.message.text
        view.close()
    assert words["fig1"] == words["fig4"] == "The paper gives no numbers for this figure."
    assert "from the reference on average" in words["case1"]
    assert view.table.columns[2] == "Reference"
    assert view.table.layout.display is None
    assert view.table.rows[0][2]["text"] == "0.9011–0.9013"


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
    assert badges["fig1"] == "no numbers in the paper"
    assert badges["fig7-2021"].endswith("% from print")
    assert all(item["made"].startswith("computed ") for paper in page.shelf.papers for item in paper["items"])
    assert all(item["points"] or item["lines"] for paper in page.shelf.papers for item in paper["items"])
    view = page.open("hybrid-pipecg", "fig7-2021")
    view.toggle()
    assert page.at == "hybrid-pipecg.fig7-2021"
    assert view.wait(LIMIT)
    view.publish()
    page.back()
    assert page.at == ""
    made = {item["name"]: item["made"] for paper in page.shelf.papers for item in paper["items"]}
    assert (made["fig7-2021"], made["fig6-2021"]) == ("computed here", f"computed {recorded(view.item).short}")
    page.open_at("hybrid-pipecg.fig99")
    assert "is one of fig4, fig5, fig6, fig6-2021" in page.message.text
    page.open_at("mpcg")
    assert (page.at, page.shelf.last, page.message.text) == ("", "mpcg.table1", "")
    page.open_at("cgnr")
    assert page.message.text.startswith("unknown paper")
    page.close()
