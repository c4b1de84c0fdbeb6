"""The two-level paper: tables and figures on small grids, and printed iteration counts."""

import json

import pytest

from workbench.cli import main
from workbench.errors import InputError
from workbench.papers import PAPERS, reproduce
from workbench.papers.two_level import printed


@pytest.mark.parametrize("target", sorted(set(PAPERS["two-level"]) - {"table2"}))
def test_every_target_runs_on_a_small_grid(target):
    made = reproduce("two-level", target, max_n=32)
    assert made.rows
    assert made.notes
    assert all(set(row) == set(made.rows[0]) for row in made.rows)
    text = made.text()
    assert text.count("\n") >= len(made.rows) + 3
    assert json.dumps(made.to_dict())
    assert (made.figure is not None) == target.startswith("fig")


def test_table_2_at_128_is_within_20_percent_and_in_the_printed_order():
    made = reproduce("two-level", "table2", max_n=128)
    assert [row["preconditioner"] for row in made.rows] == [line[0] for line in printed()["table2"]["rows"]]
    for row in made.rows:
        assert abs(row["deviation_percent"]) <= 20
        assert row["range"][0] <= row["ours"] <= row["range"][1]
    assert "Order of the preconditioners at n = 128: as printed." in made.notes


def test_figure_1_shows_the_jump_between_the_phases():
    (row,) = reproduce("two-level", "fig1").rows
    assert row["eigenvalues"] == 256
    assert row["largest_jump_after"] == 128
    assert row["jump_factor"] > 2


def test_small_versions_of_tables_3_and_4_are_labelled():
    for target in ("table3", "table4"):
        made = reproduce("two-level", target, max_n=16)
        assert any("--max-n 128 runs the paper's size" in note for note in made.notes)


def test_the_reproduce_command(capsys, tmp_path):
    picture = tmp_path / "spectrum.svg"
    assert main(["reproduce", "two-level", "fig1", "--json", "--picture", str(picture)]) == 0
    printed_text = capsys.readouterr().out
    assert json.loads(printed_text)["name"] == "fig1"
    assert picture.read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("two-levels", "table1"), "did you mean two-level"),
        (("two-level", "table9"), "unknown target of two-level 'table9'"),
        (("two-level", "fig1", 3), "max_n must be at least 16, got 3"),
    ],
)
def test_unknown_targets_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        reproduce(*arguments)
