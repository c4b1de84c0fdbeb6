"""The two-level paper: tables and figures on small grids, and printed iteration counts."""

import dataclasses
import itertools
import json
import types

import pytest

from tests.papers.conftest import small
from workbench.cli import main
from workbench.papers import reproduce, two_level
from workbench.papers.two_level import printed
from workbench.run import Stopping


@pytest.fixture
def made(monkeypatch):
    """The configurations that would be solved, in order; nothing is."""
    configurations = []
    result = types.SimpleNamespace(iterations=10, converged=True, setup_seconds=1.0, iteration_seconds=0.5)
    monkeypatch.setattr(two_level, "Run", lambda configuration: configurations.append(configuration))
    monkeypatch.setattr(two_level, "run_through", lambda run: result)
    return configurations


def test_table_2_at_128_is_within_20_percent_and_in_the_printed_order():
    made = small("two-level", "table2")
    assert [row["preconditioner"] for row in made.rows] == [line[0] for line in printed()["table2"]["rows"]]
    for row in made.rows:
        assert abs(row["deviation_percent"]) <= 20
        assert row["range"][0] <= row["ours"] <= row["range"][1]
    assert "Order of the preconditioners at n = 128: as printed." in made.notes


def test_large_deviations_are_named_as_not_explained(made):
    notes = reproduce("two-level", "table2", max_n=128).notes
    (note,) = [note for note in notes if note.startswith("Not explained, more than 15% from the print: ")]
    assert "128, block_ic(2n) (-87%)" in note


def test_figure_1_shows_the_jump_between_the_phases():
    (row,) = small("two-level", "fig1").rows
    assert row["eigenvalues"] == 256
    assert row["largest_jump_after"] == 128
    assert row["jump_factor"] > 2


@pytest.mark.parametrize("target", ["table3", "table4"])
def test_small_versions_of_tables_3_and_4_are_labelled_and_not_compared(target):
    made = small("two-level", target)
    assert any("--max-n 128 runs the paper's size" in note for note in made.notes)
    assert {row["deviation_percent"] for row in made.rows} == {None}


@pytest.mark.parametrize("target", ["fig9", "fig10"])
def test_sizes_are_ticks(target):
    (axes,) = small("two-level", target).figure.axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["128"]
    assert not any(label.get_text() for label in axes.get_xticklabels(minor=True))


def test_every_time_is_measured_after_a_solve_of_few_iterations(made):
    """No time contains the loading of kernels."""
    for target in ("table1", "table3", "table4", "fig9", "fig10", "fig11", "fig12"):
        made.clear()
        reproduce("two-level", target, max_n=128)
        methods = itertools.groupby(made, lambda one: dataclasses.replace(one, seed=0, stopping=Stopping()))
        for _, solves in methods:
            first, *others = (one.stopping.maxiter for one in solves)
            assert first == 2
            assert len(others) >= 2
            assert set(others) == {None}


def test_coarse_systems_are_solved_as_in_the_paper(made):
    """By the explicit inverse; in Tables 3 and 4 by CG in the rows of DICCG, a factorization in those of DPCG."""
    for target in ("table1", "table2"):
        reproduce("two-level", target, max_n=128)
    assert {one.coarse.name for one in made} == {"inverse"}
    made.clear()
    for target in ("table3", "table4"):
        reproduce("two-level", target)
    assert {(one.preconditioner.name, one.coarse.name) for one in made} == {("ic", "inner-cg"), ("neumann", "cholesky")}


def test_the_reproduce_command(capsys, tmp_path):
    picture = tmp_path / "spectrum.svg"
    assert main(["reproduce", "two-level", "fig1", "--json", "--picture", str(picture)]) == 0
    printed_text = capsys.readouterr().out
    assert json.loads(printed_text)["name"] == "fig1"
    assert picture.read_text().startswith("<?xml")
