"""Every view leaves nothing when it is closed, and a cell that is run again closes what it replaces."""

import gc
import threading
import weakref

import pytest
from IPython.core.interactiveshell import InteractiveShell
from ipywidgets.embed import dependency_state

import workbench.live as live
from tests.live.conftest import ended, page_says, widgets
from tests.waiting import LIMIT, until
from workbench.errors import InputError
from workbench.live.transport import cells
from workbench.live.ui.view import CLOSED, LiveWidget, View, sheet
from workbench.run import Session, configure

NO_VIEWS = ("ExtensionView", "Lesson", "RunList", "explore", "flow", "html_of", "open_run", "page_of", "workbench")
OURS = "workbench-"
"""Beginning of the names of threads of views."""


@pytest.fixture(scope="module", autouse=True)
def collected():
    """Look for garbage among what these tests make: each look at all that others have left takes a second."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module")
def result():
    return ended(n=12, trace=True).result


@pytest.fixture
def made(result, tmp_path):
    """What makes each view, and uses those that make something more when they are used."""
    bubbles = configure("bubbles-2d", n=32)
    return {
        "ask": lambda: live.ask("How many?", 2, solution="Two."),
        "BubbleBuilder": lambda: dragged(live.BubbleBuilder()),
        "Builder": lambda: live.Builder(bubbles.problem, bubbles.deflation, lambda: bubbles),
        "ConvergenceView": lambda: live.ConvergenceView(Session(configure("poisson5", n=8))),
        "Explorer": lambda: live.Explorer(bubbles, tmp_path),
        "FlowView": lambda: played(live.flow(n=16, until=0.1)),
        "InsideView": lambda: looked_into(live.InsideView(), result),
        "OwnMethod": lambda: raced(live.OwnMethod("cg", "poisson5", n=12)),
        "RaceView": lambda: live.RaceView(bubbles),
        "MarkedSteps": lambda: live.MarkedSteps("block-cg-oleary", "poisson5", n=8, rhs="random:2"),
        "PolynomialView": lambda: moved(live.PolynomialView()),
        "PaperView": lambda: live.PaperView("two-level", "fig1"),
        "Replay": lambda: opened_twice(live.Replay(), result.record()),
        "RooflineView": lambda: live.RooflineView(result, "v100"),
        "RunsPage": lambda: live.RunsPage(live.RunList(), tmp_path),
        "SaveBar": lambda: live.SaveBar(dict, provenance=dict),
        "ShareBar": lambda: live.ShareBar(lambda: bubbles, lambda _configuration: None),
        "SpectrumView": lambda: live.SpectrumView(result),
        "StepView": lambda: live.StepView("cg", "poisson5:16"),
        "Stepper": lambda: live.Stepper("cg", "pipecg", "poisson5", n=16),
        "TimelineView": lambda: live.TimelineView(result),
        "SweepView": lambda: live.SweepView("poisson5", {"n": [8, 9]}),
        "Workbench": lambda: turned(live.Workbench(bubbles, tmp_path)),
    }


def dragged(view):
    # Nothing is solved before a page shows the canvas.
    page_says(view.canvas, {"kind": "ready"})
    until(lambda: view.live.solver.latest is not None)
    view.live.solver.latest.session.join(LIMIT)
    return view


def moved(view):
    page_says(view.chart, {"kind": "moved", "key": "3", "x": 2.5, "y": 0})
    assert view.wait(LIMIT)
    return view


def looked_into(view, run):
    for _ in range(2):
        view.follow(run)
        until(lambda: view.spectrum and view.roofline)
    return view


def played(view):
    view.play()
    view.wait(LIMIT)
    view.race.start()
    until(lambda: view.race.racing is not None and view.race.racing.over)
    return view


def raced(view):
    for _ in range(2):
        view.race().race.wait(LIMIT)
    return view


def opened_twice(view, record):
    for _ in range(2):
        view.show(record)
        until(lambda: view.inside.spectrum and view.inside.roofline)
    return view


def turned(view):
    for page in view.pages.values():
        page.turn_to()
    for kind in (build := view.view("Build")).kind.options:
        build.kind.value = kind
    return view


def threads():
    return {thread for thread in threading.enumerate() if thread.name.startswith(OURS)}


@pytest.mark.parametrize("name", [*(name for name in live.__all__ if name not in NO_VIEWS), "served Workbench"])
def test_a_closed_view_leaves_nothing(name, made, served):
    if name.startswith("served"):
        served()
    name = name.rpartition(" ")[2]
    widgets_before, threads_before = widgets(), threads()
    view = made.get(name, getattr(live, name))()
    assert widgets() > widgets_before
    bundle = view._repr_mimebundle_()
    stored = bundle[0] if isinstance(bundle, tuple) else bundle
    assert stored["text/plain"] == f"{type(view).__name__}, a live view of the workbench: run this cell to see it."
    assert "application/vnd.jupyter.widget-view+json" in stored
    view.close()
    # A part that a worker was just making goes when it is made.
    until(lambda: widgets() <= widgets_before)
    until(lambda: threads() <= threads_before)
    assert view._repr_mimebundle_() == {"text/plain": CLOSED}
    view.close()
    kept = weakref.ref(view)
    del view
    until(lambda: gc.collect() + 1 and kept() is None)


def test_widgets_share_a_style_sheet_which_is_saved_with_them():
    one, other = LiveWidget(), LiveWidget()
    shared = sheet()
    assert {one._sheet, other._sheet} == {shared}
    saved = dependency_state([one], drop_defaults=False)
    assert [name for name, model in saved.items() if "_css" in model["state"]] == [shared.model_id]
    # As by `Widget.close_all`.
    shared.close()
    third = LiveWidget()
    assert third._sheet is sheet() is not shared
    assert third._sheet.comm is not None
    for made in (one, other, third):
        made.close()


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


def test_a_session_in_place_of_a_publisher_is_told_how_it_is_shown():
    for view in (live.FieldView, live.VolumeView):
        with pytest.raises(
            InputError, match=f"{view.__name__} takes a Publisher, got a Session; .*by its method follow"
        ):
            view(Session(configure("poisson5", n=16)))


def test_a_closed_view_keeps_no_vectors(tmp_path):
    view = live.Explorer(configure("poisson5", n=16, preconditioner="none"), tmp_path)
    session = view.run()
    session.wait(LIMIT)
    run = weakref.ref(session.run)
    view.close()
    del session
    until(lambda: gc.collect() + 1 and run() is None)
    assert view.box.comm is None
