"""Names and sentences of users on a page: text, never markup."""

import re

import pytest

from workbench.live.compare import sweep_plot
from workbench.live.compare.suggest import ruled_out
from workbench.live.inspect import replay
from workbench.records import Record
from workbench.run import Run, configure, run_through

HOSTILE = "<img src=x onerror='alert(1)'>"
TEXTS = ("solver", "preconditioner", "deflation", "coarse", "device", "reason")


@pytest.fixture(scope="module")
def record():
    """A run that came as a file, every text of which is markup."""
    made = run_through(Run(configure("poisson5", n=4))).record()
    provenance = {**made.provenance, "notes": [HOSTILE], "started": HOSTILE, "machine": {"cpu": HOSTILE}}
    summary = {**made.summary, **dict.fromkeys(TEXTS, HOSTILE), "problem": {"name": HOSTILE, "parameters": {}}}
    return Record(summary, provenance, made.history)


def harmless(page):
    """Every < of the name is text."""
    assert "&lt;img src=x onerror=" in page
    return not re.search("<img", page)


def test_where_a_run_comes_from(record):
    assert harmless(replay.origin(record))


def test_the_pairs_that_were_ruled_out():
    page = ruled_out({HOSTILE: HOSTILE})
    assert harmless(page)
    assert page.count("&lt;img") == 2


def test_the_note_of_a_plot_of_a_sweep(opened):
    shown = opened(sweep_plot.SweepPlot(lambda: None))
    shown.begin({"n": [1, 2], "solver": ["a", "b"], HOSTILE: ["c", "d"]}, HOSTILE)
    shown.form.change(down="n", across="solver")
    assert "minimum over" in shown.note.value
    assert harmless(shown.note.value)
