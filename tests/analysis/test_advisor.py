"""The advisor: candidate pairs, predictions, ranking and output."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.io import mmwrite

from tests.conftest import random_matrix
from workbench.analysis import advise, advisor
from workbench.analysis.candidates import LevelPair, coarsened, level_pairs, second_levels
from workbench.cli import main
from workbench.errors import InputError
from workbench.problems.files import MatrixFile
from workbench.run import Run, Stopping, configure, run_through


def problem(name="two-layer", **parameters):
    return configure(name, parameters).problem


def test_second_levels_depend_on_grid_and_phases():
    flat = dict(second_levels(problem(n=64).assemble()))
    assert {"none", "stripes", "blocks:8", "blocks:16", "levelset:8"} <= set(flat)
    assert "planes" not in flat
    assert "blocks:32" not in flat
    cube = dict(second_levels(problem("poisson7", n=64).assemble()))
    assert {"planes", "stripes", "blocks:16"} <= set(cube)
    assert not any(name.startswith("levelset") for name in cube)
    assert (cube["blocks:8"], cube["blocks:16"]) == ("cholesky", "multilevel")


def test_pairs_keep_the_cells_per_subdomain_on_coarser_grids():
    pair = LevelPair("ic", "blocks:16", "cholesky", "cpu")
    assert pair.on_coarser_grid(4).deflation == "blocks:4"
    assert pair.on_coarser_grid(32) is None
    assert LevelPair("ic", "stripes", "cholesky", "cpu").on_coarser_grid(4).deflation == "stripes"
    assert coarsened(problem(n=64), 4).n == 16
    assert coarsened(problem(n=16), 4) is None


def test_small_problems_are_probed_at_full_size_only():
    chosen = problem(n=40)
    advice = advise(chosen)
    system = chosen.assemble()
    everything = level_pairs(chosen, system, ("cpu",))
    assert len(advice.estimates) + len(advice.refused) >= 0.5 * len({pair.deflation for pair in everything})
    assert advice.estimates[0].measured
    assert advice.best.problem == chosen
    result = run_through(Run(advice.best))
    assert result.converged
    assert result.iterations == advice.estimates[0].iterations
    fewest = min(row.iterations for row in advice.estimates)
    assert fewest < 80, "without a second level this problem takes some two hundred iterations"


def test_a_coarse_run_that_was_cut_off_in_its_first_iteration_gives_no_growth():
    fine, pair = problem(n=16), LevelPair("jacobi", "none", "cholesky", "cpu")
    search = advisor._Search(fine, fine.assemble(), Stopping(), 0)
    search.found[pair] = advisor.Estimate(pair, math.inf, 1.0, math.inf, False, 4)
    search.predict(problem(n=8), 2, [pair])
    assert math.isfinite(search.found[pair].iterations)


def test_predictions_from_coarser_grids_are_close_to_full_runs(monkeypatch):
    monkeypatch.setattr(advisor, "MIN_UNKNOWNS_TO_COARSEN", 4000)
    messages = []
    advice = advise("bubbles-2d", n=96, progress=messages.append)
    assert [text.rsplit(":", 1)[1] for text in messages] == ["24", "48", "96"]
    ratios = []
    for row in advice.estimates:
        if not row.measured and row.grid_n == 48:
            run = Run(advisor.configuration_of(advice.problem, row.pair, advice.best.stopping))
            ratios.append(row.iterations / run_through(run).iterations)
    assert len(ratios) >= 5
    assert 0.6 < np.median(ratios) < 1.6


def test_measured_pairs_rank_first_in_text_html_and_data():
    advice = advise("two-layer", n=24)
    measured = [row.measured for row in advice.estimates]
    assert measured == sorted(measured, reverse=True)
    seconds = [row.seconds for row in advice.estimates if row.measured]
    assert seconds == sorted(seconds)
    text = advice.text(max_rows=2)
    assert advice.estimates[0].pair.label in text
    assert "slower pairs" in text
    assert advice._repr_html_().startswith("<pre>")
    assert json.loads(json.dumps(advice.to_dict()))["pairs"][0]["measured"] is True


def test_unusable_preconditioners_are_listed_with_their_error(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyamgx", None)
    advice = advise("two-layer", n=16)
    assert "workbench doctor" in advice.refused["amgx"]
    assert "not usable: amgx" in advice.text()


def test_a_matrix_without_a_grid_is_probed_at_full_size(tmp_path):
    mmwrite(tmp_path / "a.mtx", random_matrix(120).to_csr())
    advice = advise(str(tmp_path / "a.mtx"))
    assert advice.estimates[0].measured
    assert {row.pair.deflation for row in advice.estimates} >= {"none", "blocks:16"}


def test_an_unsolvable_tolerance_is_refused():
    with pytest.raises(InputError, match="no pair of levels solves"):
        advise("two-layer", n=12, rtol=1e-30)


def test_remaining_iterations_are_extrapolated_from_the_rate():
    run = Run(configure("poisson5", n=30, preconditioner="jacobi"))
    for _ in range(20):
        run.step()
    needed = advisor._iterations_needed(run)
    assert math.isfinite(needed)
    assert run.iterations <= needed
    run_through(run)
    assert advisor._iterations_needed(run) == run.iterations


def test_the_advise_command(capsys):
    assert main(["advise", "two-layer", "--n", "16", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["problem"]["parameters"]["n"] == 16
    assert printed["pairs"][0]["seconds"] > 0
    assert main(["advise", "two-layr", "--n", "16"]) == 2
    assert "did you mean two-layer" in capsys.readouterr().err


def test_html_in_names_and_errors_is_escaped():
    name = "<img src=x onerror=alert(1)>"
    refused = {"jacobi": f"cannot read m/{name}.mtx: </pre><script>alert(2)</script> & more"}
    advice = advisor.Advice(MatrixFile(path=f"m/{name}.mtx"), (), refused, 1.0, 1e-6)
    page = advice._repr_html_()
    assert page.startswith("<pre>&lt;img src=x onerror=alert(1)&gt;, rtol 1e-06")
    assert page.count("<") == 2
    assert "&lt;/pre&gt;&lt;script&gt;alert(2)&lt;/script&gt; &amp; more" in page
