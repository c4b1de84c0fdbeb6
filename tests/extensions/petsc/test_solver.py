"""Methods of PETSc: counts and x of the workbench's own, options, ends, ranks, and refusals with and without PETSc."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import spsolve

from tests.conftest import random_matrix, refusal
from tests.waiting import LIMIT
from workbench.cli import main
from workbench.extensions.mpi.mpiexec import find_mpiexec
from workbench.extensions.petsc import library as petsc
from workbench.extensions.petsc.krylov_methods import METHODS
from workbench.records import load
from workbench.registry import blocks as registry
from workbench.run import Reason, Run, Stopping, configure, run_through, solve
from workbench.run.choices.engines import on_engine

built = pytest.mark.skipif(not petsc.installed(), reason="PETSc is built by `make petsc`")
LAPLACE = sparse.csr_array(registry.find("problem", "poisson5:13").assemble().operator.to_csr())
INDEFINITE = np.array([[1.0, 5.0, 0.0], [5.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
ROOT = Path(__file__).parents[3]
B = np.random.default_rng(3).standard_normal(169)


def threads():
    """Those of PETSc that are left."""
    return [thread.name for thread in threading.enumerate() if thread.name == "KSPSolve"]


@built
@pytest.mark.parametrize("method", METHODS)
def test_every_method_solves_and_its_thread_ends(method):
    result = solve(LAPLACE, B, M="jacobi", rtol=1e-10, solver=method, engine="petsc")
    assert result.reason == Reason.CONVERGED
    assert result.history["residual"].size == result.iterations + 1
    np.testing.assert_allclose(result.x, spsolve(LAPLACE.tocsc(), B), atol=1e-8)
    assert f"Krylov method {method} of PETSc {petsc.version()}" in result.provenance["notes"]
    assert threads() == []


@built
@pytest.mark.parametrize("method", ["cg", "pipecg", "gropp", "pr-cg"])
def test_methods_of_both_engines_have_one_history(method):
    choices = {"n": 21, "preconditioner": "neumann:2", "deflation": "stripes"}
    ours = run_through(Run(configure("two-layer", **choices, solver=method)))
    theirs = run_through(Run(configure("two-layer", **choices, solver=on_engine("petsc", method))))
    assert theirs.iterations == ours.iterations
    np.testing.assert_allclose(theirs.history["residual"], ours.history["residual"], rtol=1e-4)


@built
@pytest.mark.parametrize("method", ["pipecg", "cg"])
def test_coarse_systems_are_solved_as_exactly_as_the_method_needs(method):
    choices = {"n": 32, "preconditioner": "neumann:2", "deflation": "levelset:8"}
    ours, theirs = (Run(configure("bubbles-3d", **choices, solver=solver)) for solver in (method, f"petsc:{method}"))
    assert theirs.setup.projection.coarse_name == ours.setup.projection.coarse_name
    assert run_through(theirs).converged


@built
def test_a_singular_problem_is_solved_as_by_cg():
    runs = [
        run_through(Run(configure("bubbles-3d", n=9, solver=solver, stopping=Stopping(rtol=1e-9))))
        for solver in ("cg", "petsc")
    ]
    assert abs(runs[0].iterations - runs[1].iterations) <= 1
    np.testing.assert_allclose(runs[1].x, runs[0].x, atol=1e-7 * np.abs(runs[0].x).max())


@built
def test_runs_are_saved_with_options(tmp_path, capsys):
    path = str(tmp_path / "a.run.npz")
    arguments = ["solve", "poisson5", "--n", "9", "--engine", "petsc", "--solver", "pipelcg"]
    assert main([*arguments, "--options", "-ksp_pipelcg_pipel 2", "--save", path]) == 0
    assert "petsc:ksp=pipelcg,options=-ksp_pipelcg_pipel 2" in capsys.readouterr().out
    solver = registry.from_dict(load(path).provenance["configuration"]["solver"])
    assert solver == registry.find("solver", "petsc:pipelcg", options="-ksp_pipelcg_pipel 2")


@built
def test_a_zero_right_hand_side_and_a_start_that_is_the_solution():
    assert solve(LAPLACE, np.zeros(169), engine="petsc").iterations == 0
    assert solve(LAPLACE, B, spsolve(LAPLACE.tocsc(), B), rtol=1e-8, engine="petsc").iterations == 0
    assert threads() == []


@built
def test_a_cancelled_run_and_one_that_raises_leave_no_thread():
    run = Run(configure("poisson5", n=13, solver="petsc", rhs="random"))
    for _ in range(3):
        assert run.step()
    run.cancel()
    assert run.result().reason == Reason.CANCELLED

    def raises(r):
        raise ZeroDivisionError("of the user")

    with pytest.raises(ZeroDivisionError, match="of the user"):
        solve(LAPLACE, B, M=raises, engine="petsc")
    assert threads() == []


@built
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("-ksp_such", "PETSc's method cg knows no option -ksp_such; see the manual page of KSPCG"),
        ("ksp_view", "options of PETSc begin with -, as in -pc_gamg_threshold 0.02, got 'ksp_view'"),
        ("-ksp 'a", 'options "-ksp \'a" cannot be split into words: No closing quotation'),
    ],
)
def test_wrong_options_are_refused(options, sentence):
    assert refusal(solve, LAPLACE, B, engine="petsc", options=options) == sentence
    assert solve(LAPLACE, B, engine="petsc").converged


@built
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda: solve(random_matrix(20, np.complex128), np.ones(20), engine="petsc"),
            "this PETSc computes with float64",
        ),
        (
            lambda: solve(LAPLACE.astype(np.float32), B.astype(np.float32), engine="petsc"),
            "solver petsc computes in float64",
        ),
        (lambda: solve(LAPLACE, B, engine="petsc", device="opencl"), "solver petsc runs on device cpu, got opencl"),
        (lambda: solve(LAPLACE, B, solver="block-cg", engine="petsc"), "petsc: unknown ksp 'block-cg'; known: cg,"),
        (
            lambda: solve(INDEFINITE, [1.0, 2, 3], M="none", engine="petsc"),
            "PETSc's cg ended: A is not positive definite",
        ),
    ],
)
def test_what_petsc_cannot_do_is_refused(change, sentence):
    assert sentence in refusal(change)
    assert threads() == []


def test_engines_and_options_are_checked():
    assert on_engine("workbench", "pipecg") == "pipecg"
    assert refusal(on_engine, "ptsc", None) == "engine must be one of workbench, petsc, got 'ptsc'"
    assert refusal(on_engine, "workbench", None, "-a") == (
        "options are those of PETSc; add engine petsc, or leave them out"
    )
    assert "takes the name of a method" in refusal(on_engine, "petsc", registry.find("solver", "cg"))


def test_without_petsc_a_sentence_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(petsc, "installed", lambda: False)
    for choices in ({"engine": "petsc"}, {"M": "petsc:gamg"}):
        assert "needs PETSc, which is not installed; run `make petsc`" in refusal(solve, LAPLACE, B, **choices)


def test_a_petsc_that_cannot_be_loaded_is_a_sentence(monkeypatch):
    monkeypatch.setattr(petsc, "installed", lambda: True)
    monkeypatch.setitem(sys.modules, "petsc4py", None)
    petsc.library.cache_clear()
    try:
        assert "cannot be loaded" in refusal(petsc.library)
    finally:
        petsc.library.cache_clear()


@built
def test_ranks_take_the_steps_of_one_process():
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    code = "from tests.extensions.petsc.test_solver import on_a_rank; on_a_rank()"
    command = [find_mpiexec(), "-n", "3", sys.executable, "-m", "mpi4py", "-c", code]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL, cwd=ROOT)
    assert ended.returncode == 0, ended.stderr
    iterations, residual = ended.stdout.split()
    assert abs(int(iterations) - solve(LAPLACE, B, M="jacobi", rtol=1e-8, solver="pipecg").iterations) <= 1
    assert float(residual) < 2e-8


def on_a_rank():
    """Pipelined CG on the rows of this rank; rank 0 prints the iterations and the true residual."""
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    first, last = (169 * (world.rank + k) // world.size for k in (0, 1))
    rows, diagonal = LAPLACE[first:last], LAPLACE.diagonal()[first:last]

    def whole(part):
        return np.concatenate(world.allgather(part.copy()))

    def product(x, out):
        out[:] = rows @ whole(x)

    def jacobi(r, out):
        out[:] = r / diagonal

    x = np.zeros(last - first)
    norms = petsc.KrylovSteps("pipecg", product, jacobi, B[first:last].copy(), x, communicator=world).norms()
    steps = next(k for k, norm in enumerate(norms) if norm <= 1e-8 * np.linalg.norm(B))
    norms.close()
    residual = np.linalg.norm(B - LAPLACE @ whole(x)) / np.linalg.norm(B)
    if world.rank == 0:
        print(steps, residual)
