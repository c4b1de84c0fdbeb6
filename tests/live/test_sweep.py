"""The sweep's widget: progress, table and heat map follow the rows."""

from __future__ import annotations

import json
import math

import pytest

from workbench.errors import InputError
from workbench.live import SweepView
from workbench.live.sorttable import SortTable
from workbench.live.sweep import grid
from workbench.run import Run, Stopping, sweep

OVER = {"n": [8, 16], "preconditioner": ["jacobi", "neumann:2"], "deflation": ["none", "stripes"]}
ROWS = [
    {"n": 8, "deflation": "none", "seed": 0, "iterations": 20, "converged": True},
    {"n": 8, "deflation": "none", "seed": 1, "iterations": 18, "converged": True},
    {"n": 8, "deflation": "stripes", "seed": 0, "iterations": 5, "converged": False},
    {"n": 16, "deflation": "none", "seed": 0, "iterations": 40, "converged": True},
]


def test_the_grid_holds_the_smallest_of_the_converged():
    over = {"n": [8, 16], "deflation": ["none", "stripes"], "seed": [0, 1]}
    cells = grid(ROWS, over, "n", "deflation", "iterations")
    assert cells[0, 0] == 18
    assert cells[1, 0] == 40
    assert math.isnan(cells[0, 1])
    assert math.isnan(cells[1, 1])
    assert grid(ROWS, over, "n", "n", "iterations").tolist() == [[18, 40]]


def test_everything_is_shown_at_the_end():
    view = SweepView("two-layer", OVER)
    assert "8 runs; press Run" in view.status.text
    found = view.wait(60)
    assert [row["iterations"] for row in found.rows] == [row["iterations"] for row in sweep("two-layer", OVER).rows]
    assert view.bar.value == view.bar.max == 8
    assert view.status.text.endswith("8 of 8 runs done")
    assert [cells[view.table.columns.index("iterations")]["key"] for cells in view.table.rows] == [
        row["iterations"] for row in found.rows
    ]
    assert bytes(view.picture.value).startswith(b"\x89PNG")
    assert "smallest over preconditioner" in view.note.value
    before = view.picture.value
    view.down.value = "preconditioner"
    assert "smallest over n" in view.note.value
    assert view.picture.value != before


def test_stop_keeps_the_rows_and_run_begins_anew(eventually):
    slow = Stopping(rtol=0, atol=1e-300, stagnation=10**9, maxiter=10**9)
    view = SweepView("two-layer", {"n": [24, 32]}, stopping=slow, solver="sd")
    view.run()
    eventually(lambda: not view._stop.disabled)
    view.stop()
    found = view.wait(20)
    assert found.cancelled
    assert len(found.rows) <= 1
    assert "stopped by the user" in view.status.text
    assert not view._run.disabled


def test_exports_wait_for_the_end(tmp_path):
    view = SweepView("two-layer", {"n": [8, 16], "solver": ["cg", "pipecg"]}, folder=tmp_path / "exports")
    with pytest.raises(InputError, match="has not ended"):
        view.export("csv")
    found = view.wait(60)
    assert json.loads(view.export("json").read_text(encoding="utf-8"))["rows"] == found.to_dict()["rows"]
    assert "iterations" in view.export("csv").read_text(encoding="utf-8")
    assert "pipecg" in view.export("svg").read_text(encoding="utf-8")


def test_a_sweep_that_nothing_converged_in_has_no_map(monkeypatch):
    def burst(run, most=None):
        raise RuntimeError("a wheel came off")

    monkeypatch.setattr(Run, "step", burst)
    view = SweepView("two-layer", {"n": [8]})
    view.wait(60)
    assert "no run gave one" in view.note.value
    assert "1 did not converge" in view.status.text


def test_a_wrong_choice_is_told_before_it_is_shown():
    with pytest.raises(InputError, match="did you mean jacobi"):
        SweepView("two-layer", {"preconditioner": ["jacobbi"]})
    with pytest.raises(InputError, match="nothing to sweep"):
        SweepView("two-layer", {})


def test_cells_are_sorted_by_value_and_written_for_people():
    table = SortTable()
    table.show(["a"], [[1234], [0.000123456], [None], [True], ["x"], [math.nan]])
    texts = [cells[0]["text"] for cells in table.rows]
    assert texts == ["1,234", "0.0001235", "–", "yes", "x", "nan"]
    assert [cells[0]["key"] for cells in table.rows] == [1234, 0.000123456, None, "yes", "x", None]
