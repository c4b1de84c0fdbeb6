"""The benchmark of live views: a wish that no draw answers counts against the requirement."""

from pathlib import Path

import pytest


@pytest.fixture
def live_view(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    from benchmarks.live_view import page, report

    return page, report


@pytest.mark.parametrize(("answered", "met"), [(100, "yes"), (95, "yes"), (94, "no"), (0, "")])
def test_wishes_without_an_answer_are_counted(live_view, answered, met):
    page, report = live_view
    asked = [1000.0 + 20 * turn for turn in range(100)]
    told = page._gesture(asked, [(at + 1, 2.0) for at in asked[:answered]])
    assert told["unanswered"] == 100 - answered
    row = report._gesture("zoom", {"events": 10, "zoom": told})
    assert row["met"] == met
    assert met == "" or f"{100 - answered} never answered" in row["of"]
