"""The advisor: candidate pairs, predictions, ranking and output."""

from __future__ import annotations

import dataclasses
import json
import math
import re

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite
from scipy.sparse import linalg

from benchmarks.matrices import made
from tests import elastic
from tests.conftest import random_matrix, refusal
from tests.devices.test_interchange import Tensor
from workbench.advise import advise, advising, advisor, budget, level_pairs, measuring, predictions
from workbench.advise.advice import Advice, Probed, Ranked, RuledOut, Stage, configuration_of
from workbench.advise.level_pairs import MULTILEVEL, LevelPair, coarsened, second_levels
from workbench.advise.level_pairs import level_pairs as pairs_of
from workbench.advise.predictions import Probe, predict
from workbench.advise.sequence_search import PairSearch, SequenceSearch
from workbench.cli import main
from workbench.deflation import rigid_body_modes
from workbench.errors import InputError
from workbench.extensions.flow import records
from workbench.problems.files import MatrixFile
from workbench.process import limits
from workbench.run import Run, configure, run_through, solve
from workbench.run.choices import levels
from workbench.run.choices.in_memory import InMemoryProblem, system_of
from workbench.sequences.sequence import Sequence

pytestmark = pytest.mark.usefixtures("brief_search")
EVERY_FIRST_LEVEL = level_pairs.FIRST_LEVELS


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
    everything = pairs_of(chosen, system, ("cpu",))
    assert len(advice.estimates) + len(advice.refused) >= 0.5 * len({pair.deflation for pair in everything})
    assert advice.estimates[0].measured
    assert advice.best.problem == chosen
    result = run_through(Run(advice.best))
    assert result.converged
    assert result.iterations == advice.estimates[0].iterations
    fewest = min(row.iterations for row in advice.estimates)
    assert fewest < 80, "without a second level this problem takes some two hundred iterations"


def probe(n, iterations, setup=0.2, factoring=0.0, per_iteration=0.01, coarse_solve=0.0, moved=None):
    return Probe(n, n**3, 3, iterations, setup, factoring, per_iteration, coarse_solve, moved)


def test_a_probe_that_was_stopped_in_its_first_iteration_gives_no_growth():
    pair = LevelPair("jacobi", "blocks:16", "cholesky", "cpu")
    found = predict(pair, [probe(8, math.inf), probe(16, 30)], 32)
    assert (found.iterations, found.growth) == (30, 0)


def test_two_probes_separate_fixed_times_from_those_in_proportion_to_unknowns():
    pair = LevelPair("neumann:1", "blocks:16", MULTILEVEL, "cpu")
    times = [(n, 0.5 + 1e-6 * n**3, 0.002 + 1e-8 * n**3) for n in (32, 64)]
    found = predict(pair, [probe(n, 20, setup, 0, each) for n, setup, each in times], 256)
    assert found.setup_seconds == pytest.approx(0.5 + 1e-6 * 256**3)
    assert found.per_iteration == pytest.approx(0.002 + 1e-8 * 256**3)
    assert found.iterations == 20
    # Without a second level iterations double with n, as the probes say.
    alone = LevelPair("jacobi", "none", "cholesky", "cpu")
    assert predict(alone, [probe(32, 50), probe(64, 100)], 256).iterations == pytest.approx(400)
    assert predict(alone, [probe(64, 100)], 256).iterations == 400


def test_factors_of_e_grow_faster_than_the_grid():
    direct = LevelPair("jacobi", "blocks:16", "cholesky", "cpu")
    found = predict(direct, [probe(16, 20, 0.2, 0.1, 0.01, 0.004)], 32)
    assert found.setup_seconds == pytest.approx(0.1 * 8 + 0.1 * 2**7)
    assert found.per_iteration == pytest.approx(0.006 * 8 + 0.004 * 2**5)


def test_an_iteration_takes_at_least_the_time_of_its_bytes_in_main_memory(monkeypatch):
    monkeypatch.setattr(predictions, "_bandwidth", lambda device: 1e9)
    pair = LevelPair("jacobi", "none", "cholesky", "cpu")
    found = predict(pair, [probe(16, 20, moved=10**9)], 32)
    assert found.per_iteration == pytest.approx(8)


def test_events_report_every_probe_and_end_with_the_ranking(monkeypatch):
    monkeypatch.setattr(level_pairs, "FIRST_LEVELS", EVERY_FIRST_LEVEL)
    events = list(advising("two-layer", n=16))
    assert isinstance(events[-1], Ranked)
    assert isinstance(events[0], Stage)
    advice = events[-1].advice
    assert advice.estimates[0].pair in {event.estimate.pair for event in events if isinstance(event, Probed)}
    ruled_out = {event.pair.preconditioner: event.reason for event in events if isinstance(event, RuledOut)}
    assert set(ruled_out.values()) <= set(advice.refused.values())


def test_advice_is_cancelled_between_probes():
    seen = []
    for event in advising("two-layer", n=16, stopped=lambda: len(seen) >= 3):
        seen.append(event)
    assert len(seen) == 3
    assert not any(isinstance(event, Ranked) for event in seen)
    closed = advising("two-layer", n=16)
    next(closed)
    closed.close()
    assert next(closed, None) is None


def test_with_probe_n_nothing_is_solved_at_full_size():
    events = list(advising("bubbles-2d", n=64, probe_n=16))
    with_figures = [event for event in events if isinstance(event, Probed)]
    assert {event.probe.n for event in with_figures} == {8, 16}
    advice = events[-1].advice
    assert not any(row.measured for row in advice.estimates)
    best = advice.estimates[0]
    assert best.grid_n == 16
    assert best.seconds == pytest.approx(best.setup_seconds + best.iterations * best.per_iteration)
    assert "predicted from n = 8 and 16" in advice.text()
    with pytest.raises(InputError, match="probe_n must be at least 16"):
        advise("bubbles-3d", n=64, probe_n=8)


def test_pairs_that_do_not_fit_are_ruled_out_with_their_memory(monkeypatch):
    monkeypatch.setattr(limits, "memory", lambda: (20_000_000_000, 20_000_000))
    events = list(advising("bubbles-3d", n=64, probe_n=16))
    reasons = {event.pair.label: event.reason for event in events if isinstance(event, RuledOut)}
    refused = [reason for reason in reasons.values() if "bubbles-3d:64 needs" in reason]
    assert refused
    assert all("of 0.02 GB free" in reason or "of 20 MB free" in reason for reason in refused), refused[0]
    assert "jacobi, mixed" not in reasons


def test_candidates_include_multigrid_alone_and_precision_mixed_for_two_phases():
    bubbles = pairs_of(problem("bubbles-3d", n=64), problem("bubbles-3d", n=32).assemble(), ("cpu",), 2)
    assert {pair.deflation for pair in bubbles if pair.preconditioner == "mg"} == {"none"}
    mixed = {(pair.preconditioner, pair.deflation) for pair in bubbles if pair.precision == "mixed"}
    assert {("mg", "none"), ("neumann:1", "levelset:16")} <= mixed
    poisson = pairs_of(problem("poisson7", n=32), problem("poisson7", n=32).assemble(), ("cpu",))
    assert {pair.precision for pair in poisson} == {"float64"}
    assert not any(
        pair.preconditioner == "mg"
        for pair in pairs_of(problem("poisson27", n=8), problem("poisson27", n=8).assemble(), ("cpu",))
    )


def test_predictions_from_coarser_grids_are_close_to_full_runs(monkeypatch):
    monkeypatch.setattr(advisor, "MIN_UNKNOWNS_TO_COARSEN", 4000)
    monkeypatch.setattr(level_pairs, "FIRST_LEVELS", ("jacobi", "neumann:2", "ic", "mic"))
    # On a busy machine solves would be stopped in their first iteration, which has no rate to predict from.
    monkeypatch.setattr(measuring, "MIN_SECONDS", 60.0)
    messages = []
    advice = advise("bubbles-2d", n=64, progress=messages.append)
    assert [text.rsplit(", ", 1)[1] for text in messages[:3]] == ["16²", "32²", "64²"]
    assert any(text.startswith("the fastest again, in turns: ") for text in messages[3:])
    ratios = []
    for row in advice.estimates:
        if not row.measured and row.grid_n == 32:
            run = Run(configuration_of(advice.problem, row.pair, advice.best.stopping))
            ratios.append(row.iterations / run_through(run).iterations)
    assert len(ratios) >= 5
    assert 0.6 < np.median(ratios) < 1.6


def test_pairs_rank_by_seconds_in_text_html_and_data():
    advice = advise("two-layer", n=24)
    assert advice.estimates[0].measured
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
    assert "workbench doctor" in advice.refused["AmgX"]
    assert "not usable: AmgX" in advice.text()


def test_a_matrix_without_a_grid_is_probed_at_full_size(tmp_path):
    mmwrite(tmp_path / "a.mtx", random_matrix(120).to_csr())
    advice = advise(str(tmp_path / "a.mtx"))
    assert advice.estimates[0].measured
    assert {row.pair.deflation for row in advice.estimates} & {"none", "parts:10", "parts:25"}
    assert not any(row.pair.deflation.startswith("blocks") for row in advice.estimates)


def irregular(size=400, seed=3):
    """The Laplacian of a geometric graph plus 0.01 I, numbered at random."""
    points = np.random.default_rng(seed).random((size, 2))
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    near = sparse.csr_array((distance < 0.1) & (distance > 0), dtype=float)
    return sparse.csr_array(sparse.diags_array(near.sum(axis=1) + 0.01) - near)


@pytest.mark.parametrize("form", [sparse.csr_array, lambda A: A.toarray(), lambda A: Tensor(A.toarray())])
def test_pairs_for_a_matrix_in_memory_are_ranked_within_the_time(form, monkeypatch):
    A = irregular()
    b = np.ones(400)
    left, begin = [], PairSearch._begun_run

    def begun(search, pair):
        left.append(search.budget.left)
        return begin(search, pair)

    monkeypatch.setattr(PairSearch, "_begun_run", begun)
    advice = advise(form(A), b, rtol=1e-8, seconds=1.0)
    # The first pair has to be solved; a setup that loads kernels is made again, and then begins when time is out.
    assert left[0] <= 1.0
    assert sum(seconds <= 0 for seconds in left[1:]) <= 1
    assert advice.estimates[0].measured
    assert advice.text().startswith("A system given in memory, rtol 1e-08")
    found = solve(A, b, rtol=1e-8, **advice.choices)
    assert found.converged
    assert found.iterations == advice.estimates[0].iterations


def test_a_search_that_is_out_of_time_says_how_many_pairs_are_left(monkeypatch):
    monkeypatch.setattr(budget, "LEAST", 0.0)
    monkeypatch.setattr(budget, "SOLVES", 2)
    (note,) = advise(irregular()).notes
    assert re.search(r"the search ended after .* with \d+ of \d+ pairs untried; give it more seconds", note)
    advice = advise(irregular(), seconds=1e-9)
    assert [row.measured for row in advice.estimates] == [True], "one pair is solved in any case"
    advice = advise("bubbles-2d", n=256, seconds=1e-9)
    assert sum(row.measured for row in advice.estimates) == 1
    assert "pairs untried" in advice.text()


def test_an_operator_without_entries_is_advised_on_what_it_can_do():
    A = irregular(60)
    advice = advise(linalg.aslinearoperator(A), seconds=1.0)
    assert advice.choices["M"] in ("none", "chebyshev:3", "jacobi")


@pytest.mark.parametrize(
    ("given", "choices", "sentence"),
    [
        ("two-layer", {"b": np.ones(64), "n": 8}, "b is for a matrix in memory"),
        (np.eye(4), {"b": np.ones((4, 2))}, "b has 2 columns"),
        (np.eye(4), {"b": np.ones(3)}, "b has shape"),
        (np.eye(4), {"n": 8}, "n"),
        (np.eye(4), {"probe_n": 16}, "leave probe_n out"),
        (np.eye(4), {"seconds": 0}, "seconds must be above 0, got 0"),
        (np.eye(4), {"seconds": "soon"}, "seconds must be a number"),
        ("rising-bubbles", {"n": 16, "seconds": 5}, "leave seconds out"),
    ],
)
def test_what_cannot_be_advised_on_is_refused(given, choices, sentence):
    assert sentence in refusal(advise, given, **choices)


@pytest.mark.parametrize(("size", "first"), [(34_999, ("mic", "none")), (35_000, ("ic", "parts:100"))])
def test_pairs_that_are_likely_to_be_fast_come_first(size, first):
    system, _ = system_of(sparse.eye_array(size).tocsr(), np.ones(size))
    pairs = pairs_of(InMemoryProblem(), system, ("cpu",))
    # After the one by default, which is for rows without couplings.
    assert [(pair.preconditioner, pair.deflation) for pair in pairs[:2]] == [("ic", "none"), first]
    assert len(pairs) == len(set(pairs))
    assert {pair.deflation for pair in pairs} == {"none", "parts:50", "parts:100", "parts:200"}
    of_grid = pairs_of(problem(n=64), problem(n=64).assemble(), ("cpu",))
    assert [(pair.preconditioner, pair.deflation) for pair in of_grid[:2]] == [("mg", "none"), ("mg", "none")]
    assert of_grid[1].precision == "mixed"


def rbf(size):
    """A kernel matrix of random points in a square, plus 0.01 I."""
    points = np.random.default_rng(1).random((size, 2))
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    return np.exp(-((distance / 0.2) ** 2)) + 0.01 * np.eye(size)


def test_a_dense_kernel_matrix_is_advised_a_factor_of_low_rank():
    K, b = rbf(300), np.ones(300)
    advice = advise(K, b, rtol=1e-8)
    iterations = {row.pair.preconditioner: row.iterations for row in advice.estimates}
    assert {name.partition(":")[0] for name in iterations} <= {"jacobi", "chebyshev", "pivoted-cholesky"}
    assert iterations["pivoted-cholesky:100"] < 0.5 * solve(K, b, rtol=1e-8).iterations
    assert solve(K, b, rtol=1e-8, **advice.choices).converged


@pytest.mark.parametrize("size", [199, 200])
def test_a_matrix_with_a_fourth_of_its_entries_is_dense_from_200_unknowns_on(size):
    K = rbf(size)
    system, _ = system_of(K, np.ones(size))
    near, _ = system_of(sparse.csr_array(np.where(K > 0.9, K, 0)), np.ones(size))
    assert (level_pairs.is_dense(system), level_pairs.is_dense(near)) == (size >= 200, False)
    pairs = pairs_of(InMemoryProblem(), system, ("cpu",))
    first = pairs[0].preconditioner, pairs[0].deflation
    assert first == (("pivoted-cholesky:100", "none") if size >= 200 else ("mic", "none"))


def test_a_near_null_space_is_tried_with_what_takes_it():
    A, places, load = elastic.cantilever((13, 5))
    modes = rigid_body_modes(places)
    advice = advise(A, load, rtol=1e-8, seconds=1.0, near_null=Tensor(modes))
    assert {row.pair.deflation.partition(":")[0] for row in advice.estimates} == {"parts"}
    assert solve(A, load, rtol=1e-8, near_null=modes, **advice.choices).iterations == advice.estimates[0].iterations
    assert "near_null is for a matrix in memory" in refusal(advise, "two-layer", near_null=modes)


def test_the_levels_of_a_run_that_names_none_are_tried_first_and_compared_with_the_fastest(monkeypatch):
    monkeypatch.setattr(levels, "FEW", 200)
    monkeypatch.setattr(levels, "FROM", 500)
    system = made.disk(700)
    events = advising(system.matrix, system.b, seconds=1.0)
    tried = [event.estimate.pair for event in events if isinstance(event, Probed)]
    assert (tried[0].preconditioner, tried[0].deflation) == ("ic", "parts:30")
    (said,) = [note for note in advise(system.matrix, system.b, seconds=1.0).notes if note.startswith("levels by")]
    assert re.fullmatch(r"levels by default: Incomplete Cholesky, parts of 30 unknowns, .*, .*the fastest", said)
    # A device that is not there has none, nor has a matrix for which the levels are no choice.
    assert level_pairs.default_pair(system_of(system.matrix, system.b)[0], "cuda:99") is None
    small = made.disk(150)
    assert not any(note.startswith("levels by default") for note in advise(small.matrix, small.b, seconds=0.3).notes)


def test_amg_without_a_near_null_space_is_not_tried_with_one(monkeypatch):
    monkeypatch.setattr(level_pairs, "FIRST_LEVELS", EVERY_FIRST_LEVEL)
    A, places, load = elastic.cantilever((13, 5))
    plain = system_of(A, load)[0]
    for system, there in ((plain, True), (dataclasses.replace(plain, near_null=rigid_body_modes(places)), False)):
        found = {pair.preconditioner for pair in pairs_of(InMemoryProblem(), system, ("cpu",))}
        assert ("amg:rs" in found, "amg:sa" in found) == (there, True)


@pytest.mark.parametrize("body", [(5, 3), (60, 5)])
def test_multigrid_with_a_near_null_space_is_among_the_first_that_are_tried(body, monkeypatch):
    monkeypatch.setattr(level_pairs, "FIRST_LEVELS", EVERY_FIRST_LEVEL)
    A, places, load = elastic.cantilever(body)
    system = dataclasses.replace(system_of(A, load)[0], near_null=rigid_body_modes(places))
    first = [pair.preconditioner for pair in pairs_of(InMemoryProblem(), system, ("cpu",))][:2]
    assert "kcycle" in first


def test_an_unsolvable_tolerance_is_refused():
    with pytest.raises(InputError, match="no pair of levels solves"):
        advise("two-layer", n=12, rtol=1e-30)


def test_pairs_of_a_sequence_are_ranked_by_the_steps_in_which_cells_change(monkeypatch, tmp_path):
    moving = {"n": 32, "density_ratio": 0.001, "count": 2, "radius": 0.14, "height": 1.0, "until": 0.5}
    pairs = [
        LevelPair("neumann:2", "levelset:4", "cholesky", "cpu"),
        LevelPair("mg", "none", "cholesky", "cpu"),
        LevelPair("amg:sa", "levelset:999", "cholesky", "cpu"),
    ]
    monkeypatch.setattr(advisor, "level_pairs", lambda *_: pairs)
    tried, moved = SequenceSearch._tried, []

    def spied(search, sequence, batch):
        sequence, methods, steps = tried(search, sequence, batch)
        moved.append(sum(sequence.series["moved_cells"][-steps:]))
        return sequence, methods, steps

    monkeypatch.setattr(SequenceSearch, "_tried", spied)
    advice = advise("rising-bubbles", **moving)
    # What is left out of the twenty steps has been estimated with its setup for cells that change.
    assert moved[0] > 0
    assert {row.pair for row in advice.estimates} == set(pairs[:2])
    assert [(row.measured, row.steps) for row in advice.estimates] == [(True, 20)] * 2
    assert "20 steps" in advice.text()
    assert list(advice.refused) == [pairs[2].label]
    first = next(row for row in advice.estimates if row.pair == pairs[0])
    alone = Sequence("rising-bubbles", **moving, preconditioner="neumann:2", deflation="levelset:4", keep=True)
    while np.count_nonzero(alone.series["moved_cells"]) < 5:
        alone.step()
    for _ in range(21):
        alone.step()
    assert first.iterations == pytest.approx(np.mean(alone.series["iterations"][-20:]), rel=0.1)
    (note,) = advice.notes
    kept, renewed = map(float, re.findall(r"([\d.]+) iterations a step instead of ([\d.]+)", note)[0])
    assert kept > 1.3 * renewed
    # A record that ends before cells change is ranked from its beginning.
    short = records.save(
        Sequence("rising-bubbles", **{**moving, "until": 0.05}, preconditioner="mg", keep=True).run(), tmp_path / "s"
    )
    assert 1 <= advise(str(short)).estimates[0].steps < 20
    with pytest.raises(InputError, match="a ranking takes at least 2 steps"):
        advise("rising-bubbles", **{**moving, "until": 1e-4})
    with pytest.raises(InputError, match="is a sequence, which is solved at full size"):
        advise("rising-bubbles", n=64, probe_n=16)


def test_remaining_iterations_are_extrapolated_from_the_rate():
    run = Run(configure("poisson5", n=30, preconditioner="jacobi"))
    for _ in range(20):
        run.step()
    needed = predictions.iterations_needed(run)
    assert math.isfinite(needed)
    assert run.iterations <= needed
    run_through(run)
    assert predictions.iterations_needed(run) == run.iterations


def test_the_advise_command(capsys):
    assert main(["advise", "two-layer", "--n", "16", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["problem"]["parameters"]["n"] == 16
    assert printed["pairs"][0]["seconds"] > 0


def test_html_in_names_and_errors_is_escaped():
    name = "<img src=x onerror=alert(1)>"
    refused = {"jacobi": f"cannot read m/{name}.mtx: </pre><script>alert(2)</script> & more"}
    advice = Advice(MatrixFile(path=f"m/{name}.mtx"), (), refused, 1.0, 1e-6)
    page = advice._repr_html_()
    assert page.startswith("<pre>Matrix &lt;img src=x onerror=alert(1)&gt;, rtol 1e-06")
    assert page.count("<") == 2
    assert "&lt;/pre&gt;&lt;script&gt;alert(2)&lt;/script&gt; &amp; more" in page


@pytest.mark.parametrize(("name", "size"), [("poisson5", "8²"), ("poisson7", "8³")])
def test_a_pair_is_named_by_the_blocks_of_its_grid(name, size):
    chosen = problem(name, n=33)
    pairs = pairs_of(chosen, chosen.assemble(), ("cpu",))
    (pair,) = [each for each in pairs if (each.preconditioner, each.deflation) == ("jacobi", "blocks:8")]
    assert pair.label == f"Jacobi, {size} blocks"
    # The name alone depends on it.
    assert pair == LevelPair("jacobi", "blocks:8", pair.coarse, "cpu")
