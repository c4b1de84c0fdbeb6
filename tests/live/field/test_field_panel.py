"""The switch between slices and the 3D view, and what both of them show."""

import pytest

from tests.live.conftest import ended
from tests.waiting import LIMIT
from workbench.live.field.field_panel import SLICES, SOLID, FieldPanel
from workbench.live.inspect.inside import InsideView
from workbench.live.transport.publisher import Publisher

CUBE = {"n": 12, "preconditioner": "jacobi", "deflation": "none"}


@pytest.fixture
def panel():
    publisher = Publisher()
    made = FieldPanel(publisher)
    yield made
    made.field.close()
    if made.volume is not None:
        made.volume.close()
    publisher.close()


def test_the_3d_view_is_offered_for_cubes_alone_and_made_when_it_is_chosen(panel, eventually, page_of):
    page_of(panel.field)
    panel.follow(ended("two-layer", n=12))
    panel.field.quantity = "residual"
    eventually(lambda: panel.field.look is not None)
    assert panel.view.layout.display == "none"
    panel.follow(ended("bubbles-3d", **CUBE))
    eventually(lambda: panel.field.solid)
    assert panel.view.layout.display is None
    assert panel.volume is None
    panel.view.value = SOLID
    assert (panel.volume.quantity, panel.volume.layout.display) == ("solution", None)
    assert panel.field.layout.display == "none"
    assert (panel.field.link.hidden, panel.volume.link.hidden) == (True, False)
    panel.hide(True)
    assert panel.volume.link.hidden
    panel.hide(False)
    panel.view.value = SLICES
    assert (panel.field.link.hidden, panel.volume.link.hidden) == (False, True)


def test_a_run_in_a_square_after_one_in_a_cube_is_shown_by_the_field(panel, eventually, page_of):
    # While the 3D view is in front, the field is sent nothing and does not see which grid the next run has.
    page_of(panel.field)
    panel.field.quantity = "residual"
    panel.follow(ended("bubbles-3d", **CUBE))
    eventually(lambda: panel.field.solid)
    panel.view.value = SOLID
    page_of(panel.volume)
    panel.follow(ended("two-layer", n=12))
    eventually(lambda: panel.view.layout.display == "none")
    assert (panel.field.layout.display, panel.volume.layout.display) == (None, "none")
    panel.follow(ended("bubbles-3d", **CUBE))
    eventually(lambda: panel.volume.layout.display is None)


def test_the_3d_view_follows_the_run_that_is_looked_into(eventually, page_of, opened):
    first, second = (ended("bubbles-3d", solver=solver, **CUBE) for solver in ("cg", "sd"))
    view = opened(InsideView(first))
    page_of(view.field)
    eventually(lambda: view.panel.field.solid)
    view.panel.view.value = SOLID
    volume = view.panel.volume
    volume.quantity = "solution"
    page = page_of(volume)
    iterations = [session.result.summary["iterations"] for session in (first, second)]
    assert iterations[0] != iterations[1]
    eventually(lambda: any(message.get("iteration") == iterations[0] for message in page.messages))
    page.received.clear()
    view.follow(second)
    eventually(lambda: any(message.get("iteration") == iterations[1] for message in page.messages))


def test_the_field_of_solve_follows_the_latest_run_started_or_chosen(view_in, eventually):
    explorer = view_in("solve", "bubbles-3d", **CUBE)
    sessions = [explorer.run() for _ in range(2)]
    for session in sessions:
        session.wait(LIMIT)
    eventually(lambda: explorer.followed is sessions[1])
    explorer.panel.view.value = SOLID
    assert explorer.panel.volume is not None
    explorer.runs.choose([1])
    eventually(lambda: explorer.followed is explorer.runs.find(1).handle.source)
    third = explorer.run()
    third.wait(LIMIT)
    eventually(lambda: explorer.followed is third)


def test_a_problem_that_was_changed_is_shown_in_3d_and_the_vectors_stay_those_of_the_run(view_in, eventually, page_of):
    explorer = view_in("solve", "bubbles-3d", state="ended", **CUBE)
    eventually(lambda: explorer.field.solid)
    explorer.panel.view.value = SOLID
    volume = explorer.panel.volume
    eventually(lambda: explorer.field.quantity == "residual")
    volume.quantity = "coefficient"
    explorer.form.set("problem.n", 16)
    eventually(lambda: volume.still is not None and volume.still.scene.cells == (16, 16, 16))
    page_of(volume)
    volume.quantity = "solution"
    eventually(lambda: volume.look is not None and volume.look.values.size == 12**3)


def test_a_problem_changed_before_the_views_have_seen_the_run_stays_drawn(view_in, eventually):
    explorer = view_in("solve", "bubbles-3d", **CUBE)
    eventually(lambda: explorer.field.solid)
    explorer.panel.view.value = SOLID
    with explorer.publisher.at_rest():
        explorer.run().wait(LIMIT)
        explorer.form.set("problem.n", 16)
        assert explorer.picture.painter.wait(LIMIT)
    eventually(lambda: explorer.picture.followed is not None)
    assert explorer.picture.painter.wait(LIMIT)
    eventually(lambda: explorer.panel.volume.still is not None and explorer.panel.volume.still.scene.cells == (16,) * 3)


@pytest.mark.parametrize("at_rest", [False, True])
def test_the_column_of_a_run_with_several_right_hand_sides_is_chosen(panel, eventually, page_of, at_rest):
    page = page_of(panel.field)
    session = ended("two-layer", n=12, solver="block-cg", rhs="random:3")
    panel.follow(session.result if at_rest else session)
    eventually(lambda: panel.field.columns == 3)
    assert panel.column.layout.display == "none"
    panel.field.quantity = "solution"
    eventually(lambda: panel.column.layout.display is None and panel.column.max == 3)
    for column in (0, 2):
        panel.column.value = column + 1
        eventually(lambda chosen=f"column {column + 1}": page.messages and page.messages[-1]["title"].endswith(chosen))
        seen, X = panel.field.look.values, session.result.x
        assert (seen.min(), seen.max()) == pytest.approx((X[:, column].min(), X[:, column].max()))
    panel.follow(ended("two-layer", n=12))
    eventually(lambda: panel.column.layout.display == "none")
    assert (panel.column.value, panel.field.column) == (1, 0)
    panel.field.quantity = "residual"
    eventually(lambda: page.messages[-1]["title"].startswith("residual"))
    assert "column" not in page.messages[-1]["title"]
