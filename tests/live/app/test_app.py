"""The workbench: one configuration goes from page to page, and nothing of it is lost on the way."""

import threading
import time

import ipywidgets as widgets
import pytest
from scipy import io, sparse

from benchmarks.matrices import made
from tests.conftest import in_threads
from tests.live.conftest import page_says
from tests.waiting import LIMIT, until
from workbench.advise.level_pairs import level_pairs
from workbench.errors import InputError
from workbench.live import Workbench, workbench
from workbench.live.app.page import Page
from workbench.live.compare.race_form import method_of
from workbench.live.compare.race_opening import opening
from workbench.problems.files import MatrixFile
from workbench.run import State, configure
from workbench.run.choices import levels
from workbench.run.choices.share_link import to_link


@pytest.fixture
def bench(tmp_path, opened):
    return opened(workbench(n=24, folder=tmp_path))


def builder(bench):
    return bench.view("Build").builder


def add_bubble(bench):
    builder(bench).buttons["add"].click()
    return builder(bench).problem


def test_what_is_built_is_what_the_other_pages_work_on(bench):
    built = add_bubble(bench)
    assert built.geometry().radii.size == 5
    assert bench.configuration.problem == built
    assert bench.view("Race").base.problem == built
    assert bench.view("Sweep").base.problem == built
    bench.explorer.form.set("rtol", "1e-4")
    assert add_bubble(bench) == bench.configuration.problem
    assert bench.configuration.stopping.rtol == 1e-4


def test_a_matrix_that_is_built_is_solved_raced_and_searched_with_its_default_levels(bench, tmp_path, monkeypatch):
    monkeypatch.setattr(levels, "FEW", 20)
    io.mmwrite(tmp_path / "disk.mtx", sparse.coo_array(made.disk(90).matrix), symmetry="symmetric")
    assert bench.configuration.deflation.name == "levelset"
    matrix = MatrixFile(path=str(tmp_path / "disk.mtx"))
    bench.view("Build").load(matrix)
    assert builder(bench).wait(LIMIT)
    form = bench.explorer.form
    assert (form.configuration().problem, form.configuration().preconditioner.text) == (matrix, "ic")
    assert (form.blocks["preconditioner"].choice.value, form.blocks["deflation"].choice.value) == ("ic", "none")
    first, second = bench.view("Race").race.entries[:2]
    assert (first.configuration.label, second.configuration.label) == ("CG, incomplete Cholesky", "CG, Jacobi")
    pairs = level_pairs(matrix, matrix.assemble(), (bench.view("Suggest").base.device,))
    assert (pairs[0].preconditioner, pairs[0].deflation) == ("ic", "none")
    # The menus change them, and the matrix that is shown again leaves them so.
    form.set("preconditioner", "ssor")
    builder(bench).show_matrix()
    assert builder(bench).wait(LIMIT)
    assert bench.configuration.preconditioner.name == "ssor"


def test_a_run_that_is_started_while_its_page_opens_is_of_what_is_drawn(bench):
    bench._worker.close()
    built = add_bubble(bench)
    bench.turn_to("Solve")
    assert bench.explorer.run().configuration.problem == built


def test_a_wrong_value_in_the_form_loses_nothing_of_what_is_built(bench):
    bench.explorer.form.set("rtol", "small")
    built = add_bubble(bench)
    for _ in range(2):
        with pytest.raises(InputError, match="rtol must be a number, got 'small'"):
            _ = bench.configuration
    bench.explorer.form.set("rtol", "1e-6")
    assert bench.configuration.problem == built


def test_what_is_chosen_in_the_form_stays_when_something_else_is_built(bench):
    bench.explorer.form.set("deflation", "stripes")
    built = add_bubble(bench)
    assert bench.configuration.problem == built
    assert bench.configuration.deflation.name == "stripes"
    bench.explorer.form.set("problem.n", 48)
    assert bench.configuration.problem.n == 48
    bench.pages["Build"].turn_to()
    assert builder(bench).problem.n == 48
    assert builder(bench).deflation.name == "stripes"


def test_what_is_wrong_in_build_is_said_there_alone_and_the_pages_work_on_what_the_header_names(bench, eventually):
    before = bench.configuration.problem
    bench.view("Build").kind.value = "Poisson"
    builder(bench).form.set("a", "1+*x")
    for _ in range(2):
        with pytest.raises(InputError):
            _ = bench.configuration
    eventually(lambda: bench.view("Build").wrong)
    eventually(lambda: bench.view("Build").press.disabled)
    bench.turn_to("Race")
    eventually(lambda: bench.pages["Race"].view is not None)
    assert bench.pages["Race"].message.value == ""
    assert bench.view("Race").base.problem == before == bench.configuration.problem
    bench.turn_to("Build")
    eventually(lambda: bench.view("Build").wrong)
    builder(bench).form.set("a", "1+x")
    assert bench.configuration.problem.a == "1+x"


def test_what_is_wrong_in_build_is_replaced_by_another_problem_that_is_chosen(bench, eventually):
    bench.view("Build").kind.value = "Poisson"
    builder(bench).form.set("a", "1+*x")
    eventually(lambda: bench.view("Build").wrong)
    bench.turn_to("Solve")
    bench.explorer.form.load(configure("bubbles-2d", n=20))
    bench.turn_to("Race")
    eventually(lambda: bench.pages["Race"].view is not None)
    # Build shows it too, in place of what was wrong.
    bench.turn_to("Build")
    eventually(lambda: bench.view("Build").kind.value == "Bubbles" and not bench.view("Build").wrong)
    assert bench.view("Build").problem == bench.configuration.problem


def test_a_builder_that_has_nothing_yet_is_nothing_wrong(bench, eventually):
    bench.view("Build").kind.value = "Matrix"
    bench.turn_to("Solve")
    eventually(lambda: bench.frame.in_front is bench.pages["Solve"])
    assert bench.pages["Solve"].message.value == ""


def test_a_problem_that_is_not_drawn_stays_until_something_is_built(tmp_path, opened):
    bench = opened(workbench("two-layer", n=24, folder=tmp_path))
    bench.view("Build")
    assert "Two layers, 24² is chosen in Solve and is not drawn here" in bench.notice.value
    assert bench.configuration.problem.name == "two-layer"
    bench.view("Build").kind.value = "Poisson"
    bench.view("Build").kind.value = "Bubbles"
    assert bench.configuration.problem.name == "two-layer"
    assert add_bubble(bench) == bench.configuration.problem
    assert bench.notice.value == ""


def test_a_link_is_shown_on_all_pages(bench):
    bench.view("Race")
    wanted = configure("bubbles-2d", n=40, preconditioner="ic", deflation="stripes:4")
    # Drawn and not yet looked at elsewhere, when the link takes its place.
    add_bubble(bench)
    bench.share.take(to_link(wanted))
    assert bench.configuration == wanted
    assert builder(bench).problem == wanted.problem
    bench.pages["Race"].turn_to()
    assert bench.view("Race").base == wanted


def test_runs_are_looked_into_the_latest_first(bench):
    bench.explorer.run().wait(LIMIT)
    inside = bench.view("Look inside")
    assert [name.partition(":")[0] for name, _ in inside.choice.options] == ["1"]
    # As while Solve is in front.
    inside.hide(True)
    bench.explorer.run().wait(LIMIT)
    bench.pages["Look inside"].turn_to()
    assert inside.choice.label.startswith("2: ")
    inside.choice.index = 1
    bench.pages["Look inside"].turn_to()
    assert inside.choice.label.startswith("1: ")
    assert bench.runs.chosen == [bench.runs.find(1)]


def test_runs_of_all_views_are_one_list_and_are_looked_into(bench):
    race, sweep = bench.view("Race"), bench.view("Sweep")
    race.start()
    race.race.wait(LIMIT)
    own = bench.view("Your method").race()
    own.race.wait(LIMIT)
    sweep.choices.rows[0].set("text", "16")
    sweep.wait(LIMIT)
    assert [run.origin for run in bench.runs.runs] == ["Race"] * 4 + ["Your method"] * 2 + ["Sweep"] * 3
    assert len({run.style for run in bench.runs.runs}) == 9
    inside = bench.view("Look inside")
    assert [name.partition(":")[0] for name, _ in inside.choice.options] == [
        *map(str, (1003, 1002, 1001, 6, 5, 4, 3, 2, 1))
    ]
    bench.runs.acts["inside"]([bench.runs.find(1)])
    assert inside.inside.source is race.race.entries[0].result
    # Runs of sweeps have numbers of their own, so that the others follow one another.
    bench.runs.acts["inside"]([bench.runs.find(1003)])
    assert inside.inside.source.summary["iterations"] == sweep.rows[2]["iterations"]


def test_a_method_of_the_list_is_added_to_the_race_on_the_problem_that_the_header_names(bench):
    solved = bench.explorer
    solved.run().wait(LIMIT)
    race = bench.view("Race")
    bench.runs.acts["race"]([bench.runs.find(1)])
    assert race.race.entries[-1].configuration == bench.runs.find(1).handle.configuration()
    solved.form.load(configure("poisson5", n=8, preconditioner="ic"))
    solved.run().wait(LIMIT)
    bench.runs.acts["race"]([bench.runs.of("Solve")[-1]])
    assert race.race.entries[-1].configuration.preconditioner.name == "ic"
    assert {entry.configuration.problem.label for entry in race.race.entries} == {"Poisson, 8²"}


def test_compare_opens_with_four_methods_and_races_what_the_header_names(bench, eventually):
    bench.turn_to("Race")
    race = bench.view("Race")
    assert [entry.configuration for entry in race.race.entries] == opening(bench.configuration)
    race.start()
    race.race.wait(LIMIT)
    form = bench.explorer.form
    form.set("problem.n", 20)
    bench.turn_to("Solve")
    bench.turn_to("Race")
    eventually(lambda: "These results are of 4 bubbles in a square, 24²" in race.belongs.value)
    # Undo of the header acts in the view in front, so that the form is as it was.
    page_says(bench.frame.shell, {"kind": "undo"})
    assert bench.configuration.problem.n == 20
    bench.turn_to("Solve")
    page_says(bench.frame.shell, {"kind": "undo"})
    bench.turn_to("Race")
    eventually(lambda: bench.frame.shell.problem["facts"].startswith("24²") and race.belongs.value == "")


def test_suggested_pairs_join_the_entries_of_the_race_and_are_taken_into_the_form(bench):
    pairs = [configure("two-layer", n=16, preconditioner=name) for name in ("jacobi", "ic", "fsai")]
    suggest, race = bench.view("Suggest"), bench.view("Race")
    before = [method_of(entry.configuration) for entry in race.race.entries]
    suggest.on_race(pairs)
    after = [method_of(entry.configuration) for entry in race.race.entries]
    # Entries move to the problem of the suggestions, and none is there twice.
    assert {entry.configuration.problem for entry in race.race.entries} == {pairs[0].problem}
    assert set(after) >= {method_of(pair) for pair in pairs}
    assert len(after) == len(set(after)) > len(before) - 1
    assert race.race.alive or race.entries.over
    race.race.wait(LIMIT)
    suggest.on_race(pairs)
    assert [method_of(entry.configuration) for entry in race.race.entries] == after
    suggest.on_take(pairs[1])
    assert bench.explorer.form.configuration() == pairs[1]


def test_the_steps_are_those_of_a_small_copy_and_what_cannot_be_stepped_is_told(bench):
    page = bench.view("Step")
    assert page.wait(LIMIT)
    assert page.view.walk.lines(0)[0].text == "s = A(x)"
    assert page.view.program["title"].endswith("on 4 bubbles in a square, 16²")
    assert page.view.mathematics
    page.view.mathematics = False
    page.form.set("solver", "pipecg")
    assert page.wait(LIMIT)
    assert page.view.program["title"].startswith("Pipelined CG")
    # How lines are written is kept.
    assert not page.view.mathematics
    page.form.set("second", "cg3")
    assert page.wait(LIMIT)
    assert page.view.names == ("Pipelined CG", "Three-term CG")
    page.form.set("second", "alone")
    assert page.wait(LIMIT)
    assert not page.view.mathematics
    bench.explorer.form.set("problem", "bubbles-3d")
    bench.pages["Step"].turn_to()
    page.form.set("cells", "24")
    assert page.wait(LIMIT)
    assert "10000 unknowns" in page.status.text.replace(",", "")


def test_the_lines_of_ones_own_stay_when_another_problem_is_built(bench):
    own = bench.view("Your method")
    own.editor.iterate = own.editor.iterate.replace("u + beta*p", "u + 0.5*beta*p")
    built = add_bubble(bench)
    bench.pages["Your method"].turn_to()
    assert own.base.problem == built
    assert "0.5*beta" in own.editor.iterate


def test_a_page_is_made_once_whoever_asks_and_a_mistake_is_a_sentence():
    made = []
    page = Page(lambda: made.append(1) or widgets.HTML())
    in_threads(8, lambda _: page.made())
    assert made == [1]
    broken = Page(lambda: 1 / 0)
    broken.turn_to()
    assert "ZeroDivisionError" in broken.message.value


def test_closing_ends_the_runs_though_nobody_has_looked_at_them(tmp_path, eventually):
    others = set(threading.enumerate())
    bench = Workbench(configure("bubbles-2d", n=400), tmp_path)
    session = bench.explorer.run()
    bench.close()
    eventually(lambda: session.state is State.DONE and set(threading.enumerate()) <= others)


def test_what_is_built_is_solved_by_a_button_and_named_in_the_header(bench, eventually):
    bench.turn_to("Build")
    build = bench.view("Build")
    build.kind.value = "Poisson"
    assert build.builder.wait()
    eventually(lambda: bench.frame.shell.problem["name"].startswith("Poisson from formulas"))
    build.press.click()
    assert bench.frame.shell.shown == "solve.solve"
    assert bench.explorer.session.wait(LIMIT) is not None
    assert bench.explorer.session.configuration.problem == build.problem
    # A matrix that is not there, or is refused, is neither solved nor named.
    build.kind.value = "Matrix"
    bench.turn_to("Build")
    assert build.builder.wait()
    assert bench.frame.shell.problem["name"].startswith("Poisson from formulas")
    runs = len(bench.runs.runs)
    build.press.click()
    assert len(bench.runs.runs) == runs


def test_the_tour_makes_one_run_with_timings(bench):
    for _ in range(2):
        page_says(bench.frame.shell, {"kind": "tour"})
    assert len(bench.runs.runs) == 1
    assert bench.explorer.session.wait(LIMIT).trace
    assert not bench.explorer.trace.value


def test_undo_of_the_header_acts_in_the_view_in_front_and_says_what_it_did(bench, eventually, monkeypatch):
    shell, said = bench.frame.shell, []
    monkeypatch.setattr(shell, "send", lambda content, *_buffers: said.append(content.get("text")))
    bench.turn_to("Solve")
    form = bench.explorer.form
    form.set("deflation", "none")
    form.set("problem.n", "20")
    eventually(lambda: shell.undoing["undo"] == "Cells per side: 20 → 24")
    page_says(shell, {"kind": "undo"})
    page_says(shell, {"kind": "undo"})
    assert said == ["Undone: Cells per side: 20 → 24", "Undone: Level 2: None → Blocks split at bubble boundaries"]
    eventually(lambda: shell.undoing["redo"] == "Level 2: None → Blocks split at bubble boundaries")
    page_says(shell, {"kind": "redo"})
    assert form.configuration().deflation.name == "none"
    # Something else was changed since, so that no undo is left to take back.
    form.set("rtol", "1e-4")
    eventually(lambda: (shell.undoing["redo"], shell.undoing["undo"]) == ("", "Tolerance ‖r‖/‖b‖: 0.0001 → 1e-6"))
    # A view that cannot undo leaves the form as it is, and says so.
    bench.turn_to("Runs")
    eventually(lambda: shell.undoing["why"].startswith("This view has no changes to undo"))
    page_says(shell, {"kind": "undo"})
    assert form.configuration().stopping.rtol == 1e-4
    bench.turn_to("Build")
    add_bubble(bench)
    eventually(lambda: shell.undoing["undo"] == "the last change of what is built")
    page_says(shell, {"kind": "undo"})
    eventually(lambda: bench.view("Build").problem.geometry().radii.size == 4)


def test_the_menu_share_hands_on_what_the_view_in_front_shows(bench, eventually):
    bench.turn_to("Flow")
    eventually(lambda: bench.pages["Flow"].view is not None)
    flow = bench.view("Flow")
    assert bench.share.written("python").count("rising-bubbles")
    opened = configure("rising-bubbles", n=20, preconditioner="jacobi")
    bench.share.take(to_link(opened))
    eventually(lambda: flow.sequence.problem.n == 20)
    assert bench.explorer.form.configuration().problem.name == "bubbles-2d"
    bench.turn_to("Solve")
    assert "bubbles-2d" in bench.share.written("python")
    bench.share.take(to_link(configure("two-layer", n=16)))
    assert bench.configuration.problem.name == "two-layer"
    assert flow.share not in flow.box.children


def test_the_tour_ends_at_a_run_whose_kernels_are_known(bench):
    """A run without timings, chosen before, is neither enough nor in its way."""
    bench.explorer.run()
    assert bench.explorer.session.wait(LIMIT).trace is None
    page_says(bench.frame.shell, {"kind": "tour"})
    assert bench.explorer.session.wait(LIMIT).trace
    first, traced = bench.runs.runs
    bench.runs.choose([first.number])
    page_says(bench.frame.shell, {"kind": "tour-look"})
    assert list(bench.runs.chosen) == [traced]


def test_a_view_that_does_not_use_the_problem_has_none_in_the_header(bench):
    page = bench
    named = page.frame.shell.problem["name"]
    assert named
    for title, used in (("Runs", False), ("Solve", True), ("Papers", False), ("Race", True), ("Schedules", False)):
        page.turn_to(title)
        until(lambda shown=title: page.pages[shown].view is not None)
        until(lambda used=used: page.frame.shell.problem["name"] == (named if used else ""))


def test_the_view_of_an_address_is_made_when_the_cell_of_a_served_page_ends(tmp_path, opened, monkeypatch):
    monkeypatch.setenv("SERVER_SOFTWARE", "voila/0.5")
    monkeypatch.setenv("QUERY_STRING", "view=compare.race")
    made = Page.turn_to

    def slowly(page):
        time.sleep(0.05)
        made(page)

    monkeypatch.setattr(Page, "turn_to", slowly)
    page = opened(workbench(n=16, folder=tmp_path))
    # A browser that loads the page now gets the view with all other widgets.
    assert page.pages["Race"].view.box in page.pages["Race"].box.children
