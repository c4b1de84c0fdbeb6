"""The sweep's widget: progress, table and heat map follow the rows."""

import functools
import json
import math

import numpy as np
import pytest

from tests.live.conftest import page_says
from tests.waiting import LIMIT, until
from workbench.errors import InputError
from workbench.live import SweepView
from workbench.live.compare.sweep_choices import split
from workbench.live.compare.sweep_plot import SweepPlot, curves_scene, map_scene, parallel_of
from workbench.live.compare.sweep_text import (
    Runs,
    absences,
    answer,
    columns,
    counted,
    marks,
    remaining,
    shortfall,
    unit_of,
)
from workbench.live.ui.sort_table import SortTable
from workbench.run import Run, Stopping, configure, sweep

OVER = {"n": [8, 16], "preconditioner": ["jacobi", "neumann:2"], "deflation": ["none", "stripes"]}
ROWS = [
    {"n": 8, "deflation": "none", "seed": 0, "iterations": 20, "converged": True},
    {"n": 8, "deflation": "none", "seed": 1, "iterations": 18, "converged": True},
    {"n": 8, "deflation": "stripes", "seed": 0, "iterations": 5, "converged": False},
    {"n": 16, "deflation": "none", "seed": 0, "iterations": 40, "converged": True},
]
RUNS = Runs(ROWS, {"n": [8, 16], "deflation": ["none", "stripes"], "seed": [0, 1]}, "iterations", "iterations")


@pytest.fixture
def swept(view_in):
    """Makes the view of a sweep that has ended."""
    return functools.partial(view_in, "sweep", "two-layer", state="ended")


def test_the_grid_holds_the_smallest_of_the_converged():
    (layer,) = map_scene(RUNS, "n", "deflation").layers
    # The first row of a table is on top, which is the last of a plot.
    assert layer.values[:, 0].tolist() == [40, 18]
    assert np.isnan(layer.values[:, 1]).all()
    assert layer.absent[3] == "not converged"
    assert layer.keys[2] == "1"
    assert layer.texts[2][0] == "run 2"
    (row,) = map_scene(RUNS, "n", "n").layers
    assert row.values.tolist() == [[18, 40]]


def test_curves_hold_the_smallest_over_all_others_and_know_their_runs():
    assert RUNS.numeric == ["n", "seed"]
    scene = curves_scene(RUNS, "deflation", "n")
    curve, points = scene.layers[:2]
    assert (curve.name, curve.x.tolist(), curve.y.tolist()) == ("no deflation", [8, 16], [18, 40])
    assert points.keys == ["1", "3"]
    assert scene.x.marks == [8, 16]
    assert "The fewest iterations: 18 with cells per side 8" in scene.spoken


def test_a_point_of_several_seeds_is_their_median_with_a_bar_from_the_least_to_the_largest(opened):
    rows = [
        {"n": n, "deflation": deflation, "seed": seed, "iterations": iterations, "converged": True}
        for n, deflation, found in ((8, "none", (20, 18, 31)), (8, "stripes", (9, 9, 9)), (16, "none", (40, 42, 41)))
        for seed, iterations in enumerate(found)
    ]
    runs = Runs(rows, {"n": [8, 16], "deflation": ["none", "stripes"], "seed": [0, 1, 2]}, "iterations", "iterations")
    curve, points, *_ = curves_scene(runs, "deflation", "n").layers
    assert curve.y.tolist() == [20, 41]
    assert points.spans == [(18, 31), (40, 42)]
    assert points.texts[0][-1] == "3 seeds: 18 to 31"
    assert points.keys == ["0", "8"]
    # Where seeds are on an axis, each stands for itself.
    assert curves_scene(runs, "seed", "n").layers[1].spans is None
    (cells,) = map_scene(runs, "n", "deflation").layers
    assert cells.values[1].tolist() == [20, 9]
    # For each seed the least over the other choices counts.
    assert runs.best(n=8)[0] == 9
    view = opened(SweepPlot(lambda: None))
    view.begin(runs.over, "two-layer")
    view.show(rows)
    view.form.set("view", "curves")
    assert (view.form.present.down, view.form.present.across) == ("deflation", "n")
    assert view.note.value == "Each value is the median of 3 seeds, with a bar from the least to the largest."
    assert len(view.figure().axes[0].collections) > 0


def test_parallel_coordinates_have_an_axis_for_each_choice_and_one_for_the_result():
    axes, shares = parallel_of(RUNS)
    assert [title for title, _ in axes] == ["cells per side", "deflation", "seed", "iterations"]
    assert shares.shape == (4, 4)
    assert shares[:, 0].tolist() == [0, 0, 0, 1]
    assert shares[0, 3] == pytest.approx(math.log(20 / 18) / math.log(40 / 18))
    assert math.isnan(shares[2, 3])
    assert axes[-1][1][0] == (0.0, "18")


def test_everything_is_shown_at_the_end(view_in):
    view = view_in("sweep", "two-layer", OVER)
    until(lambda: "8 runs; press Run" in view.status.text)
    found = view.wait(LIMIT)
    assert [row["iterations"] for row in found.rows] == [row["iterations"] for row in sweep("two-layer", OVER).rows]
    assert view.asked.selected_index is None
    until(lambda: not view.status.progress and view.plan.layout.display == "none")
    until(lambda: view.status.text.endswith("8 of 8 runs done"))
    iterations = [row["iterations"] for row in found.rows]
    until(lambda: [cells[view.table.columns.index("iterations")]["key"] for cells in view.table.rows] == iterations)
    assert view.map.plot.scene.name == "map of n and deflation"
    assert "minimum over preconditioner" in view.map.note.value
    view.map.form.set("down", "preconditioner")
    assert view.map.plot.scene.name == "map of preconditioner and deflation"
    assert "minimum over cells per side" in view.map.note.value
    view.map.form.set("view", "curves")
    assert view.map.plot.scene.name == "iterations of preconditioner against n"
    assert view.map.form.box.state["options"]["across"] == [["n", "cells per side"]]
    view.map.form.set("view", "parallel")
    assert view.map.note.value == ""
    assert len(view.map.figure().axes[0].lines) == 8 + 4


def test_a_click_on_a_point_chooses_the_run_in_the_list(swept):
    view = swept({"n": [8, 16]})
    assert view.map.form.present.view == "curves"
    page_says(view.map.plot, {"kind": "picked", "key": "1"})
    (chosen,) = view.listed.chosen
    assert chosen.number == 1002
    assert chosen.handle.summary["iterations"] == view.rows[1]["iterations"]
    assert "cells per side 16" in view.best.text


def test_rows_and_columns_of_the_map_stay_two_choices_when_what_varies_changes(view_in, eventually):
    # How accurate its runs are does not matter.
    over = {"n": [8, 16], "preconditioner": ["jacobi", "none"]}
    view = view_in("sweep", "two-layer:8", over, stopping=Stopping(rtol=0.5))
    assert (view.map.form.present.down, view.map.form.present.across) == ("n", "preconditioner")
    first, second = view.choices.rows
    first.set("name", "preconditioner")
    second.set("name", "deflation")
    first.set("text", "jacobi, none, ssor")
    second.set("text", "none, stripes, blocks:2")
    eventually(lambda: view.runs == 9)
    until(lambda: view.status.text == "Two layers: 9 runs; press Run")
    view.wait(LIMIT)
    assert {view.map.form.present.down, view.map.form.present.across} == {"preconditioner", "deflation"}
    assert view.map.figure().axes[0].images[0].get_array().shape == (3, 3)
    # Whoever chooses for one what the other shows turns the map over.
    down, across = view.map.form.present.down, view.map.form.present.across
    view.map.form.set("down", across)
    assert (view.map.form.present.down, view.map.form.present.across) == (across, down)


def test_stop_keeps_the_rows_and_run_begins_anew(view_in):
    # So many cells that no rounding errors end a run.
    view = view_in("sweep", "two-layer", {"n": [64, 96]}, solver="sd", state="stopped")
    found = view.wait(LIMIT)
    assert found.cancelled
    assert len(found.rows) <= 1
    until(lambda: "stopped by the user" in view.status.text)
    until(lambda: not view.status.run.disabled)


def test_exports_wait_for_the_end_and_are_downloaded(view_in, downloads, eventually):
    view = view_in("sweep", "two-layer", {"n": [8, 16], "solver": ["cg", "pipecg"]})
    with pytest.raises(InputError, match="has not ended"):
        view.export("csv")
    files = downloads(view.save_bar.saver.download)
    found = view.wait(LIMIT)
    view.exports[1].click()
    ((name, content),) = eventually(files)
    assert name.startswith("sweep-Two-layers-")
    assert name.endswith(".json")
    assert not view.folder.exists()
    written = view.export("json").read_bytes()
    assert json.loads(content)["rows"] == json.loads(written)["rows"] == found.to_dict()["rows"]
    assert "iterations" in view.export("csv").read_text(encoding="utf-8")
    assert "pipelined CG" in view.export("svg").read_text(encoding="utf-8")


def test_a_sweep_that_nothing_converged_in_has_no_map(monkeypatch, swept):
    def burst(run, most=None):
        raise RuntimeError("a wheel came off")

    monkeypatch.setattr(Run, "step", burst)
    view = swept({"n": [8]})
    (layer,) = view.map.plot.scene.layers
    assert layer.absent == ["failed"]
    with pytest.raises(InputError, match="no run has a value to draw yet"):
        view.map.figure()
    until(lambda: "1 failed" in view.status.text)


def test_a_wrong_choice_is_told_before_it_is_shown():
    with pytest.raises(InputError, match="did you mean jacobi"):
        SweepView("two-layer", {"preconditioner": ["jacobbi"]})
    with pytest.raises(InputError, match="nothing to sweep"):
        SweepView("two-layer", {})
    with pytest.raises(InputError, match="fixed and as swept"):
        SweepView("two-layer", {"solver": ["cg"]}, solver="pipecg")


def test_the_best_of_each_system_and_the_failed_are_told_apart():
    over = {"n": [8, 16], "deflation": ["none", "stripes", "file"]}
    rows = [
        {"n": 8, "deflation": "none", "iterations": 20, "converged": True},
        {"n": 8, "deflation": "stripes", "iterations": 5, "converged": True},
        {"n": 8, "deflation": "file", "iterations": None, "converged": False},
        {"n": 16, "deflation": "none", "iterations": 40, "converged": True},
        {"n": 16, "deflation": "stripes", "iterations": 9, "converged": False},
    ]
    found = marks(rows, over, "iterations")
    # One that converged alone on its system has beaten nobody.
    assert found == ["", "best", "failed", "", ""]
    assert (
        answer(rows, over, "iterations", "{:.0f}".format)
        == "Stripes along x takes the fewest iterations for each choice of cells per side: 5."
    )
    assert answer(rows[2:3], over, "iterations", str) == ""
    assert absences(rows, over, "n", "deflation") == [["", "", "failed"], ["", "not converged", ""]]
    assert absences(rows, over, "deflation", "deflation") == [["", "not converged", "failed"]]
    assert marks(rows[:1], over, "iterations") == [""]
    assert shortfall(rows) == ", 1 failed, 1 did not converge"
    assert shortfall(rows[:2]) == ""


def test_what_remains_is_by_the_pace_so_far():
    assert remaining(10.0, 5, 10) == "about 10 s left at the rate so far"
    assert remaining(60.0, 1, 4) == "about 3 min left at the rate so far"
    assert remaining(3600.0, 1, 4) == "about 3.0 h left"
    assert counted({"n": [8, 16], "solver": ["cg"]}) == "2 runs = 2 (cells per side) × 1 (solver)"


def test_values_are_written_with_commas():
    assert split("32, 64,,128 ") == ["32", "64", "128"]
    assert split("cg, hybrid3:share=0.4,fused=no, neumann:2") == ["cg", "hybrid3:share=0.4,fused=no", "neumann:2"]
    assert split("a = b") == ["a = b"]


@pytest.fixture
def small(view_in):
    return view_in("sweep", configure("two-layer", n=16, density_ratio=1e3), {"n": [8, 16]})


def row_of(view, name):
    return next(row for row in view.choices.rows if row.name == name)


def test_the_form_says_how_many_runs_before_any_is_made(small, eventually):
    assert small.plan.text == "2 runs = 2 (cells per side)"
    small.choices.add()
    eventually(lambda: "Solver has no value yet" in small.plan.text)
    row_of(small, "solver").set("known", "cg")
    row_of(small, "solver").set("known", "pipecg")
    assert row_of(small, "solver").text == "cg, pipecg"
    eventually(lambda: small.plan.text == "4 runs = 2 (cells per side) × 2 (solver)")
    row_of(small, "solver").set("name", "density_ratio")
    assert row_of(small, "density_ratio").text == ""
    row_of(small, "density_ratio").set("text", "1e2, 1e4")
    eventually(lambda: small.plan.text == "4 runs = 2 (cells per side) × 2 (density ratio)")
    eventually(lambda: small.form.blocks["problem"].fields["density_ratio"].disabled)
    assert not small.rows
    found = small.wait(LIMIT)
    assert [(row["n"], row["density_ratio"]) for row in found.rows] == [(8, 1e2), (8, 1e4), (16, 1e2), (16, 1e4)]
    assert [name for name, _ in small.map.form.box.state["options"]["down"]] == ["n", "density_ratio"]


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("n", "8, x", "Cells per side must be a whole number, got 'x'"),
        ("n", "8, 8", "the value 8 twice"),
        ("n", "", "Cells per side has no value yet"),
        ("n", "-3", "Cells per side must be"),
        ("solver", "cgg", "did you mean cgcg?"),
        ("device", "abacus", "unknown device 'abacus'"),
        ("seed", "x", "seed must be a whole number"),
        ("rhs", "two", "rhs"),
    ],
)
def test_a_wrong_value_is_a_sentence_and_run_repeats_it(small, eventually, name, text, sentence):
    small.choices.rows[0].set("name", name)
    small.choices.rows[0].set("text", text)
    eventually(lambda: sentence in small.plan.text)
    assert small.plan.tone == "bad"
    small.run()
    eventually(lambda: small.status.tone == "bad" and sentence in small.status.text and not small.status.run.disabled)
    assert small.choices.rows[0].text == text
    with pytest.raises(InputError):
        small.wait(LIMIT)


def test_workers_are_typed_checked_and_named_in_the_table(view_in, eventually):
    pytest.importorskip("distributed", reason="workers need Dask")
    view = view_in("sweep", "two-layer", {"n": [8, 13]})
    view.workers.set("workers", "local:0")
    eventually(lambda: "workers is the address of a Dask scheduler" in view.plan.text)
    view.workers.set("workers", "local:1")
    eventually(lambda: view.plan.text.startswith("2 runs"))
    assert view.wait(LIMIT).converged
    heads, cells = columns([*view.rows[:1], {**view.rows[1], "repeats": 2}], view.map.over)
    assert heads[-1] == "worker"
    assert cells[0][-1]["text"].startswith("127.0.0.1:")
    assert cells[1][-1]["text"].endswith(", repeated 2 times")


def test_combinations_that_cannot_run_are_said_before_the_sweep_by_names(small, eventually):
    small.choices.add()
    row_of(small, "solver").set("text", "cg, hybrid3")
    eventually(lambda: small.plan.text.startswith("4 runs = 2 (cells per side) × 2 (solver); 2 of them cannot run: "))
    assert "cannot run: Hybrid pipelined CG 3 shares" in small.plan.text
    assert "hybrid3" not in small.plan.text
    assert "(use pipelined CG)" in small.plan.text
    row_of(small, "solver").set("text", "hybrid3")
    eventually(
        lambda: (
            small.plan.text.startswith("no run is possible: Hybrid pipelined CG 3 shares") and small.plan.tone == "bad"
        )
    )
    small.run()
    eventually(lambda: "no run is possible" in small.status.text)
    assert not small.rows


def test_known_values_that_cannot_run_with_the_rest_are_grey(small):
    small.choices.add()
    row = row_of(small, "solver")

    def reasons():
        row.ask("known")
        return row.box.state["reasons"]["known"]

    reason = reasons()["hybrid3"]
    assert reason["words"].startswith("Hybrid pipelined CG 3 shares work between cores and accelerator, and device CPU")
    assert "pipecg" not in reasons()
    # What is grey with one value of another choice only can run with the others.
    small.choices.add()
    small.choices.rows[-1].set("name", "precision")
    small.choices.rows[-1].set("text", "mixed")
    assert reasons()["pipecg"]["with"] == "precision: Double"
    small.choices.rows[-1].set("text", "float64, mixed")
    assert "pipecg" not in reasons()


def test_a_parameter_by_its_former_name_keeps_its_meaning(view_in):
    view = view_in("sweep", configure("two-layer", n=16), {"contrast": [10.0, 1000.0]})
    assert view.choices.over() == {"density_ratio": [0.1, 0.001]}


def test_a_parameter_is_typed_and_shown_as_in_the_form(view_in):
    view = view_in("sweep", configure("bubbles-2d", n=16, density_ratio=1e-2), {"density_ratio": [1e-2, 1e-3]})
    (row,) = view.choices.rows
    assert (row.title, row.text) == ("Density ratio", "0.01, 0.001")
    assert view.choices.over() == {"density_ratio": [1e-2, 1e-3]}
    runs = Runs([], view.over, "iterations", "iterations", "bubbles-2d")
    assert runs.chosen_text("density_ratio", 1e-6) == "density ratio 10⁻⁶"
    assert curves_scene(runs, "density_ratio", "density_ratio").x.marks == [0.001, 0.01]
    row.set("text", "-1")
    with pytest.raises(InputError, match="Density ratio, inside/outside"):
        view.choices.over()


def test_what_stays_the_same_can_be_changed(small, eventually):
    small.form.set("preconditioner", "neumann")
    small.form.set("rtol", "1e-3")
    eventually(lambda: "Neumann 2" in small.asked.titles[1])
    found = small.wait(LIMIT)
    alone = sweep(
        "two-layer", {"n": [8, 16]}, stopping=Stopping(rtol=1e-3), preconditioner="neumann", density_ratio=1e3
    )
    assert [row["iterations"] for row in found.rows] == [row["iterations"] for row in alone.rows]


def test_another_base_keeps_the_choices_that_it_has(small, eventually):
    small.choices.add()
    row_of(small, "solver").set("text", "cg, pipecg")
    small.choices.add()
    small.choices.rows[-1].set("name", "density_ratio")
    small.choices.rows[-1].set("text", "1e2, 1e3")
    small.rebase(configure("poisson5", n=12, preconditioner="none"))
    until(lambda: "density ratio is none of its parameters" in small.status.text)
    eventually(lambda: small.plan.text == "4 runs = 2 (unknowns per side) × 2 (solver)")
    found = small.wait(LIMIT)
    assert found.provenance["configuration"]["problem"]["name"] == "poisson5"
    assert found.provenance["configuration"]["preconditioner"]["name"] == "none"


def test_rows_that_the_forms_problem_does_not_have_are_named_and_come_back(small, eventually):
    small.choices.add()
    small.choices.rows[-1].set("name", "density_ratio")
    small.choices.rows[-1].set("text", "1e2, 1e3")
    small.form.set("problem", "poisson5")
    until(lambda: "density ratio is none of its parameters" in small.status.text)
    assert [row.name for row in small.choices.rows] == ["n"]
    small.form.set("problem", "two-layer")
    assert row_of(small, "density_ratio").text == "1e2, 1e3"
    eventually(lambda: small.plan.text == "4 runs = 2 (cells per side) × 2 (density ratio)")


def test_a_page_that_is_turned_to_again_changes_nothing(small):
    small.form.set("preconditioner", "neumann")
    small.rebase(configure("two-layer", n=16, density_ratio=1e3))
    assert small.form.blocks["preconditioner"].choice.value == "neumann"
    other = configure("two-layer", n=16, solver="pipecg")
    small.rebase(other)
    assert small.form.blocks["preconditioner"].choice.value == other.preconditioner.name
    small.form.set("solver", "sd")
    small.rebase(other)
    assert small.form.blocks["solver"].choice.value == "sd"


def test_files_are_named_after_the_sweep_and_not_after_what_was_chosen_since(tmp_path, swept):
    view = swept({"n": [8]}, folder=tmp_path)
    view.rebase(configure("poisson5", n=8))
    assert view.export("csv").name.startswith("sweep-Two-layers-")


def test_it_begins_with_a_suggestion(view_in):
    view = view_in("sweep")
    assert view.runs == 6
    assert view.plan.text == "6 runs = 2 (cells per side) × 3 (preconditioner)"
    with pytest.raises(InputError, match="give it alone"):
        SweepView(configure("two-layer"), solver="cg")


def test_cells_are_sorted_by_value_and_written_for_people():
    table = SortTable()
    table.show(["a"], [[1234], [0.000123456], [None], [True], ["x"], [math.nan]])
    texts = [cells[0]["text"] for cells in table.rows]
    assert texts == ["1234", "1.23\u202f×\u202f10⁻⁴", "–", "yes", "x", "–"]
    assert [cells[0]["key"] for cells in table.rows] == [1234, 0.000123456, None, "yes", "x", None]


def test_times_are_shown_in_the_unit_that_suits_with_their_sum(swept):
    over = {"n": [8], "preconditioner": ["jacobi", "neumann:2"]}
    view = swept(over)
    first, second = view.rows
    rows = [
        {**first, "setup_seconds": 5e-3, "iteration_seconds": 2e-3},
        {**second, "setup_seconds": 1e-3, "iteration_seconds": 0.5e-3},
    ]
    heads, cells = columns(rows, over)
    places = [heads.index(head) for head in ("setup [ms]", "iterating [ms]", "setup + iterating [ms]")]
    shown = SortTable()
    shown.show(heads, cells)
    assert [[row[place]["key"] for place in places] for row in shown.rows] == [
        pytest.approx([5, 2, 7]),
        pytest.approx([1, 0.5, 1.5]),
    ]
    view.map.form.set("value", "seconds")
    view.map.rows = rows
    assert view.map.figure().axes[1].get_ylabel() == "setup + iteration time (ms)"
    assert unit_of([20.0, None, math.nan]) == ("s", 1.0)
    assert unit_of([]) == ("s", 1.0)


def test_a_row_that_failed_has_no_times_and_says_why():
    row = {"n": 4, "N": None, "iterations": None, "setup_seconds": None, "iteration_seconds": None, "reason": "no; do"}
    heads, cells = columns([{**row, "true_relative_residual": None}], {"n": [4]})
    assert cells[0][heads.index("setup + iterating [s]")] is None
    assert cells[0][heads.index("state")] == {"key": "no", "text": "no", "tip": "no; do"}


def test_the_answer_names_methods_and_says_compilation_apart():
    over = {"n": [8, 16], "preconditioner": ["jacobi", "neumann:2"]}
    took = [(8, "jacobi", 9), (8, "neumann:2", 5), (16, "jacobi", 20), (16, "neumann:2", 8)]
    same = {"N": 64, "setup_seconds": 1.0, "iteration_seconds": 2.0, "true_relative_residual": 1e-7, "converged": True}
    rows = [
        {"n": n, "preconditioner": name, "iterations": k, "compile_seconds": 0.5, "reason": "converged (at 3)", **same}
        for n, name, k in took
    ]
    compiled = "Compiling kernels took 2.00\u202fs more, once per machine."
    said = f"Neumann 2 takes the fewest iterations for each choice of cells per side: 5 to 8. {compiled}"
    assert answer(rows, over, "iterations", "{:.0f}".format) == said
    rows[0]["iterations"] = 3
    begin = "The fewest iterations for each choice of cells per side: Jacobi for 1 of 2; Neumann 2 for 1 of 2."
    assert answer(rows, over, "iterations", str).startswith(begin)
    # All have converged, so none has a state; compilation is in no time.
    heads, cells = columns(rows, over)
    assert "state" not in heads
    setup = cells[0][heads.index("setup [s]")]
    assert (setup["key"], setup["tip"]) == (1.0, "compiling kernels took 0.500\u202fs more, once per machine")


def test_results_are_runs_of_the_list_hidden_on_plots(swept):
    view = swept({"n": [8, 16], "rtol": ["1e-3", 1e-6]})
    found = view.wait(LIMIT)
    runs = view.listed.of("Sweep")
    assert [run.record.summary["iterations"] for run in runs] == [row["iterations"] for row in found.rows]
    assert all(run.hidden for run in runs)
    rules = [run.handle.configuration().stopping.rtol for run in runs]
    assert rules == [1e-3, 1e-6, 1e-3, 1e-6]
    assert found.rows[0]["iterations"] < found.rows[1]["iterations"]
    assert len({run.style for run in runs}) == 4


def test_the_bar_says_where_what_is_chosen_differs_from_what_was_run(swept):
    view = swept({"n": [8, 16]})
    until(lambda: view.status.text == "Two layers: 2 of 2 runs done")
    view.choices.rows[0].set("text", "8, 16, 24")
    until(lambda: view.status.text == "Two layers: 2 of 2 runs done; 3 runs are chosen now")


def test_a_table_beside_its_plot_leaves_out_the_parts_of_a_time(view_in, eventually):
    view = view_in("sweep", configure("two-layer", n=16), {"n": [8, 16]}, state="ended")
    eventually(lambda: len(view.table.rows) == 2)
    assert [head.partition(" [")[0] for head in view.table.low] == ["setup", "iterating"]
    assert set(view.table.low) <= set(view.table.columns)
