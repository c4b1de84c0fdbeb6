"""The hybrid schedules: iterates of pipelined CG, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import linalg

from tests.all_pairs import on_accelerators
from tests.conftest import grid_stencil, random_matrix
from workbench.devices.pair import Pair, Split
from workbench.errors import InputError
from workbench.problems import LinearSystem
from workbench.run import Reason, Run, Stopping, configure, run_through, solve
from workbench.run.choices.in_memory import InMemoryProblem


def grid(dtype):
    return grid_stencil((7, 9, 5), dtype)


def no_grid(dtype):
    return random_matrix(201, dtype)


ALONE = "shares work between cores and accelerator, and device cpu is the cores alone"
ELEMENTS = "acts element by element"
SCHEDULES = ("hybrid1", "hybrid2", "hybrid3:share=0.4", "hybrid3:share=0.9")


def given_run(operator, b, **choices):
    return run_through(Run(configure(InMemoryProblem(), **choices), LinearSystem(operator, b)))


@on_accelerators(
    system=["grid float64", "grid complex128", "matrix float64", "matrix float32"],
    spec=SCHEDULES,
)
def test_iterates_agree_with_pipelined_cg(accelerator, case):
    spec, (form, _, name) = case["spec"], case["system"].partition(" ")
    dtype = np.dtype(name).type
    operator = grid(dtype) if form == "grid" else no_grid(dtype)
    b = np.random.default_rng(1).random(operator.shape[0]).astype(dtype)
    stopping = Stopping(rtol=1e-3 if dtype is np.float32 else 1e-8)
    expected = given_run(operator, b, solver="pipecg", stopping=stopping)
    found = given_run(operator, b, solver=spec, device=accelerator.spec, stopping=stopping)
    assert found.converged
    assert found.iterations == expected.iterations
    loose = 3e-2 if dtype is np.float32 else 1e-6
    for column in ("residual", "preconditioned", "natural", "alpha", "beta"):
        np.testing.assert_allclose(found.history[column][:8], expected.history[column][:8], rtol=loose)
    np.testing.assert_allclose(found.x, expected.x, rtol=0, atol=(1e-2 if dtype is np.float32 else 1e-10))


@pytest.mark.parametrize("spec", ["hybrid1", "hybrid2", "hybrid3:share=0.5", "hybrid3"])
@pytest.mark.parametrize("name", ["bcsstk15", "1138_bus"])
def test_iterations_on_real_matrices_equal_those_of_pipelined_cg(real_matrices, name, spec):
    rule = Stopping(rtol=0, atol=1e-5, norm="preconditioned")
    choices = {"rhs": "ones-scaled", "x0": "zero", "stopping": rule}
    path = str(real_matrices / f"{name}.mtx.gz")
    expected = run_through(Run(configure(path, solver="pipecg", **choices)))
    try:
        found = run_through(Run(configure(path, solver=spec, device="opencl", **choices)))
    except InputError as sentence:
        if "was found" in str(sentence) or "cannot be imported" in str(sentence):
            pytest.skip(str(sentence))
        raise
    assert found.converged
    # Rounding decides where they stop, and how the rows are shared, by measurement, is part of the rounding.
    assert abs(found.iterations - expected.iterations) <= 3
    assert np.linalg.norm(found.x - expected.x) <= 1e-4 * np.linalg.norm(expected.x)


@on_accelerators(name=["hybrid1", "hybrid2", "hybrid3"], switches=["fused=no", "merged=no", "fused=no,merged=no"])
def test_results_without_fusion_are_equal(accelerator, case):
    name, switches = case["name"], case["switches"]
    share = ",share=0.5" if name == "hybrid3" else ""
    choices = {"n": 9, "rhs": "random", "device": accelerator.spec}
    plain = Run(configure("poisson27", solver=f"{name}:{share[1:]}" if share else name, **choices), trace=True)
    single = Run(configure("poisson27", solver=f"{name}:{switches}{share}", **choices), trace=True)
    expected, found = run_through(plain), run_through(single)
    assert found.iterations == expected.iterations
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-10)
    lanes = {"fused": "accelerator", "merged": "cpu"}
    for switch, lane in lanes.items():
        counts = [sum(event.lane == lane for event in result.trace) for result in (expected, found)]
        assert (counts[1] > counts[0]) == (f"{switch}=no" in switches)


@pytest.mark.parametrize(
    ("spec", "levels"),
    [
        ("hybrid1", {"deflation": "blocks:2"}),
        ("hybrid2", {"deflation": "blocks:2"}),
        *(("hybrid1", {"preconditioner": first}) for first in ("neumann:2", "block-ic:2", "chebyshev")),
    ],
)
def test_both_levels_are_those_of_pipelined_cg(accelerator, spec, levels):
    choices = {"n": 16, "rhs": "random", **levels}
    expected = run_through(Run(configure("two-layer", solver="pipecg", **choices)))
    found = run_through(Run(configure("two-layer", solver=spec, device=accelerator.spec, **choices)))
    assert abs(found.iterations - expected.iterations) <= 1
    np.testing.assert_allclose(found.x, expected.x, rtol=0, atol=1e-5 * np.abs(expected.x).max())


def test_a_nonzero_initial_guess(accelerator):
    operator = grid_stencil((8, 9))
    rng = np.random.default_rng(0)
    b, x0 = rng.random(72), rng.random(72)
    expected = solve(operator, b, x0, solver="pipecg", rtol=1e-9)
    for spec in SCHEDULES:
        found = solve(operator, b, x0, solver=spec, device=accelerator.spec, rtol=1e-9)
        assert found.iterations == expected.iterations
        np.testing.assert_allclose(found.x, expected.x, rtol=1e-9)


def test_snapshots_of_the_solution_during_a_run(accelerator):
    choices = {"n": 10, "rhs": "random"}
    expected = Run(configure("poisson7", solver="pipecg", **choices))
    found = Run(configure("poisson7", solver="hybrid3:share=0.5", device=accelerator.spec, **choices))
    for _ in range(6):
        expected.step(1)
        found.step(1)
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-11)


def test_vectors_are_allocated_on_the_expected_side(accelerator):
    choices = {"n": 8, "device": accelerator.spec}
    first = Run(configure("poisson27", solver="hybrid1", **choices))
    assert isinstance(first.setup.device, Pair)
    third = Run(configure("poisson27", solver="hybrid3:share=0.3", **choices))
    split = third.setup.device
    assert isinstance(split, Split)
    matrix = third.setup.operator.to_csr()
    # The cores' parts and the whole matrix are one and the same memory.
    assert all(np.shares_memory(part.bound.fixed["data"], matrix.data) for part in split.blocks.near)
    note = "\n".join(third.result().provenance["notes"])
    assert f"the cores have {split.rows} of 512 rows" in note


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        *(({"solver": spec, "device": "cpu"}, ALONE) for spec in ("hybrid1", "hybrid2", "hybrid3", "hybrid")),
        *(({"solver": spec, "preconditioner": "neumann:2"}, f"{ELEMENTS}; use") for spec in ("hybrid2", "hybrid3")),
        ({"solver": "hybrid2", "deflation": "blocks:2", "variant": "a-def2"}, ELEMENTS),
        ({"solver": "hybrid3", "deflation": "blocks:2"}, "cannot deflate, since no side sees a whole vector"),
        ({"solver": "hybrid3:share=1"}, "would leave the cores without a row of 64"),
    ],
)
def test_what_a_schedule_cannot_do_is_refused(accelerator, choices, sentence):
    with pytest.raises(InputError, match=sentence):
        Run(configure("poisson5", n=8, **{"device": accelerator.spec, **choices}))


def test_hybrid3_refuses_a_linear_operator(accelerator):
    A = linalg.aslinearoperator(random_matrix(50).csr)
    with pytest.raises(InputError, match="shares out the rows of A, and a LinearOperator does not show them"):
        solve(A, np.ones(50), M="none", solver="hybrid3", device=accelerator.spec)


def test_an_asymmetric_preconditioner_is_refused(accelerator):
    A = random_matrix(50).csr
    solve(A, np.ones(50), M=lambda r: r / A.diagonal(), solver="hybrid1", device=accelerator.spec)
    with pytest.raises(InputError, match=r"the preconditioner is not symmetric: \(M\^-1 x, y\) = "):
        solve(A, np.ones(50), M=lambda r: np.cumsum(r), solver="hybrid1", device=accelerator.spec)


def test_only_hybrid3_accepts_a_system_beyond_device_memory(accelerator):
    choices = {"n": 10, "device": accelerator.spec, "rhs": "random"}
    limit = 200_000
    for spec in ("cg", "pipecg", "hybrid1", "hybrid2"):
        with pytest.raises(InputError, match=r"may use 0.18 of 0.2 MB for .* and 0\.\d+ MB are needed"):
            Run(configure("poisson27", solver=spec, memory_limit=limit, **choices))
    run = Run(configure("poisson27", solver="hybrid3", memory_limit=limit, **choices))
    found = run_through(run)
    assert found.converged
    assert run.setup.device.accelerator.budget.used <= limit
    expected = run_through(Run(configure("poisson27", n=10, rhs="random", solver="pipecg")))
    assert found.iterations == expected.iterations
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-10)


def test_an_indefinite_matrix_is_diagnosed(accelerator):
    operator = random_matrix(60, seed=2).csr.toarray()
    operator[0, 59] = operator[59, 0] = 1e4
    for spec in SCHEDULES:
        found = solve(operator, np.ones(60), device=accelerator.spec, rtol=1e-12, solver=spec)
        assert found.reason is Reason.INDEFINITE
        assert np.isfinite(found.x).all()


def test_copying_halves_or_only_the_border_gives_equal_results(accelerator):
    choices = {"n": 12, "rhs": "random", "device": accelerator.spec}
    results = {}
    for halves in ("yes", "no"):
        run = Run(configure("poisson7", solver=f"hybrid3:share=0.5,halves={halves}", **choices), trace=True)
        results[halves] = run_through(run)
    copied = {
        halves: sum(event.bytes for event in result.trace if event.name == "m" and event.iteration == 3)
        for halves, result in results.items()
    }
    assert copied["yes"] == 12**3 * 8
    # A plane of the grid each way.
    assert copied["no"] == 2 * 12**2 * 8
    assert results["yes"].x.tolist() == results["no"].x.tolist()


def test_uncoupled_blocks_exchange_nothing(accelerator):
    A = np.diag(np.repeat([1.0, 3.0, 10.0], 8))
    result = solve(A, np.ones(24), M="none", rtol=1e-12, solver="hybrid3:share=0.5,halves=no", device=accelerator.spec)
    assert result.iterations == 3
    np.testing.assert_allclose(result.x, 1 / np.diag(A))
