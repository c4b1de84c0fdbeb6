"""Counted costs agree with those of runs and with the papers."""

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

import workbench.run  # noqa: F401  registers every block
from tests.conftest import random_matrix
from workbench.costs.solver_costs import solver_costs
from workbench.errors import InputError
from workbench.lines.dependence import waiting
from workbench.problems import LinearSystem
from workbench.registry import blocks as registry
from workbench.run import Run, Stopping, configure
from workbench.run.choices.in_memory import InMemoryPreconditioner, InMemoryProblem
from workbench.solvers.block.base import BlockSolver

EVERY = sorted(
    name
    for name, solver in registry.registered("solver").items()
    if solver.in_family and not issubclass(solver, BlockSolver)
)


@pytest.fixture(scope="module")
def costs():
    return {
        first: {cost.solver: cost for cost in solver_costs("slabs-3d", 8, first)}
        for first in ("jacobi", "neumann:2", "none")
    }


@pytest.mark.parametrize("name", EVERY)
def test_counted_products_equal_those_of_a_run(name, costs):
    matrix, inverse, calls = random_matrix(40), 1 / random_matrix(40).diagonal(), {"A": 0, "M": 0}

    def product(x):
        calls["A"] += 1
        return matrix.csr @ x

    def precondition(r):
        calls["M"] += 1
        return inverse * r

    configuration = configure(
        InMemoryProblem(),
        solver=name,
        preconditioner=InMemoryPreconditioner(precondition),
        stopping=Stopping(rtol=1e-30, maxiter=9),
    )
    from workbench.operators import as_operator

    operator = as_operator(LinearOperator((40, 40), matvec=product, dtype=np.float64))
    run = Run(configuration, LinearSystem(operator, np.ones(40)))
    run.step()
    before = dict(calls)
    for _ in range(3):
        run.step()
    cost = costs["neumann:2"][name]
    assert {operator: (calls[operator] - before[operator]) / 3 for operator in calls} == {
        "A": cost.with_a,
        "M": cost.with_m,
    }


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("first", ["jacobi", "neumann:2"])
def test_counted_vectors_and_bytes_equal_those_of_a_run(name, first, costs, monkeypatch):
    from workbench.devices.cpu.device import Cpu

    moved, original = [], Cpu.bind_pass

    def counted(kernel, step, arrays, scalars):
        by_name = dict(zip(dict.fromkeys([*step.loads, *step.stores]), arrays, strict=True))
        size = sum(by_name[name].nbytes for name in (*step.loads, *step.stores))
        run = original(kernel, step, arrays, scalars)
        return lambda: (moved.append(size), run())

    monkeypatch.setattr(Cpu, "bind_pass", staticmethod(counted))
    run = Run(configure("slabs-3d", n=8, solver=name, preconditioner=first, stopping=Stopping(rtol=1e-30)))
    run.step()
    moved.clear()
    run.step()
    products = {"A": run.setup.A.traffic, "M": getattr(run.setup.M, "traffic", 0)}
    cost = costs[first][name]
    total = sum(moved) + cost.with_a * products["A"] + cost.with_m * products["M"]
    assert total / run.workspace.size == pytest.approx(cost.bytes_per_unknown)
    held = {id(run.workspace.vectors[name]): run.workspace.vectors[name] for name in [*run.workspace.added, "x"]}
    assert sum(array.nbytes for array in held.values()) == cost.vectors * run.workspace.size * 8


def test_reductions_and_overlap_are_those_of_the_papers(costs):
    found = {name: (cost.reductions, cost.overlap) for name, cost in costs["neumann:2"].items()}
    assert found["cg"] == (2, "-; -")
    assert found["cgcg"] == found["pr-cg"] == (1, "-")
    assert found["gropp"] == (2, "M; A")
    assert found["pipecg"] == (1, "A + M")
    assert found["pipe-pr-cg"] == (1, "2 A + 2 M")


def test_pipelined_cg_has_the_updates_of_its_algorithm(costs):
    # Lines 11 to 18 of Algorithm 2 in the paper on hybrid pipelined CG.
    assert costs["neumann:2"]["pipecg"].updates == 8
    # All of them are fused into one pass, in addition to those of A and M.
    assert costs["neumann:2"]["pipecg"].passes == 3
    assert costs["jacobi"]["pipecg"].passes == 2


def test_pipelined_cg_moves_at_most_1_5_times_the_bytes_of_cg(costs):
    assert costs["jacobi"]["pipecg"].bytes_per_unknown <= 1.5 * costs["jacobi"]["cg"].bytes_per_unknown


def test_an_unused_dot_product_needs_no_reduction():
    assert waiting("s = A(p)\nd = (p, s)\np = p + d*s\nunused = (s, s)").reductions == 1


def test_bytes_follow_the_precision():
    double, single = (
        {cost.solver: cost.bytes_per_unknown for cost in solver_costs("poisson7", 6, "jacobi", precision)}
        for precision in ("float64", "float32")
    )
    assert double == {name: 2 * value for name, value in single.items()}


def test_unknown_precisions_are_refused():
    with pytest.raises(InputError, match="unknown precision 'float16'"):
        solver_costs(precision="float16")
