"""More right-hand sides than fit the memory of a device at once."""

import gc
from typing import Any

import numpy as np
import pytest

from tests.all_pairs import pairwise
from workbench.errors import InputError
from workbench.problems import LinearSystem
from workbench.registry import blocks as registry
from workbench.run import Reason, Run, Stopping, configure, run_through
from workbench.run.choices.in_memory import InMemoryProblem
from workbench.run.loop.block.memory import blocks_of, bytes_of
from workbench.solvers.block.base import BlockSolver

METHODS = [name for name, cls in registry.registered("solver").items() if issubclass(cls, BlockSolver)]
REAL = [name for name in METHODS if not registry.registered("solver")[name].complex_symmetric]


def configuration(**chosen):
    stopping = chosen.pop("stopping", Stopping(rtol=1e-8))
    return configure("poisson5", n=12, stopping=stopping, **{"solver": "block-cg", "rhs": "random:9", **chosen})


def room_for(columns, **chosen):
    """A memory limit of the CPU in which so many columns fit."""
    setup = Run(configuration(**chosen)).setup
    return setup.operator.nbytes + bytes_of(setup, columns) + 100


@pytest.mark.parametrize("preconditioner", ["none", "ic"])
@pytest.mark.parametrize("solver", REAL)
def test_the_memory_model_counts_the_block_vectors_that_a_run_stores(solver, preconditioner):
    run = Run(configuration(solver=solver, preconditioner=preconditioner))
    for _ in range(3):
        run.step()
    stored = len({id(block) for block in run.workspace.vectors.values()})
    plain = preconditioner == "none"
    assert blocks_of(run.setup.solver, plain=plain, remade=plain) == stored


@pairwise(solver=["block-cg", "pseudo-block-cg"], deflation=["none", "stripes"], preconditioner=["jacobi", "neumann:1"])
def test_the_memory_model_agrees_with_what_an_accelerator_counts(case):
    solver, deflation, preconditioner = case["solver"], case["deflation"], case["preconditioner"]
    pytest.importorskip("pyopencl")
    used, model = {}, {}
    for s in (4, 20):
        levels = {"preconditioner": preconditioner, "deflation": deflation}
        place = {"device": "opencl", "memory_limit": 10**9}
        run = Run(configure("poisson5", n=60, solver=solver, rhs=f"random:{s}", **levels, **place))
        run.step()
        # Both the start of a variant and its end: x of the original system is asked for.
        run.result()
        used[s], model[s] = run.setup.device.budget.used, bytes_of(run.setup, s)
    assert used[20] - used[4] == pytest.approx(model[20] - model[4], rel=0.1)


def test_the_memory_model_counts_dense_deflation_vectors_for_blocks():
    pytest.importorskip("pyopencl")
    used, model = {}, {}
    for count in (10, 40):
        place = {"device": "opencl", "memory_limit": 10**9}
        run = Run(
            configure("poisson5", n=60, solver="block-cg", rhs="random:4", deflation=f"eigenvectors:{count}", **place)
        )
        run.step()
        of_one = run.setup.projection.columns.block_bytes
        used[count], model[count] = run.setup.device.budget.used - of_one, bytes_of(run.setup, 4)
    assert used[40] - used[10] == pytest.approx(model[40] - model[10], rel=0.1)


@pytest.mark.parametrize("solver", ["block-cg", "bf-block-cg", "pseudo-block-cg"])
def test_chunks_give_the_solution_of_all_at_once(solver):
    whole = run_through(Run(configuration(solver=solver)))
    run = Run(configuration(solver=solver, memory_limit=room_for(4, solver=solver)))
    parts = run_through(run)
    assert [place.stop - place.start for place in run.chunks] == [3, 3, 3]
    assert whole.converged
    assert parts.converged
    np.testing.assert_allclose(parts.x, whole.x, rtol=1e-6, atol=1e-9)
    assert all(column.true_relative_residual <= 1e-8 for column in parts.columns)
    assert "9 right-hand sides are solved in 3 chunks of at most 3" in parts.provenance["notes"]
    assert parts.iterations == sum(max(c.iteration for c in parts.columns[place]) for place in run.chunks)


def test_the_history_of_a_chunk_that_has_not_begun_is_nan():
    run = Run(configuration(memory_limit=room_for(5)))
    result = run_through(run)
    first = max(column.iteration for column in result.columns[:4])
    assert np.isnan(result.history.columns[first, 4:]).all()
    assert np.isfinite(result.history.columns[first + 1 :]).all()
    assert np.isfinite(result.history["residual"]).all()


def test_a_run_that_is_cancelled_in_a_later_chunk_keeps_the_columns_that_are_done():
    run = Run(configuration(memory_limit=room_for(3)))
    while run.history.count < 2 or np.isnan(run.history.columns[-1, 3]):
        run.step()
    run.step()
    run.cancel()
    result = run.result()
    assert result.reason is Reason.CANCELLED
    assert [column.converged for column in result.columns] == [True] * 3 + [False] * 6
    A, B = run.setup.system.operator.to_csr(), np.random.default_rng(0).standard_normal((144, 9))
    residuals = np.linalg.norm(B - A @ result.x, axis=0) / np.linalg.norm(B, axis=0)
    assert (residuals[:3] <= 1e-8).all()
    # Where the solve has not begun x is the initial guess.
    assert (result.x[:, 6:] == 0).all()


def test_a_chunk_that_reaches_the_iteration_limit_does_not_stop_the_others():
    chosen = configuration(memory_limit=room_for(3), stopping=Stopping(rtol=1e-8, maxiter=5))
    result = run_through(Run(chosen))
    assert result.reason is Reason.MAXITER
    assert result.detail.endswith("of columns 1 to 3")
    assert [column.iteration for column in result.columns] == [5] * 9


def test_more_columns_than_kernels_take_are_solved_in_chunks():
    run = Run(configuration(rhs="random:100"))
    assert [place.stop - place.start for place in run.chunks] == [50, 50]


def test_one_column_that_does_not_fit_is_refused():
    with pytest.raises(InputError, match="raise the memory limit"):
        Run(configuration(memory_limit=room_for(1) - 200))


def test_the_memory_of_a_chunk_is_free_before_the_next_one_begins():
    pytest.importorskip("pyopencl")
    chosen: dict[str, Any] = {
        "n": 60,
        "solver": "block-cg",
        "device": "opencl",
        "memory_limit": 2 * 10**6,
        "rhs": "random:24",
        "stopping": Stopping(rtol=0.1),
    }
    run = Run(configure("poisson5", **chosen))
    used = set()
    gc.disable()
    try:
        while run.step():
            used.add(run.setup.device.budget.used)
    finally:
        gc.enable()
    assert len(run.chunks) > 2
    assert max(used) <= 1.1 * min(used)


def test_columns_that_depend_on_others_halve_a_chunk_that_has_no_room_for_them():
    pytest.importorskip("pyopencl")
    operator = configure("poisson5", n=60).problem.assemble(0).operator
    rng = np.random.default_rng(0)
    system = LinearSystem(operator, rng.standard_normal((3600, 4)) @ rng.standard_normal((4, 16)))
    chosen: dict[str, Any] = {"solver": "block-cg", "device": "opencl"}
    probe = Run(configure(InMemoryProblem(), memory_limit=10**9, **chosen), system)
    limit = int((probe.setup.device.budget.used + 3e5) / 0.9)
    run = Run(configure(InMemoryProblem(), memory_limit=limit, **chosen), system)
    assert len(run.chunks) == 1
    result = run_through(run)
    assert result.converged
    assert len(run.chunks) > 1
    assert any("halved" in note for note in result.provenance["notes"])
