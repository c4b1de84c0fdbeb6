"""The two-level paper: tables and figures on small grids, and printed iteration counts."""

import dataclasses
import functools
import itertools
import json
import types

import pytest

from workbench.cli import main
from workbench.errors import InputError
from workbench.papers import PAPERS, Reproduction, reproduce, two_level
from workbench.papers.two_level import printed
from workbench.run import Stopping

TARGETS = [(paper, name) for paper, targets in PAPERS.items() for name in targets]
TABLES = [(paper, name) for paper, name in TARGETS if not PAPERS[paper][name].draws]


@functools.cache
def small(target):
    """A target as small as it gets."""
    return reproduce("two-level", target, PAPERS["two-level"][target].smallest)


@pytest.fixture
def made(monkeypatch):
    """The configurations that would be solved, in order; nothing is."""
    configurations = []
    result = types.SimpleNamespace(iterations=10, converged=True, setup_seconds=1.0, iteration_seconds=0.5)
    monkeypatch.setattr(two_level, "Run", lambda configuration: configurations.append(configuration))
    monkeypatch.setattr(two_level, "run_through", lambda run: result)
    return configurations


@pytest.mark.parametrize("target", sorted(PAPERS["two-level"]))
def test_every_target_runs_on_a_small_grid(target):
    made = small(target)
    assert made.rows
    assert made.notes
    assert all(set(row) == set(made.rows[0]) for row in made.rows)
    text = made.text()
    assert text.count("\n") >= len(made.rows) + 3
    assert json.dumps(made.to_dict())
    assert (made.figure is not None) == PAPERS["two-level"][target].draws


def test_table_2_at_128_is_within_20_percent_and_in_the_printed_order():
    made = small("table2")
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
    (row,) = small("fig1").rows
    assert row["eigenvalues"] == 256
    assert row["largest_jump_after"] == 128
    assert row["jump_factor"] > 2


@pytest.mark.parametrize("target", ["table3", "table4"])
def test_small_versions_of_tables_3_and_4_are_labelled_and_not_compared(target):
    made = small(target)
    assert any("--max-n 128 runs the paper's size" in note for note in made.notes)
    assert {row["deviation_percent"] for row in made.rows} == {None}


@pytest.mark.parametrize("target", ["fig9", "fig10"])
def test_sizes_are_ticks(target):
    (axes,) = small(target).figure.axes
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


@pytest.mark.parametrize(("paper", "target"), TARGETS, ids="-".join)
def test_every_target_names_its_smallest_size(paper, target):
    smallest = PAPERS[paper][target].smallest
    with pytest.raises(InputError, match=f"max_n must be at least {smallest} for {paper} {target}, got {smallest - 1}"):
        reproduce(paper, target, smallest - 1)


@pytest.mark.parametrize(("paper", "target"), TABLES, ids="-".join)
def test_a_picture_of_a_table_is_refused_before_the_work(paper, target, capsys, tmp_path):
    assert main(["reproduce", paper, target, "--picture", str(tmp_path / "a.svg")]) == 2
    assert f"{paper} {target} is a table and has no figure" in capsys.readouterr().err


def test_all_leaves_out_what_begins_at_larger_sizes(capsys, monkeypatch):
    made = {
        name: dataclasses.replace(one, make=lambda n, _: Reproduction("a", "a", [{"n": n}], []))
        for name, one in PAPERS["two-level"].items()
    }
    monkeypatch.setitem(PAPERS, "two-level", made)
    assert main(["reproduce", "two-level", "all", "--max-n", "64", "--json"]) == 0
    printed_text = capsys.readouterr()
    assert [one["rows"] for one in json.loads(printed_text.out)] == [[{"n": 64}]] * 6
    assert "left out: two-level table2, which begins at --max-n 128" in printed_text.err
    assert main(["reproduce", "two-level", "all", "--max-n", "3"]) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("two-levels", "table1"), "did you mean two-level"),
        (("two-level", "table9"), "unknown target of two-level 'table9'"),
        (("two-level", "fig1", 3), "max_n must be at least 16 for two-level fig1, got 3"),
    ],
)
def test_unknown_targets_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        reproduce(*arguments)
