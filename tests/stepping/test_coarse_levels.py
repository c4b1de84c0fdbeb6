"""What each level of a coarse solve removes, against the same cycles in dense algebra."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.run import configure
from workbench.stepping.line_by_line import Walk

PROBLEMS = {
    "bubbles in 3D": ("bubbles-3d", {"n": 12, "sides": "z-:dirichlet"}, "levelset:6"),
    "all Neumann": ("bubbles-2d", {"n": 30}, "levelset:15"),
}


def walked(name, cycle, variant="a-def2"):
    problem, parameters, space = PROBLEMS[name]
    coarse = f"multilevel:bottom=20,cycle={cycle}"
    return Walk(
        configure(
            problem, parameters, deflation=space, coarse=coarse, variant=variant, preconditioner="jacobi", rhs="random"
        )
    )


class DenseCycles:
    """The cycles of `devices.cycles` with dense matrices; `seen` holds the solution so far after each correction."""

    def __init__(self, E, form):
        self.form, self.seen = form, []
        self.matrices, self.transfers = [E[form.order][:, form.order]], []
        for level in form.levels:
            P = np.eye(level.starts.size - 1)[level.parents]
            self.transfers.append(P)
            self.matrices.append(P.T @ self.matrices[-1] @ P)

    def note(self, by, depth, x, above):
        """above: of each level above, what it holds."""
        for P, held in zip(reversed(self.transfers[:depth]), reversed(above), strict=True):
            x = held + self.form.scaling * (P @ x)
        self.seen.append((by, x))

    def solve(self, right):
        x = self.level(0, right[self.form.order], [])
        solved = np.zeros_like(right)
        solved[self.form.order] = x
        return solved

    def level(self, depth, b, above):
        E = self.matrices[depth]
        if depth == len(self.transfers):
            x = np.linalg.pinv(E, rcond=1e-10) @ b
            self.note("coarsest level", depth, x, above)
            return x
        if not self.form.steps_at(depth):
            return self.cycle(depth, b, above, 0 * b)
        p = self.cycle(depth, b, above, 0 * b)
        x = (p @ b) / (p @ E @ p) * p
        self.note("flexible CG", depth, x, above)
        if self.form.steps_at(depth) == 2:
            z = self.cycle(depth, b - E @ x, above, x)
            p = z - (z @ E @ p) / (p @ E @ p) * p
            x = x + (p @ (b - E @ x)) / (p @ E @ p) * p
            self.note("flexible CG", depth, x, above)
        return x

    def cycle(self, depth, b, above, base):
        E, (one, two) = self.matrices[depth], self.form.levels[depth].smoother
        D = np.diagonal(E)

        def smoothed(r):
            return one * r / D - two * (E @ (r / D)) / D

        x = smoothed(b)
        self.note(f"level {depth}", depth, base + x, above)
        below = self.transfers[depth].T @ (b - E @ x)
        x = x + self.form.scaling * self.transfers[depth] @ self.level(depth + 1, below, [*above, base + x])
        x = x + smoothed(b - E @ x)
        self.note(f"level {depth}", depth, base + x, above)
        return x


def solved(A, b, *, singular):
    """The solution; where A is singular one of them, for constants have no energy."""
    return np.linalg.solve(A + singular / len(A), b)


def energy(A, v):
    return np.sqrt(v @ A @ v)


@pytest.mark.parametrize(
    ("name", "cycle"),
    # One plain cycle leaves too much of an error for bubbles in 3D, and is refused.
    [(name, cycle) for name in PROBLEMS for cycle in ("v", "cg", "k3") if (name, cycle) != ("bubbles in 3D", "v")],
)
def test_what_is_left_is_that_of_dense_cycles(name, cycle):
    walk = walked(name, cycle)
    setup = walk.setup
    A = setup.operator.to_csr().toarray()
    x = np.random.default_rng(1).standard_normal(len(A))
    removal = walk.removal(x)
    r = setup.b - A @ x
    error = solved(A, r, singular=bool(setup.null_space))
    Z = np.eye(setup.projection.count)[setup.labels]
    u = r / np.diagonal(A)
    right = Z.T @ (r - A @ u)
    cycles = DenseCycles(Z.T @ A @ Z, setup.projection.levels)
    cycles.solve(right - right.mean() * bool(setup.null_space))
    expected = [("before", 1.0), ("M", energy(A, error - u) / energy(A, error))]
    order = setup.projection.levels.order
    for by, rows in cycles.seen:
        coarse = np.zeros_like(right)
        coarse[order] = rows
        expected.append((by, energy(A, error - u - Z @ coarse) / energy(A, error)))
    assert [stage.by for stage in removal.stages] == [by for by, _ in expected]
    np.testing.assert_allclose([stage.left for stage in removal.stages], [left for _, left in expected], rtol=2e-4)
    exact = solved(Z.T @ A @ Z, right, singular=bool(setup.null_space))
    assert removal.exact == pytest.approx(energy(A, error - u - Z @ exact) / energy(A, error))
    assert removal.exact <= removal.stages[-1].left


@pytest.mark.parametrize("variant", ["a-def2", "bnn", "ad"])
@pytest.mark.parametrize("name", list(PROBLEMS))
def test_the_result_is_that_of_the_preconditioner_itself(name, variant):
    walk = walked(name, "cg", variant)
    setup = walk.setup
    x = np.random.default_rng(2).standard_normal(setup.b.size)
    removal = walk.removal(x)
    r = setup.b - setup.operator.to_csr() @ x
    u = np.zeros_like(r)
    setup.M.apply(r, u)
    # Constants do not matter where A is singular.
    difference = removal.u - u - (removal.u - u).mean() * bool(setup.null_space)
    assert np.linalg.norm(difference) < 1e-6 * np.linalg.norm(u)
    removed = removal.removed_by()
    assert sum(removed.values()) == pytest.approx(1 - removal.stages[-1].left)
    assert next(iter(removed)) == "M"
    assert {"level 0", "coarsest level", "flexible CG"} < set(removed)


def test_no_error_is_no_division_by_zero():
    walk = walked("bubbles in 3D", "cg")
    exact = np.linalg.solve(walk.setup.operator.to_csr().toarray(), walk.setup.b)
    assert all(np.isfinite(stage.left) for stage in walk.removal(exact).stages)


def test_other_coarse_solvers_cannot_be_observed():
    walk = Walk(configure("bubbles-2d", n=16, deflation="levelset:4", coarse="cholesky", variant="a-def2"))
    assert not walk.has_levels
    with pytest.raises(InputError, match="only a coarse solve on levels can be observed; use coarse solver multilevel"):
        walk.removal(walk.after(0, 0)["x"])
