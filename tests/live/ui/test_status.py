"""The status line keeps quiet where nobody reads it."""

from types import SimpleNamespace

import pytest

from tests.live.conftest import page_says
from workbench.live.ui.status import PATIENCE, StatusLine

LAST = 2 * int(PATIENCE)


@pytest.fixture
def clock(monkeypatch):
    """A second between two reads of the clock; other threads keep the real one."""
    seconds = iter(range(1000))
    monkeypatch.setattr("workbench.live.ui.status.time", SimpleNamespace(monotonic=lambda: float(next(seconds))))


def test_progress_that_nobody_reads_is_kept_back_until_somebody_does(clock):
    line = StatusLine()
    sent = []
    line.observe(lambda change: sent.append(change["new"]), "text")
    for number in range(LAST):
        line.say(f"iteration {number}", "busy", "running")
    assert sent == [f"iteration {number}" for number in range(int(PATIENCE))]
    page_says(line, {"kind": "read"})
    assert line.text == f"iteration {LAST - 1}"
    line.say(f"iteration {LAST}", "busy", "running")
    assert line.text == f"iteration {LAST}"


def test_a_text_that_is_offered_is_copied_as_it_stands():
    line = StatusLine()
    # A link may have what sentences print as powers of ten.
    line.offer("a link of 5 characters", "x1e-6")
    assert (line.text, line.tone, line.quote) == ("a link of 5 characters", "good", "x1e-6")
    line.say("another sentence")
    assert line.quote == ""


def test_what_is_no_progress_is_always_said(clock):
    line = StatusLine()
    for number in range(LAST):
        line.say(f"iteration {number}", "busy", "running")
    line.say("the run has ended", "good", "done")
    assert (line.text, line.tone, line.state) == ("the run has ended", "good", "done")
