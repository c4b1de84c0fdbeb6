"""A random search for false statements: methods, both levels, variants, precisions and devices on small systems.

    python -m tests.truth.search 2000           # seeds 0 to 1999, about half an hour on two cores
    python -m tests.truth.search 100 --first 500 --verbose

What a run says is held to ||b - A x|| in 80-bit arithmetic, and to plain Jacobi-CG from zero. `test_search.py` takes
the first seeds. A finding is one of

    false        converged, and the residual in extended precision is above the tolerance
    blamed       a definite A or first level is called indefinite
    worse        x is worse than x = 0
    said         the residual that is reported is not that of x
    unexplained  not converged where plain Jacobi-CG converges, for no reason listed in `EXPLAINED`
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import functools
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from workbench.errors import InputError
from workbench.run import Reason, Result, Run, Stopping, configure, run_through
from workbench.run.setup.right_hand_side import unscaled

FALSE, BLAMED, WORSE, SAID, UNEXPLAINED = "false", "blamed", "worse", "said", "unexplained"
SLACK = 1.02
"""||b - A x|| is computed in double precision by the run; this much of it may be rounding."""
MAXITER = 2000
EPS = float(np.finfo(float).eps)

TWO_PHASES = ["two-layer", "bubbles-2d", "bubbles-3d"]
SOLVERS = ["cg", "cg3", "cgcg", "fcg", "gropp", "pipecg", "pipecg-rr", "pr-cg", "pipe-pr-cg", "lanczos-cg", "mpcg"]
BLOCK_SOLVERS = ["block-cg", "pseudo-block-cg", "bf-block-cg", "block-cg-oleary"]
FIRST = [
    *("none", "jacobi", "neumann:2", "ic", "ssor", "block-ic:3", "chebyshev:3", "fsai", "mg", "mg:v"),
    *("schwarz:2x2", "schwarz:2x2,precision=float32", "jacobi + neumann:2", "schwarz:2x2 + jacobi"),
]
SECOND = ["none", "none", "blocks:3", "blocks:5", "levelset:0", "levelset:3", "eigenvectors:3"]
COARSE = [
    *("auto", "auto", "multilevel", "multilevel:bottom=1", "multilevel:v,bottom=2", "cholesky", "inverse", "sparse"),
    *("pseudo-inverse", "inner-cg", "inner-cg:1e-3"),
]
VARIANTS = ["auto", "auto", "def1", "def2", "a-def1", "a-def2", "bnn", "ad"]
ON_ACCELERATORS: dict[str, list[str]] = {
    "solver": ["cg", "pipecg"],
    "preconditioner": ["none", "jacobi"],
    "deflation": ["none", "blocks:3", "levelset:3"],
    "coarse": ["auto", "multilevel:bottom=1"],
    "variant": ["auto"],
}
"""Few choices, since every program is compiled for a device."""


@dataclasses.dataclass(frozen=True)
class Case:
    """A run: problem, its parameters, choices of `configure`, and stopping criteria."""

    seed: int
    problem: str
    parameters: dict[str, Any]
    choices: dict[str, str]
    stopping: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.seed}: {self.problem} {self.parameters} {self.choices} {self.stopping}"


class Outcome(NamedTuple):
    """What came of a case: the kind of a finding, or how the run ended, and what is to be read of it."""

    kind: str
    text: str
    result: Result | None = None


def draw(seed: int) -> Case:
    """The case of a seed."""
    rng = np.random.default_rng([30, seed])

    def pick(values: list[Any]) -> Any:
        return values[int(rng.integers(len(values)))]

    problem = pick([*TWO_PHASES, *TWO_PHASES, "poisson5", "poisson-2d"])
    ratio = float(10.0 ** pick([-9, -6, -3, -1, 0, 1, 3, 6, 9]))
    parameters = {
        "two-layer": {"n": pick([7, 13, 20]), "density_ratio": ratio},
        "bubbles-2d": {"n": pick([9, 13, 24]), "density_ratio": ratio, "count": pick([1, 4])},
        "bubbles-3d": {"n": pick([8, 9]), "density_ratio": ratio, "count": pick([1, 8])},
        "poisson5": {"n": pick([2, 5, 17])},
        "poisson-2d": {"n": pick([3, 9, 20]), "a": pick(["1", "where(x<0.5,1,1e6)"])},
    }[problem]
    if problem in ("bubbles-2d", "bubbles-3d", "poisson-2d"):
        parameters["sides"] = pick(["neumann", "dirichlet", "x-:dirichlet"])
    many = rng.random() < 0.2
    choices = {
        "solver": pick(BLOCK_SOLVERS if many else ["cg"] * 5 + SOLVERS),
        "preconditioner": pick(FIRST),
        "deflation": pick(SECOND),
        "coarse": pick(COARSE),
        "variant": pick(VARIANTS),
    }
    if not many and rng.random() < 0.04:
        choices = {"device": "opencl", **{name: pick(values) for name, values in ON_ACCELERATORS.items()}}
    if problem in TWO_PHASES and not many:
        choices["precision"] = pick(["float64", "float64", "float64", "mixed"])
    choices["rhs"] = "random:3" if many else pick(["problem", "ones", "random"])
    choices["x0"] = "zero" if many else pick(["problem", "zero", "zero", "random"])
    norm = "residual" if many else pick(["residual"] * 6 + ["preconditioned", "natural"])
    rtol = float(10.0 ** pick([-3, -6, -6, -6, -8, -10, -12]))
    return Case(seed, problem, parameters, choices, {"rtol": rtol, "norm": norm, "maxiter": MAXITER})


@functools.lru_cache(maxsize=256)
def _assembled(problem: str, parameters: tuple[tuple[str, Any], ...]) -> sparse.csr_array:
    """A in double precision."""
    return sparse.csr_array(configure(problem, dict(parameters)).problem.assemble(0).operator.to_csr())


def product(A: sparse.csr_array, X: np.ndarray) -> np.ndarray:
    """A X in extended precision, shape (N, s)."""
    rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    out = np.zeros(X.shape, np.longdouble)
    np.add.at(out, rows, A.data.astype(np.longdouble)[:, None] * X.astype(np.longdouble)[A.indices])
    return out


def lengths(X: np.ndarray) -> np.ndarray:
    """The norms of columns in extended precision."""
    return np.sqrt((X.astype(np.longdouble) ** 2).sum(axis=0))


def plain(A: sparse.csr_array, b: np.ndarray, rtol: float) -> bool:
    """Whether Jacobi-CG from zero, without anything else, meets the tolerance in extended precision."""
    inverse = 1 / A.diagonal()
    x, r = np.zeros_like(b), b.copy()
    p = inverse * r
    gamma, goal = r @ p, rtol * np.linalg.norm(b) / 2
    for _ in range(MAXITER):
        if np.linalg.norm(r) <= goal:
            return bool(lengths(b[:, None] - product(A, x[:, None]))[0] <= rtol * lengths(b[:, None])[0])
        s = A @ p
        curvature = p @ s
        if not curvature > 0:
            return False
        alpha = gamma / curvature
        x, r = x + alpha * p, r - alpha * s
        z = inverse * r
        previous, gamma = gamma, r @ z
        p = z + gamma / previous * p
    return False


class Failure(NamedTuple):
    """A run that has not converged. true: ||b_j - A x_j||/||b_j|| of the columns that failed; rounding: what rounding
    may change in it."""

    case: Case
    result: Result
    true: np.ndarray
    rounding: np.ndarray

    @property
    def solver(self) -> str:
        return self.case.choices["solver"]

    @property
    def contrast(self) -> float:
        """The larger coefficient over the smaller."""
        ratio = self.case.parameters.get("density_ratio", 1.0)
        return max(ratio, 1 / ratio)


class Explained(NamedTuple):
    """A condition under which a run may fail where plain Jacobi-CG from zero converges, and the reason."""

    condition: str
    holds: Callable[[Failure], bool]
    reason: str


RESTARTING = ("cg", "block-cg", "pseudo-block-cg", "bf-block-cg")
PIPELINED = ("gropp", "pipecg", "pipecg-rr", "pr-cg", "pipe-pr-cg")
EXPLAINED = (
    Explained(
        "limit of rounding",
        lambda failure: bool((failure.true <= 30 * failure.rounding).all()),
        "the residual is within 30 times the rounding errors of b - A x, and the tolerance is near them",
    ),
    Explained(
        "start far off",
        lambda failure: "x0 is too far off" in failure.result.detail,
        "rounding of b - A x0 exceeds the tolerance, as the run says; plain Jacobi-CG is given x0 = 0",
    ),
    Explained(
        "no first level",
        lambda failure: failure.case.choices["preconditioner"] == "none" and failure.case.problem != "poisson5",
        "the condition number of A has the contrast as a factor, which plain Jacobi-CG divides by the diagonal",
    ),
    Explained(
        "three-term",
        lambda failure: failure.solver == "cg3" and failure.result.reason is Reason.INACCURATE,
        "three-term recurrences have a residual gap that grows with ||x_k|| (Gutknecht and Strakos 2000)",
    ),
    Explained(
        "pipelined",
        lambda failure: failure.solver in PIPELINED,
        "recurrences for A p and M^-1 r accumulate rounding errors (Cools et al. 2018); the run advises cg",
    ),
    Explained(
        "inexact coarse solve",
        lambda failure: "the inexact coarse solve may be the cause" in failure.result.detail,
        "cycles that merge boxes across jumps leave half of some errors, and the run advises coarse solver sparse",
    ),
    Explained(
        "deflated, amplified rounding",
        lambda failure: (
            "deflation none" in failure.result.detail and (failure.solver not in RESTARTING or failure.contrast >= 1e9)
        ),
        "contrasts amplify rounding errors of a projected recurrence; only some methods begin again from the best x, "
        "which does not help at the largest contrast, and the run says that deflation none may be more accurate",
    ),
    Explained(
        "A-DEF1",
        lambda failure: failure.case.choices["variant"] == "a-def1" and failure.case.choices["deflation"] != "none",
        "M1 = M^-1 P + Q is not Hermitian, and CG does not converge with every M, as the variant's text says",
    ),
    Explained(
        "dependent residuals",
        lambda failure: failure.solver == "block-cg-oleary" and "dependent" in failure.result.detail,
        "O'Leary's form ends where residuals become dependent, and names block-cg",
    ),
)
"""The first that holds is taken."""


def examine(case: Case) -> Outcome:
    """Make the run of a case, and hold what it says to the truth."""
    try:
        A = _assembled(case.problem, tuple(case.parameters.items()))
        configuration = configure(case.problem, case.parameters, **case.choices, stopping=Stopping(**case.stopping))
        run = Run(configuration)
        B = _right_hand_sides(run)
        result = run_through(run)
    except InputError as refusal:
        return Outcome("refused", str(refusal))
    X, B = (np.asarray(values, float).reshape(A.shape[0], -1) for values in (result.x, B))
    of_b = lengths(B)
    if not of_b.all():
        return Outcome("b is zero", "")
    true = np.asarray(lengths(B - product(A, X)) / of_b, float)
    # What rounding may change in ||b - A x||/||b||.
    rounding = np.asarray(10 * EPS * lengths(product(abs(A), abs(X)) + abs(B)) / of_b, float)
    reasons = [column.reason for column in result.columns] or [result.reason]
    said = [column.true_relative_residual for column in result.columns] or [result.true_relative_residual]
    # What is said is for the b that was given, with the part to which the range of A is orthogonal.
    removed = _removed(run)
    of_given = np.asarray(np.hypot(true * of_b, removed) / np.hypot(of_b, removed), float)
    text = f"{[reason.name for reason in reasons]} at {result.iterations}, said {said}, true {true}: {result.detail}"
    rtol, by_residual = case.stopping["rtol"], case.stopping["norm"] == "residual"
    for j, reason in enumerate(reasons):
        # The diagonal of this A is rounded, while a run with two phases sums differences.
        slack = rounding[j] / 10 if case.problem in TWO_PHASES else 0.0
        if reason.converged and by_residual and max(true[j] - slack, 0 if removed[j] else said[j]) > SLACK * rtol:
            return Outcome(FALSE, text, result)
        if reason in (Reason.INDEFINITE, Reason.INDEFINITE_M):
            return Outcome(BLAMED, text, result)
        if not true[j] <= 1 + rounding[j] and not (reason.converged and not by_residual):
            return Outcome(WORSE, text, result)
        if not abs(of_given[j] - said[j]) <= 0.1 * of_given[j] + rounding[j]:
            return Outcome(SAID, text, result)
    if all(reason.converged for reason in reasons):
        return Outcome("converged", text, result)
    failed = [j for j, reason in enumerate(reasons) if not reason.converged]
    if not all(plain(A, B[:, j], rtol) for j in failed):
        return Outcome("as hard for plain Jacobi-CG", text, result)
    failure = Failure(case, result, true[failed], rounding[failed])
    for why in EXPLAINED:
        if why.holds(failure):
            return Outcome(why.condition, text, result)
    return Outcome(UNEXPLAINED, text, result)


def _right_hand_sides(run: Any) -> np.ndarray:
    """b or B as the run takes it, with zero mean where A maps constants to zero."""
    setup = run.setup
    if setup.sides:
        return unscaled(setup.sides.B, setup.sides.exponents)
    return np.ldexp(setup.device.to_host(setup.b), setup.exponent)


def _removed(run: Any) -> np.ndarray:
    """The norm of what was removed from each column of B for that."""
    if sides := run.setup.sides:
        return np.ldexp(sides.removed, sides.exponents)
    return np.atleast_1d(np.ldexp(run.setup.removed, run.setup.exponent))


def main() -> int:
    """Search, and print findings as they come, and a count of each outcome."""
    parser = argparse.ArgumentParser(description="random runs, recomputed in extended precision")
    parser.add_argument("seeds", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--verbose", action="store_true", help="print every outcome but refusals")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    counted: collections.Counter[str] = collections.Counter()
    for seed in range(asked.first, asked.first + asked.seeds):
        case, begun = draw(seed), time.perf_counter()
        outcome = examine(case)
        counted[outcome.kind] += 1
        if outcome.kind in (FALSE, BLAMED, WORSE, SAID, UNEXPLAINED) or (
            asked.verbose and outcome.kind not in ("refused", "converged")
        ):
            print(f"{outcome.kind} {case}\n    {outcome.text} ({time.perf_counter() - begun:.1f} s)", flush=True)
    print(dict(counted))
    return int(any(counted[kind] for kind in (FALSE, BLAMED, WORSE, SAID, UNEXPLAINED)))


if __name__ == "__main__":
    sys.exit(main())
