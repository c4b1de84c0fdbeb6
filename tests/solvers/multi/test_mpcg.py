"""Multipreconditioned CG against the paper's lines in dense algebra, and against counts that were found with them."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.conftest import grid_stencil
from workbench import devices
from workbench.devices.operator_protocols import OperatorTraits
from workbench.errors import InputError
from workbench.preconditioners.preconditioner_sum import PreconditionerSum
from workbench.preconditioners.schwarz import subdomains
from workbench.registry import blocks as registry
from workbench.run import Reason, Run, configure, run_through, solve
from workbench.run.choices.stopping import Stopping
from workbench.solvers.multi.basis import DEPENDENT, Limits, orthonormal
from workbench.solvers.multi.directions import Directions, InnerProducts, Terms
from workbench.solvers.multi.members import SingleMember


def iterations(problem, M, solver, rtol=1e-6, device="cpu", **more):
    configuration = configure(
        problem, solver=solver, preconditioner=M, device=device, stopping=Stopping(rtol=rtol), **more
    )
    result = run_through(Run(configuration))
    assert result.converged, result.reason
    return result.iterations


def by_the_lines(A, b, parts, rtol, keep=0):
    """Algorithm 3 with explicit blocks P and Q = A P, all in dense algebra: x and iterations."""
    inverses = [np.linalg.inv(A[np.ix_(part, part)]) for part in parts]
    x, r, blocks, count = np.zeros_like(b), b.copy(), [], 0
    while np.linalg.norm(r) > rtol * np.linalg.norm(b):
        Z = np.zeros((b.size, len(parts)), b.dtype)
        for k, part in enumerate(parts):
            Z[part, k] = inverses[k] @ r[part]
        kept = blocks[-keep:] if keep else blocks
        for P, Q in kept:
            x, r = x + P @ (P.conj().T @ r), r - Q @ (P.conj().T @ r)
        for _ in range(2):
            for P, Q in kept:
                Z = Z - P @ (Q.conj().T @ Z)
        gram = Z.conj().T @ A @ Z
        d = np.sqrt(np.real(np.diag(gram)))
        T = np.linalg.inv(np.linalg.cholesky(gram / np.outer(d, d))).conj().T / d[:, None]
        blocks.append((Z @ T, A @ Z @ T))
        P, Q = blocks[-1]
        x, r, count = x + P @ (P.conj().T @ r), r - Q @ (P.conj().T @ r), count + 1
    return x, count


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("keep", [0, 1, 2])
def test_it_is_the_papers_algorithm(dtype, keep):
    operator = grid_stencil((11, 13), dtype, shift=0.01)
    b = np.random.default_rng(0).standard_normal(143).astype(dtype)
    parts = [subdomains.unknowns((11, 13), box) for box in subdomains.of_grid((11, 13), (3, 2), 1)]
    x, count = by_the_lines(operator.to_csr().toarray(), b, parts, 1e-7, keep)
    solver = registry.find("solver", "mpcg", keep=keep)
    result = solve(operator, b, M="schwarz:3x2,overlap=1", solver=solver, rtol=1e-7)
    assert result.converged
    assert result.iterations == count
    np.testing.assert_allclose(result.x, x, rtol=0, atol=1e-6 * np.abs(x).max())


# MPCG and CG with the sum for boxes 2x2, 2x3, 3x3, 3x4 and 4x4, n = 200, f = 1, to 1e-6.
COUNTS = {
    1: ((22, 30), (28, 38), (25, 33), (30, 40), (26, 35)),
    4: ((15, 18), (19, 23), (17, 22), (20, 26), (18, 25)),
}


@pytest.mark.parametrize("overlap", COUNTS)
def test_counts_of_boxes(overlap):
    for sides, expected in zip(("2x2", "2x3", "3x3", "3x4", "4x4"), COUNTS[overlap], strict=True):
        M = f"schwarz:{sides},overlap={overlap}"
        found = tuple(iterations("poisson-fd", M, solver, n=200) for solver in ("mpcg", "sum-cg"))
        assert np.abs(np.subtract(found, expected)).max() <= 1, (sides, found)


def test_counts_on_accelerators(accelerator):
    found = iterations("poisson-fd", "schwarz:3x3,overlap=4", "mpcg", n=100, device=accelerator.spec)
    assert abs(found - iterations("poisson-fd", "schwarz:3x3,overlap=4", "mpcg", n=100)) <= 1


@pytest.mark.parametrize(("choice", "expected"), [({"keep": 1}, 39), ({"keep": 5}, 24), ({"restart": 5}, 39)])
def test_truncation_and_restarts(choice, expected):
    solver = registry.find("solver", "mpcg", **choice)
    assert abs(iterations("poisson-fd", "schwarz:3x3,overlap=4", solver, n=200) - expected) <= 1


# The sum and MPCG of first levels, n = 64.
MIXED = {"ic + coarse:8": (34, 26), "neumann:2 + coarse:8": (38, 30), "jacobi + ic": (59, 41)}


@pytest.mark.parametrize("M", MIXED)
def test_counts_of_sums(M):
    found = tuple(iterations("poisson5", M, solver, n=64) for solver in ("sum-cg", "mpcg"))
    assert np.abs(np.subtract(found, MIXED[M])).max() <= 1


def test_the_adaptive_method_lies_between():
    solvers = ("mpcg-adaptive:0", "mpcg-adaptive:10", "mpcg")
    chosen = {"n": 100, "preconditioner": "schwarz:4x4,overlap=1"}
    runs = [Run(configure("poisson-fd", solver=solver, **chosen)) for solver in solvers]
    few, some, all_ = map(run_through, runs)
    taken = [[step.directions for step in run.workspace.operators["D"].steps] for run in runs]
    # The first block has all directions; with tau = 0 none has after that.
    assert taken[0] == [16] + [1] * (few.iterations - 1)
    assert set(taken[1]) == {1, 16}
    assert set(taken[2]) == {16}
    assert few.iterations >= some.iterations >= all_.iterations


def test_equal_preconditioners_lose_rank_and_say_so():
    result = solve(grid_stencil((9, 8)), np.ones(72), M="ic + ic", solver="mpcg", rtol=1e-9)
    assert result.converged
    assert "search directions that depend on others were dropped" in result.provenance["notes"]
    assert result.iterations == solve(grid_stencil((9, 8)), np.ones(72), M="ic", solver="cg", rtol=1e-9).iterations


def test_a_preconditioner_that_is_not_definite_is_named():
    operator = grid_stencil((6, 6))
    A = operator.to_csr().toarray()

    class Scaled(OperatorTraits):
        traffic = flops = 0

        def __init__(self, factor):
            self.factor = factor

        def apply(self, r, u):
            u[:] = self.factor * r / np.diag(A)

    cpu = devices.device("cpu")
    members = [SingleMember(name, Scaled(f), cpu, 36, operator.dtype) for name, f in (("good", 1.0), ("bad", -2.0))]
    several = PreconditionerSum(members, cpu, operator.dtype, ())
    source = Terms(several, InnerProducts(several, operator.bind(cpu), cpu, operator.dtype), cpu, operator.dtype)
    workspace = SimpleNamespace(notes=[], steps=[], stepping=False)
    directions = Directions(source, cpu, Limits(), None, workspace)
    r, d = np.ones(36), np.zeros(36)
    source.apply(r, d)
    directions.apply(r, d)
    assert workspace.notes[0] == "preconditioner bad is not positive definite: (r, M^-1 r) is negative"


def test_an_indefinite_matrix_ends_the_run():
    A = np.diag([1.0, 2.0, 3.0, 4.0])
    A[0, 1] = A[1, 0] = 2
    for M in ("none", "none + jacobi"):
        result = solve(A, np.array([1.0, -1.0, 1.0, 1.0]), M=M, solver="mpcg")
        assert result.reason is Reason.INDEFINITE


def test_memory_that_is_used_up_drops_the_blocks():
    # Some iterations of 16 boxes fit in addition to the vectors of a run.
    chosen = {"solver": "mpcg", "preconditioner": "schwarz:4x4,overlap=1", "n": 64}
    free = run_through(Run(configure("poisson-fd", **chosen)))
    result = run_through(Run(configure("poisson-fd", **chosen, memory_limit=8 * 63**2 * 12)))
    assert result.converged
    assert result.iterations >= free.iterations
    assert any("iterations fit the memory" in note for note in result.provenance["notes"])
    with pytest.raises(InputError, match="16 search directions of one iteration do not fit the memory"):
        Run(
            configure("poisson-fd", **{**chosen, "preconditioner": " + ".join(["ic"] * 16)}, memory_limit=8 * 63**2 * 8)
        )


def test_dependent_columns_leave_an_orthonormal_rest():
    rng = np.random.default_rng(0)
    P = rng.standard_normal((30, 4))
    P[:, 2] = P[:, 0] + P[:, 1]
    gram = P.T @ P
    found = orthonormal(gram, np.diag(gram), DEPENDENT)
    assert found.basis.shape == (4, 3)
    np.testing.assert_allclose(found.basis.T @ gram @ found.basis, np.eye(3), atol=1e-9)
    # A column that was made orthogonal to others, with only rounding left.
    gram = np.diag([1.0, 1e-12])
    assert orthonormal(gram, np.ones(2), DEPENDENT).basis.shape == (2, 1)


def test_terms_are_stored_on_their_boxes_alone():
    run = Run(configure("poisson-fd", n=101, solver="mpcg", preconditioner="schwarz:4x4,overlap=2"))
    run_through(run)
    kept = run.workspace.operators["D"]
    words = sum(term.size for terms in kept.terms for term in terms)
    assert words == len(kept.terms) * sum(member.vectors.pieces.local_size for member in run.setup.M.members)
    # Boxes of 25 points that grow by 2 on each inner side.
    assert words <= 1.3 * run.iterations * 100**2
