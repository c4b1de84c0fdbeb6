"""The comparison with PETSc and Ginkgo: one matrix for all, and plain words for a peer that is not there."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from workbench.run import configure

ROOT = Path(__file__).parents[2]
SHORT, LONG = 3, 8


def module_of(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def pipelined(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    import benchmarks.pipelined as module

    return module


@pytest.mark.parametrize("n", [2, 5])
def test_the_rows_made_without_the_workbench_are_those_of_poisson7(n):
    poisson = module_of(ROOT / "benchmarks" / "contestants" / "poisson.py")
    parts = []
    for low, high in ((0, n + 1), (n + 1, n**3)):
        starts, columns, values = poisson.poisson7_rows(n, low, high)
        parts.append(sparse.csr_array((values, columns, starts), shape=(high - low, n**3)))
    expected = configure("poisson7", n=n).problem.assemble().operator.to_csr()
    made = sparse.vstack(parts).tocsr()
    assert (made.indptr.tolist(), made.indices.tolist()) == (expected.indptr.tolist(), expected.indices.tolist())
    assert made.data.tolist() == expected.data.tolist()


def a_solve(extra):
    """A solver that takes 2 seconds in addition to 0.25 an iteration, and makes `extra` iterations more than asked."""
    return lambda rtol, most: (2 + 0.25 * (most + extra), most + extra, lambda: None)


def test_what_a_solve_does_besides_iterating_drops_out():
    job = module_of(ROOT / "benchmarks" / "contestants" / "job.py")
    assert [job.seconds_of_an_iteration(a_solve(extra), SHORT, LONG) for extra in (0, 1)] == [0.25, 0.25]
    with pytest.raises(RuntimeError, match="asked for 3 and 8 iterations, made 5 and 10"):
        job.seconds_of_an_iteration(a_solve(2), SHORT, LONG)


def test_a_peer_that_is_not_there_is_none(pipelined, monkeypatch):
    monkeypatch.setenv(pipelined.GINKGO.variable, "no-such-python")
    assert pipelined.GINKGO.python() is None
    assert pipelined.OURS.python() == sys.executable


def test_ours_answers_and_is_held_to_the_system(pipelined, tmp_path, monkeypatch):
    n = 6
    matrix = configure("poisson7", n=n).problem.assemble().operator.to_csr()
    b = np.random.default_rng(0).random(n**3)
    np.save(file := tmp_path / "b.npy", b)
    job = {"n": n, "b": str(file)}
    monkeypatch.setattr(pipelined, "CORES", (1,))
    entries, answers = pipelined.agree({pipelined.OURS: sys.executable}, job, matrix, b)
    methods = [f"{method}, {form}" for form in pipelined.FORMS for method in pipelined.METHODS]
    assert [key for key in answers["ours, 1 core"] if key != "about"] == methods
    assert all(answers["ours, 1 core"][method]["residual"] <= 1e-8 for method in methods)
    reply = pipelined.OURS.play(entries[0][1], 1, {**job, "iterations": [SHORT, LONG]})
    assert list(reply) == ["about", *methods]
    with pytest.raises(RuntimeError, match="residual"):
        pipelined.agree({pipelined.OURS: sys.executable}, job, 2 * matrix, b)


def test_ratios_are_of_the_same_round_and_method(pipelined):
    taken = {"ours, cg, stencil": [1.0, 2.0], "ours, cg, CSR": [2.0, 4.0], "PETSc, cg": [3.0, 8.0]}
    table = pipelined.compared({1: taken})["1 core"]
    assert table["PETSc, cg"]["over_ours_stencil"] == 3.5
    assert table["PETSc, cg"]["over_ours_CSR"] == 1.75
    assert table["PETSc, cg"]["ms"] == 5500
