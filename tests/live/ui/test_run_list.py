"""The list of runs of a page, and its table."""

import pytest

from tests.waiting import LIMIT
from workbench.errors import InputError
from workbench.live.plots.convergence import ConvergenceView, ListedCurves
from workbench.live.transport.publisher import Publisher
from workbench.live.ui import run_table
from workbench.live.ui.run_list import KEPT, RunList, labels
from workbench.live.ui.run_table import RunTable
from workbench.plots.scenes.style import curve_style
from workbench.run import Race, Run, Session, configure, run_through


def record(n=8, **choices):
    return run_through(Run(configure("two-layer", n=n, **choices))).record()


@pytest.fixture
def table():
    publisher = Publisher()
    made = RunTable(RunList(), publisher)
    yield made
    made.close()
    publisher.close()


def shown(table):
    """The rows by number, each a dictionary of texts."""
    names = table.table.columns
    # A thread may have changed the columns and not yet the rows.
    rows = [dict(zip(names, (cell["text"] for cell in cells), strict=False)) for cells in table.table.rows]
    return {row["Run"]: row for row in rows}


def test_numbers_and_styles_are_those_of_the_page_and_a_free_style_is_used_again():
    runs = RunList()
    first, second, third = (runs.add(record(), "Solve") for _ in range(3))
    assert [run.number for run in runs.runs] == [1, 2, 3]
    assert [run.style for run in runs.runs] == [0, 1, 2]
    runs.remove(second)
    assert runs.add(record(), "Race").style == 1
    assert runs.runs[-1].number == 4
    sweep = runs.add(record(), "Sweep", hidden=True)
    assert curve_style(sweep.style) not in {curve_style(run.style) for run in (first, third)} or sweep.style >= 64
    assert runs.add(record(), "Solve").style == 3


def test_labels_name_the_problem_only_where_there_are_several():
    runs = RunList()
    for n in (8, 8):
        runs.add(record(n), "Solve")
    assert labels(runs.runs) == ["1: CG, Jacobi", "2: CG, Jacobi"]
    runs.add(record(12), "Solve")
    assert labels(runs.runs) == ["1: 8²", "2: 8²", "3: 12²"]


def test_the_table_follows_a_session_and_a_race_to_their_ends(table, eventually):
    session = Session(configure("two-layer", n=12))
    run = table.runs.add(session, "Solve")
    eventually(lambda: "1" in shown(table) and shown(table)["1"]["State"] == "not started")
    result = session.wait(LIMIT)
    eventually(lambda: "1" in shown(table) and shown(table)["1"]["State"] == "converged")
    row = shown(table)["1"]
    assert row["Iterations"] == str(result.iterations)
    assert (row["N"], row["Name"]) == ("144", "CG, Jacobi")
    keys = dict(zip(table.table.columns, (cell["key"] for cell in table.table.rows[0]), strict=True))
    assert keys["Together"] == keys["Setup"] + keys["Iterating"]
    assert run.record.summary["iterations"] == result.iterations
    race = Race([configure("two-layer", n=12, deflation="eigenvectors:400")])
    table.runs.add(race.entries[0], "Race")
    race.wait(LIMIT)
    table.runs.notify()
    eventually(lambda: "2" in shown(table) and shown(table)["2"]["State"] == "failed")
    assert "400 vectors" in next(cells[-1]["tip"] for cells in table.table.rows if cells[0]["key"] == 2)
    assert table.table.marks == ["failed", ""]


def test_verbs_rename_recolour_hide_pin_and_delete(table, eventually, opened):
    for _ in range(2):
        table.runs.add(record(), "Solve")
    view = opened(ConvergenceView())
    curves = ListedCurves(view, table.runs, lambda _run: True)
    first, second = table.runs.runs
    table.table.press("rename", [1], "  my   run ")
    assert first.name == "my run"
    assert view.curves[0].label == "1: my run"
    eventually(lambda: "Method" in table.table.columns)
    eventually(lambda: [cells[2]["text"] for cells in table.table.rows] == ["CG, Jacobi", "my run"])
    assert [cells[3]["text"] for cells in table.table.rows] == ["CG, Jacobi", "CG, Jacobi"]
    table.table.press("rename", [1], " ")
    assert "a name has 1 to 200 characters, got 0" in table.message.text
    assert first.name == "my run"
    table.table.press("restyle", [1])
    assert first.style == 2
    assert curves.of(first).style == 2
    table.table.press("hide", [1])
    assert [curve.label for curve in view.curves] == ["2: CG, Jacobi"]
    table.table.press("hide", [1])
    assert len(view.curves) == 2
    table.table.press("pin", [2])
    eventually(lambda: [fact["pinned"] for fact in table.table.facts] == [True, False])
    table.runs.choose([1, 2, 99])
    eventually(lambda: table.table.chosen == [1, 2])
    table.table.press("delete", [1])
    assert table.runs.runs == (second,)
    assert [run.number for run in table.runs.chosen] == [2]
    table.table.press("delete", [1])
    assert "run 1 is not in the list of runs" in table.message.text


def test_an_active_run_is_not_deleted(table, eventually, run_in):
    session = run_in("idle", n=64)
    table.runs.add(session, "Solve")
    session.start()
    eventually(lambda: session.run)
    table.table.press("delete", [1])
    assert table.message.text == "run 1 is active; press Stop in Solve first"
    assert len(table.runs.runs) == 1


def test_a_run_that_was_stopped_before_its_start_leaves_the_list():
    runs = RunList()
    session = Session(configure("two-layer", n=8))
    runs.add(session, "Solve")
    session.stop()
    assert runs.runs == ()


def test_old_runs_are_dropped_by_origin_and_pinned_ones_never():
    runs, made = RunList(), record()
    pinned = runs.add(made, "Sweep", pinned=True)
    solved = runs.add(made, "Solve")
    for _ in range(KEPT + 5):
        runs.add(made, "Sweep")
    assert pinned in runs.runs
    assert solved in runs.runs
    assert len(runs.of("Sweep")) == KEPT + 1
    assert runs.dropped == 5


def test_a_settled_run_has_its_record_and_no_vectors():
    session = Session(configure("two-layer", n=12))
    run = RunList().add(session, "Solve")
    result = session.wait(LIMIT)
    run.settle()
    assert run.handle.run is None
    assert run.record.history.count == result.iterations + 1


def test_an_error_of_an_act_is_a_sentence_and_pages_add_verbs(table, eventually):
    looked = []
    table.runs.acts["inside"] = looked.append
    run = table.runs.add(record(), "Solve")
    eventually(lambda: "inside" in [verb["name"] for verb in table.table.verbs])
    assert "race" not in [verb["name"] for verb in table.table.verbs]
    table.table.press("inside", [1])
    assert looked == [[run]]

    def refuse(_runs):
        raise InputError("not on this system")

    table.runs.acts["inside"] = refuse
    table.table.press("inside", [1])
    assert (table.message.text, table.message.tone) == ("not on this system", "bad")


def test_a_run_that_ends_while_its_row_is_made_is_not_kept_as_it_was(table, monkeypatch, eventually):
    session = Session(configure("two-layer", n=12))
    real = run_table._cells

    def ends(run, name):
        cells = real(run, name)
        if run.active:
            session.wait(LIMIT)
        return cells

    monkeypatch.setattr(run_table, "_cells", ends)
    table.runs.add(session, "Solve")
    eventually(lambda: "1" in shown(table) and shown(table)["1"]["State"] == "converged")


def test_what_could_not_be_done_stays_said_when_older_runs_were_removed(table, eventually):
    one = record()
    for _ in range(KEPT + 1):
        table.runs.add(one, "Solve")
    eventually(lambda: "older ones were removed" in table.message.text)
    table.table.press("rename", [-5], "x")
    said = table.message.text
    assert "removed" not in said
    table.runs.add(Session(configure("two-layer", n=8)), "Race")
    eventually(lambda: len(table.table.rows) == KEPT + 1)
    assert table.message.text == said


def test_the_table_says_from_where_runs_that_come_by_the_dozen_are_counted(table, eventually):
    table.runs.add(record(), "Solve")
    eventually(lambda: len(table.table.rows) == 1)
    assert table.legend.value == ""
    table.runs.add(record(), "Sweep")
    eventually(lambda: "Runs of Sweep and Papers are counted from 1001." in table.legend.value)
    assert "1001" in shown(table)
