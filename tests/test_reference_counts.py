"""Iteration counts of independent runs and of the two-level paper."""

import csv
import statistics
import tomllib
from pathlib import Path

import pytest

from workbench.run import Run, Stopping, configure, run_through

PAPER = Path(__file__).parents[1] / "data" / "papers" / "two_level_pcg_gpu.toml"
RULES = {
    "pcg_u2abs1e-5": Stopping(rtol=0, atol=1e-5, norm="preconditioned"),
    "pcg_r_rel1e-6": Stopping(rtol=1e-6, norm="residual"),
    "pcg_errA_rel1e-5": Stopping(rtol=1e-5, norm="error"),
}


@pytest.mark.parametrize("name", ["1138_bus", "bcsstk15"])
@pytest.mark.parametrize("rule", RULES)
def test_real_matrices_take_as_many_iterations_as_an_independent_run(real_matrices, name, rule):
    with open(real_matrices / "iterations_reference.csv") as table:
        (row,) = [row for row in csv.DictReader(table) if row["name"] == name]
    path = str(real_matrices / f"{name}.mtx.gz")
    configuration = configure(path, preconditioner="jacobi", rhs="ones-scaled", x0="zero", stopping=RULES[rule])
    result = run_through(Run(configuration))
    assert result.converged
    assert abs(result.iterations - int(row[rule])) <= 3


@pytest.mark.parametrize("name", ["494_bus", "bcsstk14", "bcsstk16", "bcsstk27", "nos3", "nos5", "mhd1280b", "vem1"])
def test_more_matrices_by_the_residual_rule(real_matrices, name):
    with open(real_matrices / "iterations_reference.csv") as table:
        (row,) = [row for row in csv.DictReader(table) if row["name"] == name]
    path = str(real_matrices / f"{name}.mtx.gz")
    result = run_through(Run(configure(path, rhs="ones-scaled", x0="zero")))
    assert result.converged
    assert abs(result.iterations - int(row["pcg_r_rel1e-6"])) <= 3


@pytest.mark.parametrize(("order", "printed_as"), [(1, "neumann(1)"), (2, "neumann(2)")])
@pytest.mark.parametrize("n", [128, 256])
def test_table_2_of_the_two_level_paper_within_20_percent(order, printed_as, n):
    table = tomllib.loads(PAPER.read_text())["table2"]
    (row,) = [row for row in table["rows"] if row[0] == printed_as]
    printed = row[table["columns"].index(str(n))]
    counts = []
    for seed in range(5):
        configuration = configure("two-layer", n=n, preconditioner=f"neumann:{order}", deflation="stripes", seed=seed)
        result = run_through(Run(configuration))
        assert result.converged
        counts.append(result.iterations)
    assert statistics.mean(counts) == pytest.approx(printed, rel=0.2)
