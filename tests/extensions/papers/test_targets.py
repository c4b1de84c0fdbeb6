"""What all targets of all papers have in common: they run small, name their smallest size, or have no picture."""

from __future__ import annotations

import json
import re

import pytest

from tests.extensions.papers.conftest import look_alikes, small
from workbench.cli import main
from workbench.errors import InputError
from workbench.extensions.papers import PAPERS, Reproduction, Target, reproduce

CAUSE = re.compile(r"\b(a cause|causes|no reason|is unknown|not known|because|explain\w*|be why)\b", re.IGNORECASE)
MARKED = re.compile(r"\b(measured|plausible|not explained)\b", re.IGNORECASE)
"""Words with which a note gives a reason, and those with which it says what that rests on."""
TARGETS = [(paper, name) for paper, targets in PAPERS.items() for name in targets]
TABLES = [(paper, name) for paper, name in TARGETS if not PAPERS[paper][name].draws]


@pytest.mark.parametrize(("paper", "target"), TARGETS, ids="-".join)
def test_every_target_runs_small_and_every_printed_column_is_compared_or_has_no_counterpart(paper, target):
    made, declared = small(paper, target), PAPERS[paper][target]
    assert made.rows
    assert made.notes
    assert all(set(row) == set(made.rows[0]) for row in made.rows)
    assert made.text().count("\n") >= len(made.rows) + 3
    assert json.dumps(made.to_dict())
    assert (made.figure is not None) == declared.draws
    assert look_alikes(made) == []
    assert [note for note in made.notes if CAUSE.search(note) and not MARKED.search(note)] == []
    if paper == "mpcg" and not target.startswith(("fig1", "fig2", "fig3", "claims", "algorithm2")):
        for kind in ("printed", "modelled", "measured"):
            assert any(name.startswith(kind) for name in made.rows[0])
            assert kind in made.text()
        assert all(row["N_here"] == 16 for row in made.rows)
        assert f"--max-n {max(row['N'] for row in made.rows)} takes" in " ".join(made.notes)
    # Names of columns are those of the rows, and a target that prints numbers declares with what they are compared.
    columns = set(made.rows[0])
    # What the page alone shows is printed in rows of its own.
    there = declared.item.cases(declared.item.paper_values) if declared.item else ()
    for one in declared.compared:
        if one.printed not in columns:
            assert any(one.printed in case.row for case in there)
            continue
        assert not one.modelled or one.modelled in columns
        assert not one.spread or one.spread in columns
    assert set(declared.named) <= columns
    numbers = any(
        name.startswith("printed") and any(isinstance(row[name], float) for row in made.rows) for name in columns
    )
    assert bool(made.compared) >= numbers
    with pytest.raises(
        InputError, match=f"at least {declared.smallest} for {paper} {target}, got {declared.smallest - 1}"
    ):
        reproduce(paper, target, declared.smallest - 1)


ON_DEVICE = [(paper, name) for paper, name in TARGETS if PAPERS[paper][name].on_device]


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize(("paper", "target"), ON_DEVICE, ids="-".join)
def test_curves_of_the_cores_and_of_a_device_look_different(paper, target):
    """Figure 9 then has twelve, and colours are eight. Nothing is solved."""
    declared = PAPERS[paper][target]
    found = declared.made(declared.smallest, lambda _: None, "opencl")
    assert look_alikes(found) == []
    drawn = {layer.name for scene in found.alive for layer in scene.layers if layer.name}
    assert target != "fig9" or len(drawn) == 12


@pytest.mark.parametrize(("paper", "target"), TABLES, ids="-".join)
def test_a_picture_of_a_table_is_refused_before_the_work(paper, target, capsys, tmp_path):
    assert main(["reproduce", paper, target, "--picture", str(tmp_path / "a.svg")]) == 2
    assert f"{paper} {target} is a table and has no figure" in capsys.readouterr().err


def test_all_leaves_out_what_begins_at_larger_sizes(capsys, monkeypatch):
    made = {
        name: Target(lambda n, _: Reproduction("a", "a", [{"n": n}], []), smallest=one.smallest)
        for name, one in PAPERS["two-level"].items()
    }
    monkeypatch.setitem(PAPERS, "two-level", made)
    assert main(["reproduce", "two-level", "all", "--max-n", "64", "--json"]) == 0
    printed_text = capsys.readouterr()
    assert [one["rows"] for one in json.loads(printed_text.out)] == [[{"n": 64}]] * sum(
        one.smallest <= 64 for one in made.values()
    )
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
