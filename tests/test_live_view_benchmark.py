"""The benchmark of live views: what counts for and against its requirements."""

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


def test_the_answer_to_stop_and_the_end_of_the_run_are_told_apart(live_view):
    _, report = live_view

    def answer(name, origin, to, ms):
        return {"name": name, "from": origin, "to": to, "painted_ms": ms}

    answers = [answer("Run", "done", "queued", 40), answer("Stop", "running", "stopping", 60)]
    answers += [answer("Stop", "stopping", "done", 150), answer("Stop", "running", "done", 90)]
    told, ended = report._answers(answers), report._ends(answers)
    assert (told["measured"], told["of"], told["met"]) == ("median 60 ms", "3 clicks", "yes")
    assert (ended["measured"], ended["of"], ended["met"]) == ("median 120 ms", "2 clicks", "yes")
    assert report._answers([*answers, answer("Run", "done", "queued", 101)])["met"] == "no"
    assert report._ends([*answers, answer("Stop", "stopping", "done", 201)])["met"] == "no"
