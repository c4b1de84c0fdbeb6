"""`workbench solve` with several preconditioners."""

import json

import pytest

from workbench.cli import main


def solved(capsys, *options):
    assert main(["solve", "poisson-fd", "--n", "40", "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("combine", "solver"), [("sum", "sum-cg"), ("multi", "mpcg")])
def test_combine_chooses_the_solver(combine, solver, capsys):
    found = solved(capsys, "--preconditioner", "schwarz:2x2,overlap=1", "--combine", combine)
    assert (found["solver"], found["converged"]) == (solver, True)
    assert found["preconditioner"] == "schwarz:overlap=1"
    assert found == solved(capsys, "--preconditioner", "schwarz:2x2,overlap=1", "--solver", solver) | {
        name: found[name] for name in found if name.endswith("seconds") or name == "setup_phases"
    }


def test_several_texts_with_plus_signs(capsys):
    found = solved(capsys, "--preconditioner", "ic + coarse:4", "--combine", "multi")
    assert found["preconditioner"] == "ic + coarse:4"


def test_both_options_are_refused(capsys):
    assert main(["solve", "poisson5", "--n", "8", "--combine", "sum", "--solver", "cg"]) == 2
    assert "leave out --combine or --solver" in capsys.readouterr().err
