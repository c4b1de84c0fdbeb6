"""The status line keeps quiet where nobody reads it."""

from __future__ import annotations

from workbench.live.status import PATIENCE, StatusLine


def test_progress_that_nobody_reads_is_kept_back_until_somebody_does():
    line = StatusLine()
    sent = []
    line.observe(lambda change: sent.append(change["new"]), "text")
    for number in range(20):
        line.say(f"iteration {number}", "busy", "running")
    assert sent == [f"iteration {number}" for number in range(PATIENCE)]
    line._read(line, {"kind": "read"}, [])
    assert line.text == "iteration 19"
    line.say("iteration 20", "busy", "running")
    assert line.text == "iteration 20"


def test_what_is_no_progress_is_always_said():
    line = StatusLine()
    for number in range(20):
        line.say(f"iteration {number}", "busy", "running")
    line.say("the run has ended", "good", "done")
    assert (line.text, line.tone, line.state) == ("the run has ended", "good", "done")
