"""Iteration counts of independent runs and of the two-level paper."""

import csv
import statistics
import tomllib
from pathlib import Path

import numpy as np
import pytest

from workbench.extensions.papers.printed import DATA
from workbench.run import Reason, Run, Stopping, configure, run_through

pytestmark = pytest.mark.slow
PAPER = DATA / "two_level_pcg_gpu.toml"
RULES = {
    "pcg_u2abs1e-5": Stopping(rtol=0, atol=1e-5, norm="preconditioned"),
    "pcg_r_rel1e-6": Stopping(rtol=1e-6, norm="residual"),
    "pcg_errA_rel1e-5": Stopping(rtol=1e-5, norm="error"),
}


def row_of(table: Path, **wanted: str) -> dict[str, str]:
    """The row with these values in these columns."""
    with open(table) as rows:
        (row,) = [row for row in csv.DictReader(rows) if wanted.items() <= row.items()]
    return row


def reference(folder, name):
    """Of the table of independent runs."""
    return row_of(folder / "iterations_reference.csv", name=name)


def literature(folder, matrix, prec):
    return row_of(folder / "iterations_literature.csv", matrix=matrix, prec=prec)


def solved(folder, matrix, **choices):
    path = str(folder / f"{matrix}.mtx.gz")
    return run_through(Run(configure(path, rhs="ones-scaled", x0="zero", **choices)))


RESIDUAL = "pcg_r_rel1e-6"
MORE = ["494_bus", "bcsstk14", "bcsstk16", "bcsstk27", "nos3", "nos5", "mhd1280b", "vem1"]


@pytest.mark.parametrize(
    ("name", "rule"),
    [*((name, rule) for name in ("1138_bus", "bcsstk15") for rule in RULES), *((name, RESIDUAL) for name in MORE)],
)
def test_real_matrices_take_as_many_iterations_as_an_independent_run(real_matrices, name, rule):
    result = solved(real_matrices, name, preconditioner="jacobi", stopping=RULES[rule])
    assert result.converged
    assert abs(result.iterations - int(reference(real_matrices, name)[rule])) <= 3


@pytest.mark.parametrize("name", ["494_bus", "bcsstk15", "bcsstk27", "nos3", "mhd1280b"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("solver", ["pipecg", "pipecg-rr"])
def test_pipelined_cg_takes_as_many_iterations_as_an_independent_run(real_matrices, name, rule, solver):
    result, row = solved(real_matrices, name, solver=solver, stopping=RULES[rule]), reference(real_matrices, name)
    assert result.converged
    # The independent run replaces no residuals. Where that is done rounding decides a little more: permuting the
    # unknowns of bcsstk15 moves pipecg between 453 and 454 iterations, pipecg-rr between 456 and 459.
    slack = 8 if solver == "pipecg-rr" else 3
    assert abs(result.iterations - int(row["pipe" + rule.removeprefix("p")])) <= slack


FAMILY = {"cg": "hs", "cgcg": "cgcg", "pr-cg": "pr", "pipecg": "gv_pipecg", "pipe-pr-cg": "pipe_pr"}
"""The names of Chen and Carson's table."""


FIRST_LEVELS = {"-": "none", "Jac.": "jacobi"}


def to_the_error(real_matrices, matrix, prec, solver):
    stopping = RULES["pcg_errA_rel1e-5"]
    return solved(real_matrices, matrix, solver=solver, preconditioner=FIRST_LEVELS[prec], stopping=stopping)


@pytest.mark.parametrize("matrix", ["1138_bus", "494_bus", "bcsstk14", "bcsstk15", "bcsstk27", "nos5"])
@pytest.mark.parametrize("solver", FAMILY)
def test_the_family_with_jacobi_takes_the_iterations_of_the_literature(real_matrices, matrix, solver):
    result = to_the_error(real_matrices, matrix, "Jac.", solver)
    assert result.converged
    assert abs(result.iterations - int(literature(real_matrices, matrix, "Jac.")[f"it_{FAMILY[solver]}"])) <= 3


@pytest.mark.parametrize("matrix", ["494_bus", "1138_bus", "bcsstk27", "nos3", "nos5"])
@pytest.mark.parametrize("solver", FAMILY)
def test_long_runs_without_a_preconditioner_are_near_the_literature(real_matrices, matrix, solver):
    result = to_the_error(real_matrices, matrix, "-", solver)
    expected = int(literature(real_matrices, matrix, "-")[f"it_{FAMILY[solver]}"])
    assert result.converged
    # Rounding decides over the last of hundreds of iterations: permuting the unknowns of 494_bus moves cgcg by 5%.
    assert result.iterations == pytest.approx(expected, rel=0.05 if solver == "cgcg" else 0.02)


@pytest.mark.parametrize("matrix", ["494_bus", "nos3", "nos5", "bcsstk27"])
@pytest.mark.parametrize(
    ("solver", "column"), [("cg", "log10minerr_hs"), ("pipecg", "_gv"), ("pipe-pr-cg", "_pipe_pr")]
)
@pytest.mark.parametrize("prec", ["-", "Jac."])
def test_the_attainable_error_is_that_of_the_literature(real_matrices, matrix, solver, column, prec):
    stopping = Stopping(rtol=1e-17, norm="error", maxiter=4000, stagnation=1000)
    result = solved(real_matrices, matrix, solver=solver, preconditioner=FIRST_LEVELS[prec], stopping=stopping)
    error = result.history["error"]
    reached = np.log10(np.nanmin(error) / error[0])
    expected = float(literature(real_matrices, matrix, prec)[column])
    assert reached <= expected + 1
    # What sets pipelined CG apart is an accuracy that it does not reach; the others may end a little better.
    assert solver != "pipecg" or reached >= expected - 1


@pytest.mark.parametrize("matrix", ["nos3", "nos5", "494_bus"])
def test_pipelined_cg_beyond_its_attainable_accuracy_is_not_converged(real_matrices, matrix):
    stopping = Stopping(rtol=1e-12, true_every=10)
    solvers = ("cg", "pipecg", "pipecg-rr", "pipe-pr-cg")
    results = {name: solved(real_matrices, matrix, solver=name, stopping=stopping) for name in solvers}
    assert [name for name, result in results.items() if not result.converged] == ["pipecg"]
    pipelined = results["pipecg"]
    assert pipelined.reason in (Reason.INACCURATE, Reason.ROUNDING, Reason.STAGNATED)
    assert "true residual" in pipelined.detail
    assert pipelined.true_relative_residual > 1e-12
    assert pipelined.history.residual_gap_at is not None


@pytest.mark.parametrize(("order", "printed_as"), [(1, "Neumann(1)"), (2, "Neumann(2)")])
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
