"""The benchmark of live views: what counts for and against its requirements."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import until


@pytest.fixture
def live_view(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    from benchmarks.live_view import page, report

    return page, report


@pytest.mark.parametrize(("answered", "met"), [(100, "yes"), (95, "yes"), (94, "no"), (0, "")])
def test_wishes_without_an_answer_are_counted(live_view, answered, met):
    page, report = live_view
    asked = [1000.0 + 20 * turn for turn in range(100)]
    told = page._gesture(asked, [(at + 1, 2.0) for at in asked[:answered]])
    assert told["unanswered"] == 100 - answered
    row = report._gesture("10 events: zoom", told)
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


def window(rate, browser):
    return {"rate": rate, "browser": browser, "solver": None, "others": None}


def test_what_the_browser_runs_is_printed_next_to_the_slowdown(live_view):
    _, report = live_view
    rounds = [{"watched": window(95.0, 0.09), "alone": window(100.0, 0.01)} for _ in range(8)]
    slower, browser = report._least(report.costs(rounds))
    assert (slower["measured"], slower["met"]) == ("5.3 %", "")
    assert browser["requirement"] == "- Chromium runs more"
    assert browser["measured"] == "80.0 ms/s"
    untold = [{"watched": window(95.0, None), "alone": window(100.0, None)} for _ in range(8)]
    assert len(report._least(report.costs(untold))) == 1


def test_a_busy_process_is_seen_with_all_that_it_started(live_view):
    from benchmarks.live_view import processes

    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])"
    with subprocess.Popen([sys.executable, "-c", code], start_new_session=True) as process:
        try:
            before = processes.on_cores(process.pid)
            if not before:
                pytest.skip("this system does not tell what threads run")
            until(lambda: processes.more(before, processes.on_cores(process.pid)) > 0.1)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
    assert processes.more({}, {}) is None


def test_without_chromium_one_sentence_says_what_to_do(live_view, monkeypatch):
    from benchmarks.live_view.lab import chromium_path

    monkeypatch.setenv("WORKBENCH_CHROMIUM", sys.executable)
    assert chromium_path("/playwrights/own") == sys.executable
    monkeypatch.setenv("WORKBENCH_CHROMIUM", "/no/chromium")
    with pytest.raises(SystemExit, match="needs Chromium, and /no/chromium is no program: install chromium, or name"):
        chromium_path(sys.executable)
