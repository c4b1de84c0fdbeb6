"""Every view leaves nothing when it is closed, and a cell that is run again closes what it replaces."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest
from IPython.core.interactiveshell import InteractiveShell
from ipywidgets.widgets.widget import _instances

import workbench.live as live
from tests.waiting import LIMIT
from workbench.errors import InputError
from workbench.live.transport import cells
from workbench.live.ui.view import CLOSED, LiveWidget, View
from workbench.run import Session, configure

NO_VIEWS = ("RunList", "explore", "open_run", "workbench")
OURS = "workbench-"
"""Beginning of the names of threads of views."""


@pytest.fixture(scope="module")
def ended():
    session = Session(configure("poisson5", n=16))
    session.wait(LIMIT)
    return session


@pytest.fixture
def made(ended, tmp_path):
    """What makes each view."""
    bubbles = configure("bubbles-2d", n=32)
    return {
        "Builder": lambda: live.Builder(bubbles.problem, bubbles.deflation, lambda: bubbles),
        "ConvergenceView": lambda: live.ConvergenceView(ended),
        "Explorer": lambda: live.Explorer(bubbles, tmp_path),
        "InsideView": lambda: live.InsideView(ended),
        "OwnMethod": lambda: live.OwnMethod("cg", "poisson5"),
        "RaceView": lambda: live.RaceView(bubbles),
        "RooflineView": lambda: live.RooflineView(ended),
        "RunsPage": lambda: live.RunsPage(live.RunList(), tmp_path),
        "SaveBar": lambda: live.SaveBar(dict, provenance=dict),
        "ShareBar": lambda: live.ShareBar(lambda: bubbles, lambda _configuration: None),
        "SpectrumView": lambda: live.SpectrumView(ended),
        "StepView": lambda: live.StepView("cg", "poisson5:16"),
        "Stepper": lambda: live.Stepper("cg", "pipecg", "poisson5", n=16),
        "TimelineView": lambda: live.TimelineView(ended),
        "Workbench": lambda: live.Workbench(bubbles, tmp_path),
    }


def threads():
    return {thread for thread in threading.enumerate() if thread.name.startswith(OURS)}


@pytest.mark.parametrize("name", [name for name in live.__all__ if name not in NO_VIEWS])
def test_a_closed_view_leaves_nothing(name, made, eventually):
    widgets_before, threads_before = set(_instances), threads()
    view = made.get(name, getattr(live, name))()
    if name == "Workbench":
        for page in view.pages.values():
            page.turn_to()
    assert set(_instances) > widgets_before
    view.close()
    # A part that a worker was just making goes when it is made.
    eventually(lambda: set(_instances) <= widgets_before)
    eventually(lambda: threads() <= threads_before)
    assert view._repr_mimebundle_() == {"text/plain": CLOSED}
    view.close()


@pytest.fixture
def shell(monkeypatch):
    """An interactive shell whose cells are watched: runs one, and returns its variables."""
    made = InteractiveShell()
    monkeypatch.setattr(cells, "_cells", [cells.Cells(made, (View, LiveWidget))])
    made.user_ns.update(live=live, views=[])

    def run(text):
        made.run_cell(text).raise_error()
        return made.user_ns

    yield run
    for view in made.user_ns["views"]:
        view.close()


MAKE = "e = live.Schedules()\nviews.append(e)"
SHOW = "views.append(live.Schedules())\nviews[-1]._repr_mimebundle_()"


def are_open(names):
    return [view.box.comm is not None for view in names["views"]]


@pytest.mark.parametrize("text", [MAKE, SHOW])
def test_a_cell_that_is_run_again_closes_the_view_that_it_replaces(shell, text):
    for _ in range(2):
        shell(text)
    assert are_open(shell(text)) == [False, False, True]


def test_a_view_in_another_variable_or_cell_stays(shell):
    shell(MAKE)
    shell("kept = e")
    shell(MAKE)
    assert are_open(shell(f"{MAKE}\n# another cell")) == [True, True, True]


def test_a_view_that_its_cell_shows_again_stays(shell):
    once = "if not views:\n    views.append(live.Schedules())\nviews[0]._repr_mimebundle_()"
    shell(once)
    assert are_open(shell(once)) == [True]


def test_a_session_in_place_of_a_publisher_is_told_how_it_is_shown(ended):
    for view in (live.FieldView, live.VolumeView):
        with pytest.raises(
            InputError, match=f"{view.__name__} takes a Publisher, got a Session; .*by its method follow"
        ):
            view(ended)


def test_a_closed_view_keeps_no_vectors(tmp_path, eventually):
    view = live.Explorer(configure("poisson5", n=16, preconditioner="none"), tmp_path)
    session = view.run()
    session.wait(LIMIT)
    run = weakref.ref(session.run)
    view.close()
    del session

    def dropped():
        gc.collect()
        return run() is None

    eventually(dropped)
    assert view.box.comm is None
