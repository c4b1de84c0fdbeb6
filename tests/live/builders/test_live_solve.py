"""Solving while bubbles are dragged: the newest request wins, each starts from the last solution, errors are said."""

import dataclasses
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse.linalg import spsolve

from tests.live.builders.forms import say
from tests.live.conftest import ENDLESS, page_says
from tests.waiting import LIMIT, until
from workbench.errors import InputError
from workbench.live import BubbleBuilder, workbench
from workbench.live.builders.live_solve import LiveSolver, ending, live_configuration
from workbench.plots.scenes.convergence import now_and_last_scene
from workbench.plots.scenes.scene import CurveOf, LineAt, PointsOf
from workbench.plots.scenes.spectrum import strokes_scene
from workbench.problems.bubbles import Bubbles2D, Bubbles3D
from workbench.run import Stopping, configure

SQUARE = Bubbles2D(n=32, sides="x-:dirichlet")
DEFLATION = configure(SQUARE, deflation="levelset:4").deflation
ROWS = ([0.25, 0.25, 0.175], [0.3, 0.25, 0.175], [0.3, 0.3, 0.175])


def moved(x):
    """The square with its first bubble elsewhere."""
    geometry = SQUARE.geometry()
    centres = geometry.centres.copy()
    centres[0] = x, 0.25
    return Bubbles2D.from_arrays(centres, geometry.radii, n=SQUARE.n, sides=SQUARE.sides)


class Solving:
    """A solver that can be waited for."""

    def __init__(self):
        self._changed = threading.Condition()
        self.solver = LiveSolver(self._change)

    def _change(self):
        with self._changed:
            self._changed.notify_all()

    def until(self, true):
        with self._changed:
            assert self._changed.wait_for(true, LIMIT)

    def solve(self, configuration):
        """Until the end."""
        solve = self.solver.solve(configuration)
        self.until(lambda: solve.over)
        return solve


@pytest.fixture
def solving():
    made = Solving()
    yield made
    made.solver.stop()


@pytest.fixture
def builder(opened):
    return opened(BubbleBuilder(SQUARE, DEFLATION))


def until_ended(builder, before=None):
    """The solve that was requested last, once the panel has said how it ended."""
    solve = builder.live.solver.latest
    assert solve is not None
    assert solve is not before
    until(lambda: solve.over)
    said = solve.session.error or ending(solve)[0]
    until(lambda: builder.live.line.text == said)
    return solve


def ticked(builder):
    """Show the builder on a page, where the box is ticked; returns the first solve, once it has ended."""
    page_says(builder.canvas, {"kind": "ready"})
    until(lambda: builder.live.solver.latest is not None)
    return until_ended(builder)


def test_a_solve_starts_from_the_last_solution_and_needs_fewer_iterations(solving):
    first = solving.solve(configure(moved(0.25), preconditioner="neumann:2"))
    assert not first.warm
    warm = solving.solve(configure(moved(0.26), preconditioner="neumann:2"))
    assert warm.warm
    assert (solving.solver.shown, solving.solver.before) == (warm, first)
    cold = Solving().solve(configure(moved(0.26), preconditioner="neumann:2"))
    assert not cold.warm
    iterations = [solve.session.result.summary["iterations"] for solve in (warm, cold)]
    assert 0 < iterations[0] < iterations[1]
    system = moved(0.26).assemble()
    exact = spsolve(system.operator.to_csr().tocsc(), np.asarray(system.b))
    for solve in (warm, cold):
        assert np.linalg.norm(solve.session.result.x - exact) <= 1e-4 * np.linalg.norm(exact)
    # The same problem again is solved before the first iteration.
    again = solving.solve(configure(moved(0.26), preconditioner="neumann:2"))
    assert again.session.result.summary["iterations"] == 0


def test_another_grid_and_a_solve_without_convergence_start_from_zero(solving):
    assert not solving.solve(configure(SQUARE)).warm
    other = solving.solve(configure(SQUARE.changed({"n": 24})))
    assert not other.warm
    # Its curve is not compared with one of another grid.
    assert (solving.solver.shown, solving.solver.before) == (other, None)
    assert not solving.solve(configure(Bubbles3D(n=24))).warm
    assert solving.solve(configure(Bubbles3D(n=24, density_ratio=0.01), stopping=Stopping(maxiter=1))).warm
    assert not solving.solve(configure(Bubbles3D(n=24))).warm


def test_the_newest_request_wins_and_no_queue_grows(solving):
    solves = [solving.solver.solve(configure(moved(x), stopping=ENDLESS)) for x in (0.25, 0.26, 0.27)]
    last = solving.solve(configure(moved(0.28)))
    for solve in solves:
        solve.session.join(LIMIT)
        assert solve.session.over
        assert not solve.over
    assert solving.solver.shown is last
    assert solving.solver.before is None
    assert last.session.result.converged
    assert not last.warm


def test_stop_ends_the_solve_and_nothing_is_shown_of_it(solving):
    solve = solving.solver.solve(configure(SQUARE, stopping=ENDLESS))
    solving.solver.stop()
    solve.session.join(LIMIT)
    assert solve.session.over
    assert solving.solver.latest is solving.solver.shown is None


def test_scenes_have_the_samples_of_the_runs_and_the_last_ones_pale(solving):
    last = solving.solve(configure(moved(0.25)))
    now = solving.solve(configure(moved(0.3)))
    behind, curve, line = now_and_last_scene(now.relative, last.relative, 1e-6).layers
    assert isinstance(behind, CurveOf)
    assert isinstance(curve, CurveOf)
    assert isinstance(line, LineAt)
    assert (behind.faint, curve.faint) == (True, False)
    for drawn, solve in ((curve, now), (behind, last)):
        record = solve.session.result.record()
        np.testing.assert_allclose(drawn.y, record.relative_residual)
    assert line.value == pytest.approx(1e-6)
    values, before = now.ritz_values, last.ritz_values
    # The Ritz values lie within the spectrum of D^-1 A.
    A = moved(0.3).assemble().operator.to_csr().toarray()
    scale = 1 / np.sqrt(np.diag(A))
    exact = np.linalg.eigvalsh(scale[:, None] * A * scale)
    assert exact[0] * (1 - 1e-8) <= values[0] < values[-1] <= exact[-1] * (1 + 1e-8)
    pale, present = strokes_scene(values, before).layers
    assert isinstance(pale, PointsOf)
    assert isinstance(present, PointsOf)
    assert (pale.faint, present.faint) == (True, False)
    assert (pale.x.size, present.x.size) == (before.size, values.size)
    assert strokes_scene(np.empty(0), before).note.startswith("No iteration was needed")


def test_the_configuration_of_the_page_is_taken_where_it_fits():
    chosen = configure("two-layer", preconditioner="jacobi", deflation="stripes", x0="random", rhs="random")
    made, why = live_configuration(lambda: chosen, SQUARE, DEFLATION)
    assert why == ""
    assert made == dataclasses.replace(chosen, problem=SQUARE, deflation=DEFLATION, x0="zero")
    cheap = configure(SQUARE, preconditioner="neumann:2", deflation=DEFLATION, x0="zero")
    assert live_configuration(None, SQUARE, DEFLATION) == (cheap, "")
    many = dataclasses.replace(chosen, rhs="random:4")
    reason = "rhs random:4 of Solve has several right-hand sides"
    assert live_configuration(lambda: many, SQUARE, DEFLATION) == (cheap, reason)

    def wrong():
        raise InputError("rtol must be between 0 and 1, got 2")

    assert live_configuration(wrong, SQUARE, DEFLATION) == (cheap, "rtol must be between 0 and 1, got 2")


def test_nothing_is_solved_until_a_page_shows_the_canvas_and_after_the_box_is_unticked(builder):
    say(builder, act="place", index=0, row=ROWS[1])
    assert builder.live.solver.latest is None
    assert builder.live.pictures is None
    solve = ticked(builder)
    assert solve.session.configuration.problem == builder.problem
    assert solve.session.configuration.deflation == DEFLATION
    builder.live.check.value = False
    assert builder.live.wait(LIMIT)
    say(builder, act="place", index=0, row=ROWS[2])
    assert builder.live.solver.latest is None
    assert builder.live.box.layout.display == "none"
    assert builder.live.pictures.curve.link.hidden


def test_a_drag_solves_when_the_pointer_rests_and_the_line_says_how(builder):
    first = ticked(builder)
    assert " from zero; CG, Neumann 2, 4² blocks split by phase" in builder.live.line.text
    say(builder, act="place", index=0, row=ROWS[1], stroke="a", moving=True)
    assert builder.live.solver.latest is first
    say(builder, act="place", index=0, row=ROWS[1], stroke="a", moving=False)
    second = until_ended(builder, first)
    assert second.session.configuration.problem.geometry().centres[0].tolist() == [0.3, 0.25]
    text, tone = builder.live.line.text, builder.live.line.tone
    iterations = second.session.result.summary["iterations"]
    assert text.startswith(f"Converged in {iterations} iterations, ")
    assert " from the last solution; " in text
    assert tone == "good"
    # Letting go where it rested changes nothing.
    say(builder, act="place", index=0, row=ROWS[1], stroke="a", done=True)
    assert builder.live.solver.latest is second
    until(lambda: len(builder.live.pictures.curve.scene.layers) == 3)
    until(lambda: len(builder.live.pictures.spectrum.scene.layers) == 2)
    builder.undo()
    assert builder.wait(LIMIT)
    assert until_ended(builder, second).warm


def test_a_failure_is_said_in_one_sentence_and_the_next_change_solves_again(opened):
    page = [configure("bubbles-2d", preconditioner="jacobi", deflation=DEFLATION)]
    builder = opened(BubbleBuilder(SQUARE, configuration=lambda: page[-1]))
    first = ticked(builder)
    # Blocks of which there are more than cells.
    page.append(configure("bubbles-2d", preconditioner="jacobi", deflation="levelset:64"))
    builder.hide(False)
    assert builder.wait(LIMIT)
    failed = until_ended(builder, first)
    assert failed.session.error
    assert (builder.live.line.text, builder.live.line.tone) == (failed.session.error, "bad")
    say(builder, act="clear")
    until(lambda: builder.live.line.text.startswith("there is no bubble on the canvas"))
    page.pop()
    say(builder, act="undo")
    again = until_ended(builder, failed)
    assert again.session.result.converged
    assert builder.live.line.text.startswith("Converged in")


def test_a_large_grid_disables_the_box_with_a_reason(builder):
    ticked(builder)
    say(builder, act="change", values={"n": 1024})
    assert builder.live.check.disabled
    reason = "n = 1024 has too many cells for that; it works up to n = 512 in 2D"
    assert builder.live.reason.value == reason
    assert builder.live.solver.latest is None
    say(builder, act="undo")
    assert not builder.live.check.disabled
    assert until_ended(builder).session.result.converged


def test_the_field_of_a_cube_shows_the_plane_of_the_canvas(opened):
    builder = opened(BubbleBuilder(Bubbles3D(n=16), "none"))
    ticked(builder)
    builder.canvas.normal, builder.canvas.position = "x", 0.7
    field = builder.live.pictures.field.field
    until(lambda: (field.normal, field.index) == ("x", 11))
    assert field.quantity == "solution"


def test_a_page_that_is_left_solves_nothing(builder):
    ticked(builder)
    builder.hide(True)
    assert builder.live.wait(LIMIT)
    assert builder.live.solver.latest is None
    say(builder, act="place", index=0, row=ROWS[1])
    assert builder.live.solver.latest is None
    builder.hide(False)
    assert builder.live.wait(LIMIT)
    assert until_ended(builder).warm


def test_solves_do_not_enter_the_list_of_runs(opened):
    page = opened(workbench("bubbles-2d", n=32, preconditioner="jacobi", deflation="levelset:2"))
    solve = ticked(page.view("Build").builder)
    assert solve.session.configuration.preconditioner.name == "jacobi"
    assert page.runs.runs == ()


def test_how_a_solve_failed_is_said_in_few_words():
    """Solve has the details."""
    gap = "not converged: the true residual does not meet the tolerance; loosen it (residual gap: 3.7e-12)"
    summary = {"converged": False, "reason": gap, "iterations": 9, "setup_seconds": 0.1, "iteration_seconds": 0.2}
    session = SimpleNamespace(
        result=SimpleNamespace(summary=summary, converged=False), configuration=SimpleNamespace(label="CG, Jacobi")
    )
    said, tone = ending(SimpleNamespace(session=session, warm=False, why=""))
    assert tone == "bad"
    assert said.startswith("Not converged: the true residual does not meet the tolerance, after 9 iterations, 0.300")
    assert said.endswith(" from zero; CG, Jacobi")
