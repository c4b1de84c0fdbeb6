"""The explorer as code drives it, without a browser."""

import csv
import json
import re

import numpy as np
import pytest
from scipy import io, sparse

from tests.live.states import PLAIN, bring
from tests.waiting import LIMIT
from workbench.errors import InputError
from workbench.live import explore
from workbench.live.solve.explorer_text import ending, result_html
from workbench.live.transport.publisher import POLL_SOON
from workbench.live.ui.export import KINDS
from workbench.plots.figures import read_provenance
from workbench.records import load, load_trace
from workbench.run import Reason, Session, State, Stopping, configure
from workbench.words.numbers import duration


@pytest.fixture
def explorer(view_in):
    return view_in("solve", n=32)


@pytest.fixture
def ended_explorer(view_in):
    return view_in("solve", n=32, state="ended")


@pytest.fixture
def endless(view_in):
    return view_in("solve", n=256, **PLAIN)


@pytest.fixture
def solving(view_in):
    return view_in("solve", n=256, state="solving")


def test_the_default_form_has_two_levels(explorer):
    chosen = explorer.form.configuration()
    assert (chosen.preconditioner.spec, chosen.deflation.name) == ("neumann:2", "stripes")
    assert explore("poisson5").form.configuration() == configure("poisson5")


def test_the_status_line_tells_the_end(ended_explorer, eventually):
    explorer = ended_explorer
    result = explorer.session.result
    converged = f"Run 1: Converged in {result.iterations} iterations: ‖b − Ax‖/‖b‖ = "
    eventually(lambda: explorer.status.text.startswith(converged) and explorer.status.tone == "good")
    assert explorer.status.text.endswith("(residual verified).")


def test_the_notes_of_a_singular_run_are_told(view_in, eventually):
    explorer = view_in("solve", "bubbles-2d", n=32, deflation="blocks:4", rhs="random", state="ended")
    eventually(lambda: "one redundant deflation vector removed" in explorer.outcome.setup.value)
    assert "redundant" not in explorer.result.value


def test_buttons_follow_the_state(endless, eventually):
    buttons = endless.controls
    eventually(lambda: buttons.stop.disabled and not buttons.run.disabled)
    endless.run()
    eventually(lambda: endless.session.state is State.RUNNING and buttons.step.disabled and not buttons.pause.disabled)
    assert not buttons.run.disabled
    assert not buttons.stop.disabled
    assert buttons.stop_all.disabled
    buttons.pause.click()
    eventually(lambda: buttons.pause.description == "Resume" and not buttons.step.disabled)
    buttons.pause.click()
    eventually(lambda: buttons.pause.description == "Pause" and not buttons.pause.disabled)
    buttons.stop.click()
    endless.session.wait(LIMIT)
    eventually(lambda: not buttons.step.disabled and buttons.stop.disabled and buttons.pause.disabled)
    assert "Stopped by the user" in eventually(lambda: endless.status.state == "done" and endless.status.text)


def test_while_a_stop_is_pending_it_is_said_and_the_end_looked_for_soon(solving, eventually, monkeypatch):
    session = solving.session
    assert not session.ending
    assert solving.controller.publish() != POLL_SOON
    monkeypatch.setattr(type(session), "ending", property(lambda _: True))
    assert solving.controller.publish() == POLL_SOON
    assert (solving.status.state, solving.status.text) == ("stopping", "Run 1: stopping")
    monkeypatch.undo()
    solving.stop()
    eventually(lambda: solving.status.state == "done")
    assert not session.ending


def test_an_iteration_in_progress_is_finished_before_it_says_paused(view_in, eventually, monkeypatch):
    paused = view_in("solve", n=256, state="paused")
    session = paused.session
    monkeypatch.setattr(type(session), "pausing", property(lambda _: True))
    eventually(lambda: "Run 1: pausing after this iteration, iteration " in paused.status.text)
    monkeypatch.undo()
    eventually(lambda: f"Run 1: paused, iteration {session.run.iterations:,}, " in paused.status.text)


def test_step_makes_one_iteration(explorer, eventually):
    explorer.step()
    eventually(lambda: explorer.session.run and explorer.session.run.history.count == 1)
    for _ in range(3):
        eventually(lambda: explorer.session.state is State.PAUSED)
        before = explorer.session.run.iterations
        explorer.controls.step.click()
        eventually(lambda before=before: explorer.session.run.iterations == before + 1)
    eventually(lambda: "iteration 3" in explorer.status.text)
    explorer.resume()
    assert explorer.session.wait(LIMIT).converged


def test_pause_holds_what_waits_first_so_that_none_begins_meanwhile(endless, eventually, monkeypatch):
    first, *others = (endless.run() for _ in range(3))
    eventually(lambda: first.state is State.RUNNING)
    held, pause = [], Session.pause

    def note_and_pause(session):
        held.append(session)
        pause(session)

    monkeypatch.setattr(Session, "pause", note_and_pause)
    endless.pause()
    assert held == [*others, first]


def test_a_run_while_another_goes_on_is_queued_and_stop_lets_it_begin(endless, eventually):
    first, second, third = (endless.run() for _ in range(3))
    eventually(lambda: first.state is State.RUNNING and "runs 2 and 3 queued" in endless.status.text)
    assert (second.state, third.state) == (State.QUEUED, State.QUEUED)
    assert (second.ahead, third.ahead) == (1, 2)
    endless.controls.stop.click()
    eventually(lambda: second.state is State.RUNNING and "run 3 queued" in endless.status.text)
    assert (endless.session, third.run) == (second, None)
    endless.pause()
    eventually(lambda: endless.session is second and second.state is State.PAUSED)
    assert third.state is State.PAUSED
    assert third.run is None
    endless.resume()
    eventually(lambda: second.state is State.RUNNING and third.state is State.QUEUED)
    eventually(lambda: not endless.controls.stop_all.disabled)
    endless.controls.stop_all.click()
    eventually(lambda: not second.alive and not third.alive and len(endless.records) == 2)
    eventually(lambda: endless.controls.stop.disabled and endless.controls.stop_all.disabled)
    assert third.error == "stopped before it began"


def test_while_a_value_is_wrong_run_is_disabled_and_says_why(explorer, eventually):
    controls = explorer.controls
    explorer.form.set("problem.n", 2)
    said = "Cells per side must be between 4 and 46340, got 2"
    eventually(lambda: (explorer.status.text, explorer.status.tone) == (said, "bad"))
    eventually(lambda: controls.run.disabled and controls.step.disabled and said in controls.run.tooltip)
    assert controls.wrong
    controls.run.click()
    assert explorer.session is None
    with pytest.raises(InputError, match="between 4 and 46340"):
        explorer.run()
    explorer.form.set("problem.n", 16)
    eventually(lambda: explorer.status.tone == "plain" and not controls.run.disabled)
    assert not controls.step.disabled
    assert "cannot run" not in controls.run.tooltip
    controls.run.click()
    assert explorer.session.wait(LIMIT).converged


def test_the_preview_appears_before_any_run_and_follows_the_form(explorer, eventually):
    eventually(lambda: explorer.field.scene and explorer.field.scene.title == "Two layers, 32²")
    explorer.form.set("problem", "bubbles-3d")
    eventually(lambda: explorer.field.scene and explorer.field.scene.title.startswith("8 bubbles in a cube"))


def test_the_field_of_the_run_is_shown_at_its_own_size(view_in, eventually):
    explorer = view_in("solve", n=1040, deflation="blocks:4", stopping=Stopping(maxiter=1))
    eventually(lambda: explorer.field.scene and explorer.field.scene.values.shape == (1024, 1024))
    explorer.run()
    eventually(lambda: explorer.field.scene.values.shape == (1040, 1040))
    assert "16 deflation subdomains" in explorer.field.scene.notes[-1]


def test_clear_takes_everything_away_and_the_next_run_comes(ended_explorer, eventually):
    explorer = ended_explorer
    eventually(lambda: explorer.table.table.rows)
    explorer.clear()
    eventually(lambda: not explorer.table.table.rows)
    assert not explorer.records
    assert not explorer.convergence.curves
    explorer.run().wait(LIMIT)
    assert len(explorer.records) == 1


def look_at_coefficient(explorer, eventually):
    """After the first run, which turns the field to its residual."""
    eventually(lambda: explorer.field.quantity == "residual")
    explorer.field.quantity = "coefficient"


def test_exports_are_files_that_can_be_read(explorer, eventually):
    explorer.trace.value = True
    result = explorer.run().wait(LIMIT)
    look_at_coefficient(explorer, eventually)
    written = {kind: explorer.export(kind) for kind in (*KINDS, "pdf")}
    assert {path.parent for paths in written.values() for path in paths} == {explorer.folder}
    assert all("Two-layers-32x32" in path.name for paths in written.values() for path in paths)
    assert [path.name.partition("-")[0] for path in written["pdf"]] == ["convergence", "field", "timeline"]
    assert read_provenance(written["pdf"][0])["runs"] == [result.provenance]
    assert load(written["run"][0]).history.count == result.iterations + 1
    lines = written["csv"][0].read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert len(rows) == result.iterations + 1
    assert json.loads(lines[0].partition(": ")[2])["name"] == "two-layer"


def test_a_field_of_another_problem_is_not_saved_under_the_last_run(ended_explorer, eventually):
    explorer = ended_explorer

    def saved():
        return [path.name.partition("-")[0] for path in explorer.export("svg")]

    look_at_coefficient(explorer, eventually)
    assert explorer.picture.painter.wait(LIMIT)
    assert saved() == ["convergence", "field"]
    explorer.form.load(configure("poisson5", n=8))
    assert explorer.picture.painter.wait(LIMIT)
    assert saved() == ["convergence"]
    explorer.form.load(configure("two-layer", n=32, deflation="blocks:2"))
    assert explorer.picture.painter.wait(LIMIT)
    assert saved() == ["convergence"]
    # The solution is that of the run all the same, whatever is being chosen.
    explorer.field.quantity = "solution"
    seen(explorer.field, eventually)
    assert saved() == ["convergence", "field"]
    # The next run is what is seen as soon as it has begun.
    explorer.step()
    eventually(lambda: explorer.followed is explorer.session)
    assert saved() == ["convergence"]


def seen(field, eventually):
    """Wait until a page would have been sent a picture."""
    field.link.receive({"kind": "ready"})
    eventually(lambda: field.figure() is not None)


def test_exports_before_any_run_are_refused(explorer, eventually):
    for kind in ("csv", "svg"):
        with pytest.raises(InputError, match="no run to export"):
            explorer.export(kind)
    eventually(lambda: all(control.disabled for control in explorer.exports.buttons.values()))


def test_exports_are_downloaded_under_the_names_of_their_runs(explorer, downloads, eventually):
    files = downloads(explorer.exports.figures.saver.download)
    explorer.run().wait(LIMIT)
    eventually(lambda: not explorer.exports.buttons["run"].disabled)
    explorer.exports.buttons["run"].click()
    ((name, content),) = eventually(files)
    assert name.startswith("Two-layers-32x32-CG-Neumann-2")
    assert name.endswith("run1.run.npz")
    assert content.startswith(b"PK")
    eventually(lambda: explorer.exports.status.text == f"downloaded {name}")
    explorer.run().wait(LIMIT)
    eventually(lambda: len(explorer.records) == 2)
    explorer.exports.buttons["run"].click()
    eventually(lambda: len(files()) == 2)
    assert files()[1][0].startswith("2-run-files-until-Two-layers-32x32-")
    assert files()[1][0].endswith("run2.zip")
    assert not explorer.folder.exists()


def test_the_timeline_shows_the_run_that_was_traced(ended_explorer, eventually):
    explorer = ended_explorer
    eventually(lambda: explorer.exports.buttons["trace"].disabled and not explorer.exports.buttons["csv"].disabled)
    with pytest.raises(InputError, match="Record kernel timings” before"):
        explorer.export("trace")
    explorer.trace.value = True
    result = explorer.run().wait(LIMIT)
    eventually(lambda: explorer.timeline.trace is result.trace)
    eventually(lambda: not explorer.exports.buttons["trace"].disabled)
    (path,) = explorer.export("trace")
    assert path.name.endswith(".trace.json")
    assert load_trace(path).count == result.trace.count
    explorer.clear()
    eventually(lambda: explorer.timeline.trace is None)


def test_what_is_not_seen_is_sent_nothing(explorer):
    def hidden():
        return explorer.convergence.link.hidden, explorer.field.link.hidden, explorer.timeline.link.hidden

    assert hidden() == (False, False, True)
    explorer.unfolded.selected_index = 0
    assert hidden() == (False, False, False)
    explorer.hide(True)
    assert hidden() == (True, True, True)
    explorer.hide(False)
    assert hidden() == (False, False, False)


def test_traces_are_never_offered_where_no_run_has_one(explorer, eventually):
    """Not even until the next message: a button that can be pressed for a moment is pressed in that moment."""
    trace, seen = explorer.exports.buttons["trace"], []
    eventually(lambda: trace.disabled)
    trace.observe(lambda change: seen.append(change["new"]), "disabled")
    explorer.run().wait(LIMIT)
    eventually(lambda: not explorer.exports.buttons["csv"].disabled)
    assert seen == []


def test_a_deflation_that_does_not_fit_the_grid_disables_run_and_is_marked(explorer, eventually):
    explorer.form.set("deflation", "blocks")
    explorer.form.set("deflation.k", 64)
    eventually(lambda: explorer.controls.run.disabled)
    eventually(lambda: "64 parts per side" in explorer.status.text)
    eventually(lambda: "64 parts per side" in explorer.form.box.state["wrong"].get("deflation.k", ""))
    explorer.form.set("deflation.k", 4)
    eventually(lambda: not explorer.controls.run.disabled and explorer.form.box.state["wrong"] == {})
    assert explorer.run().wait(LIMIT).converged


def test_what_a_new_problem_replaced_is_told_and_the_rest_can_be_run(explorer, eventually, tmp_path):
    path = tmp_path / "a.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1.0\n2 2 2.0\n", encoding="utf-8")
    explorer.form.load(configure("bubbles-2d", n=16, deflation="levelset:2"))
    explorer.form.load(configure(str(path), deflation="levelset:2"))
    eventually(lambda: "levelset needs phases" in explorer.status.text)
    assert not explorer.controls.run.disabled
    assert explorer.run().wait(LIMIT).converged
    eventually(lambda: "Converged" in explorer.status.text)


def test_a_sentence_says_once_how_many_iterations_there_were():
    reason = f"{Reason.MAXITER.sentence} (15 iterations)"
    summary = {"iterations": 15, "true_relative_residual": 45.5, "converged": False, "reason": reason}
    assert ending(summary) == ("Not converged: the iteration limit was reached. Best x: 45.5 at iteration 15.")
    said = result_html(1, {**summary, "setup_seconds": 0.1, "iteration_seconds": 0.1}, "", "plain", ())
    assert "choose a stronger preconditioner." in said


def test_choices_that_do_not_go_together_are_all_marked_and_mended_by_one_press(explorer, eventually, tmp_path):
    A = sparse.diags_array([np.full(19, -1.0), np.full(20, 4 + 1j), np.full(19, -1.0)], offsets=[-1, 0, 1])
    io.mmwrite(tmp_path / "A.mtx", sparse.coo_array(A), symmetry="symmetric")
    chosen = configure("matrix-file", path=str(tmp_path / "A.mtx"), preconditioner="neumann:2", deflation="blocks:2")
    explorer.form.load(chosen)
    # The matrix has to be read first.
    eventually(lambda: explorer.controls.run.disabled)
    eventually(lambda: set(explorer.form.box.state["wrong"]) == {"solver", "preconditioner", "deflation"})
    said = "use COCG, Jacobi, no deflation"
    eventually(lambda: said in explorer.status.text)
    eventually(lambda: explorer.controls.correct.description == said.replace("use", "Use"))
    # Part of it does not do, and the sentence is then on the rest.
    explorer.form.set("solver", "cocg")
    eventually(lambda: explorer.controls.correct.description == "Use Jacobi, no deflation")
    eventually(lambda: "Hermitian positive definite" not in explorer.status.text)
    explorer.controls.correct.click()
    eventually(lambda: not explorer.controls.run.disabled)
    eventually(lambda: (explorer.controls.correct.disabled, explorer.form.box.state["wrong"]) == (True, {}))
    assert explorer.run().wait(LIMIT).converged
    explorer.form.undo()
    assert explorer.form.configuration().preconditioner.name == "neumann"


def test_the_memory_that_is_missing_is_told_before_a_run(explorer, eventually):
    explorer.form.set("memory_limit", "1MB")
    explorer.form.set("problem.n", "4000")
    eventually(lambda: explorer.controls.run.disabled)
    assert "cells per side" in explorer.form.correction
    assert set(explorer.form.box.state["wrong"]) == {"problem.n"}
    explorer.form.correct()
    eventually(lambda: not explorer.controls.run.disabled)


def test_the_result_is_that_of_the_last_run(ended_explorer, eventually, tmp_path):
    explorer = ended_explorer
    assert "Converged" in explorer.result.value
    explorer.form.load(configure("poisson5", n=64, deflation=f"file:{tmp_path}/labels.npy"))
    bring(explorer, "ended")
    assert "wb-bad" in explorer.result.value
    assert "No file of vectors" in explorer.result.value
    assert "Converged" not in explorer.result.value
    assert explorer.status.progress["when"].endswith("without an iteration")
    # What is wrong in the form is not about the last run.
    explorer.form.set("rtol", "small")
    eventually(lambda: not explorer.status.shown_elsewhere)


def test_what_ends_in_the_background_is_said_in_the_result(explorer, eventually, held_setup):
    inside, on = held_setup
    explorer.run()
    assert inside.wait(LIMIT)
    explorer.controller.stop()
    eventually(lambda: "the present step ends in the background" in explorer.result.value)
    table = explorer.table.table
    eventually(lambda: table.rows[0][table.columns.index("State")]["text"] == "stopped by the user")
    on.set()
    eventually(lambda: "Stopped during the setup." in explorer.result.value)


def test_a_run_has_one_time(ended_explorer, eventually):
    explorer = ended_explorer
    summary = explorer.session.result.summary
    took = duration(summary["setup_seconds"] + summary["iteration_seconds"])
    eventually(lambda: explorer.status.progress.get("when"))
    assert f", {took}" in explorer.status.progress["when"]
    eventually(lambda: f"<b>{took}</b>" in explorer.result.value)
    table = explorer.table.table
    eventually(lambda: table.rows[0][table.columns.index("Together")]["text"].removesuffix(" *") == took)


def test_compilation_is_told_apart():
    summary = {"setup_seconds": 0.1, "iteration_seconds": 0.1, "iterations": 10, "compile_seconds": 8.9}
    said = result_html(1, summary, "Converged.", "good", ())
    assert "<b>0.200\u202fs</b>" in said
    assert "compiling kernels took 8.90\u202fs more, once per machine" in said
    assert "compiling" not in result_html(1, {**summary, "compile_seconds": 0.0}, "Converged.", "good", ())
    assert "; waited 3.1\u202fs" in result_html(1, summary, "Converged.", "good", (), 3.1)
    assert "waited" not in result_html(1, summary, "Converged.", "good", (), 0.01)


def test_the_field_turns_to_the_residual_of_the_first_run_and_stays_where_it_is_turned_to(explorer, eventually):
    assert explorer.field.quantity == "coefficient"
    explorer.run()
    look_at_coefficient(explorer, eventually)
    session = explorer.run()
    eventually(lambda: explorer.followed is session)
    assert explorer.field.quantity == "coefficient"


def test_what_the_form_says_runs_on_cores_and_accelerator_with_both_on_the_timeline(view_in, eventually):
    pytest.importorskip("pyopencl")
    view = view_in("solve", n=24)
    view.both.button.click()
    eventually(lambda: len(view.runs.chosen) == 2)
    first, second = view.runs.runs
    for run in (first, second):
        run.source.wait(LIMIT)
    # Where there is a GPU it is the accelerator.
    assert [run.source.configuration.device for run in (first, second)] in (["cpu", "opencl"], ["cpu", "cuda"])
    assert view.runs.chosen == [first, second]
    eventually(lambda: "one after the other" in view.both.note.text)
    eventually(lambda: view.timeline.traces == [run.source.run.trace for run in (first, second)])
    # The saved figure has the lanes of both.
    assert list(view.timeline.scenes()["timeline"].y.names)[:3] == ["cpu", "", "accelerator"]
    assert "timeline" in {path.name.partition("-")[0] for path in view.export("svg")}
    # A run alone takes their place.
    view.trace.value = True
    alone = view.run()
    alone.wait(LIMIT)
    eventually(lambda: view.timeline.traces == [alone.run.trace])
    view.form.set("maxiter", "x")
    view.both.button.click()
    eventually(lambda: view.controller.complaint)
    assert len(view.runs.runs) == 3


def test_a_run_that_rounding_broke_is_one_line_with_a_button_that_runs_plain_cg(explorer, eventually):
    stopping = Stopping(rtol=1e-15)
    explorer.form.load(configure("two-layer", n=96, solver="pipecg", preconditioner="jacobi", stopping=stopping))
    assert not explorer.run().wait(LIMIT).converged
    eventually(lambda: "rounding errors dominate" in explorer.result.value)
    line = re.sub(r"<[^>]+>", "", explorer.result.value.partition('<span class="wb-note">')[0])
    assert re.fullmatch(
        r"!Broke down: rounding errors dominate pipelined CG here\. "
        r"Best x: .+ at iteration \d+\.",
        line,
    )
    assert "solver cg" not in line
    assert "<summary>Details</summary>" in explorer.result.value
    eventually(lambda: explorer.outcome.plain.layout.display == "")
    explorer.outcome.plain.click()
    assert explorer.form.configuration().solver.name == "cg"
    assert explorer.session.configuration.preconditioner.name == "jacobi"
    explorer.session.wait(LIMIT)
    eventually(lambda: explorer.outcome.plain.layout.display == "none")


def test_the_plot_has_the_runs_of_the_present_problem_and_others_by_a_tick(explorer, eventually):
    def drawn():
        return sorted(curve.label.partition(":")[0] for curve in explorer.convergence.curves)

    for n in (16, 16, 24):
        explorer.form.load(configure("two-layer", n=n))
        explorer.run().wait(LIMIT)
    eventually(lambda: drawn() == ["3"])
    eventually(lambda: "Not drawn: runs 1, 2, on another problem." in explorer.outcome.others.value)
    explorer.runs.choose([1])
    eventually(lambda: drawn() == ["1", "3"])
    eventually(lambda: "Not drawn: run 2, on another problem." in explorer.outcome.others.value)
    # Back on the first problem its runs are the ones that are compared.
    explorer.runs.choose([])
    explorer.form.load(configure("two-layer", n=16))
    explorer.run().wait(LIMIT)
    eventually(lambda: drawn() == ["1", "2", "4"])


def test_the_bar_says_of_a_stopped_run_that_it_was_stopped(solving, eventually):
    solving.controller.stop()
    eventually(lambda: re.fullmatch(r"stopped \d\d:\d\d, .+", solving.status.progress.get("when", "")))
