"""Exercises of lesson 7: the rank of block CG, what a block finds together, and one direction for each box."""

from __future__ import annotations

import functools

import numpy as np

from workbench.extensions.lessons.exercise import Exercise, Number, Text, Verdict
from workbench.preconditioners.schwarz.schwarz import Schwarz
from workbench.records import BlockHistory
from workbench.registry import find
from workbench.run import Configuration, Run, configure, run_through, solve
from workbench.spectra.exact import spectrum
from workbench.words.numbers import number

OUTLIER = 1000.0
MOST = 16


def _rank(answer: int) -> Verdict:
    """The rank of B, which the search directions keep."""
    system = configure("poisson5", n=16).problem.assemble(0)
    b = np.random.default_rng(0).standard_normal((3, system.operator.shape[0]))
    B = np.stack([b[0], b[1], b[0] + b[1], 2 * b[0] - b[1], b[2], b[2]], axis=1)
    values = np.linalg.svd(B, compute_uv=False)
    history = solve(system.operator, B, solver="block-cg").history
    assert isinstance(history, BlockHistory)
    rank = int(history.rank.max())
    shares = [number(value) for value in (values / values[0]).tolist()]
    if answer > rank:
        return Verdict(False, f"singular value number {answer} of B is {shares[answer - 1]} of the largest.")
    if answer < rank:
        more = f"{shares[answer]} of the largest, which is another direction"
        return Verdict(False, f"singular value number {answer + 1} of B is {more}.")
    said = f"block CG searched with {rank}, since the singular values of B, over the largest, are {', '.join(shares)}"
    return Verdict(True, f"{said}.")


@functools.lru_cache(maxsize=4)
def _eigenvalues(chosen: Configuration) -> np.ndarray:
    return spectrum(chosen)


@functools.lru_cache(maxsize=2 * MOST)
def _block_iterations(chosen: Configuration, columns: int) -> int:
    return run_through(Run(configure(chosen.problem, solver="block-cg", rhs=f"random:{columns}"))).iterations


def _seen(s: int) -> Verdict:
    """kappa_s = lambda_N / lambda_s, with the s-th smallest positive eigenvalue."""
    chosen = configure("bubbles-2d", n=24)
    values = _eigenvalues(chosen)
    positive = values[values > 1e-10 * values[-1]]
    kappas = positive[-1] / positive
    least = int(np.argmax(kappas < OUTLIER)) + 1
    columns = min(s, MOST)
    iterations = _block_iterations(chosen, columns)

    def at(count: int) -> str:
        return f"for s = {count} it is {number(kappas[count - 1])}"

    said = at(s)
    if s >= least:
        said += f", and {'already ' if s > least else ''}{at(s - 1)}"
    return Verdict(s == least, f"{said}; block CG took {iterations} iterations for s = {columns}.")


def _boxes(text: str) -> Verdict:
    """By both methods with the boxes that are written."""
    name = text.strip()
    if not isinstance(find("preconditioner", name), Schwarz):
        return Verdict(False, f"{name} is no preconditioner schwarz, which has boxes.")
    chosen = [configure("two-layer", n=24, solver=each, preconditioner=name) for each in ("mpcg", "sum-cg")]
    runs = [Run(each) for each in chosen]
    boxes = len(runs[0].workspace.operators["D"].pieces)
    if boxes > MOST:
        return Verdict(False, f"{name} has {boxes} boxes, and at most {MOST} are allowed.")
    together, summed = (run_through(each).iterations for each in runs)
    directions = sum(step.directions for step in runs[0].history.steps)
    share = number(together / summed)
    said = f"with {boxes} boxes mpcg takes {together} iterations and sum-cg {summed}, a share of {share}"
    cost = f"mpcg kept {directions} directions for it, and sum-cg one at a time"
    return Verdict(2 * together <= summed, f"{said}; {cost}.")


EXERCISES = (
    Exercise(
        "B has six columns, made from three independent random ones: b₁, b₂, b₁ + b₂, 2b₁ − b₂, b₃ and b₃ again. With "
        "how many directions does block CG search?",
        Number(1, 6, whole=True),
        _rank,
    ),
    Exercise(
        "Four bubbles on 24 × 24 cells, all sides walls, M Jacobi. From how many right-hand sides s on is the "
        "condition number of O'Leary's bound below 1000?",
        Number(1, 100, whole=True),
        _seen,
    ),
    Exercise(
        "Two layers on 24 × 24 cells. Write boxes, at most 16, with which mpcg takes at most half the iterations of "
        "sum-cg.",
        Text("schwarz:2x2,overlap=2"),
        _boxes,
    ),
)
