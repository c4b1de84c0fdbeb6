"""Exercises of lesson 7: end and rank of block CG, what a block finds together, and a direction for each box."""

from __future__ import annotations

import functools
import re

import numpy as np

from workbench.errors import InputError
from workbench.extensions.lessons.bubbles import MOST_COLUMNS
from workbench.extensions.lessons.check_turn import computed
from workbench.extensions.lessons.exercise import Exercise, Number, Text, Verdict
from workbench.extensions.lessons.next_step import NextStep, waiting_race
from workbench.preconditioners.schwarz.schwarz import Schwarz
from workbench.records import BlockHistory
from workbench.registry import Block, find
from workbench.run import Configuration, Run, configure, run_through, solve
from workbench.spectra.exact import spectrum
from workbench.words.numbers import counted, number, percent

SIZE, COLUMNS = 12, 3
"""The first exercise: unknowns, each with an eigenvalue of its own, and columns of B."""
OUTLIER = 1000.0
MOST_BOXES = 16


@functools.cache
@computed
def _residuals() -> np.ndarray:
    """The largest relative residual after each iteration of block CG on the system of the first exercise."""
    B = np.random.default_rng(0).standard_normal((SIZE, COLUMNS))
    A = np.diag(np.arange(1.0, SIZE + 1))
    history = solve(A, B, M=None, solver="block-cg", rtol=1e-10).history
    assert isinstance(history, BlockHistory)
    return np.nanmax(history.columns, axis=1)


def _last_iteration(answer: int) -> Verdict:
    """Right for N / s: each iteration adds s directions, and N fill the space."""
    residuals = _residuals()
    last = SIZE // COLUMNS
    directions = f"after {counted(answer, 'iteration')} there are {COLUMNS * answer} directions"
    if answer < last:
        return Verdict(False, f"{directions}, and the largest residual is still {number(float(residuals[answer]))}.")
    if answer > last:
        before = f"after {last} there are {SIZE} already, and the largest residual is {number(float(residuals[last]))}"
        return Verdict(False, f"{before}.")
    one_less = number(float(residuals[last - 1]))
    return Verdict(True, f"{directions}, and the largest residual falls from {one_less} to {_small(residuals[last])}.")


def _small(value: float) -> str:
    return "rounding" if value < 1e-10 else number(float(value))


@functools.cache
@computed
def _singular_values() -> tuple[np.ndarray, int]:
    """Singular values of B of the second exercise, and the directions with which block CG searches."""
    system = configure("poisson5", n=16).problem.assemble(0)
    b = np.random.default_rng(0).standard_normal((3, system.operator.shape[0]))
    B = np.stack([b[0], b[1], b[0] + b[1], 2 * b[0] - b[1], b[2], b[2]], axis=1)
    history = solve(system.operator, B, solver="block-cg").history
    assert isinstance(history, BlockHistory)
    return np.linalg.svd(B, compute_uv=False), int(history.rank.max())


def _rank(answer: int) -> Verdict:
    """The rank of B, which the search directions keep."""
    values, rank = _singular_values()
    shares = [number(value) for value in (values / values[0]).tolist()]
    if answer > rank:
        return Verdict(
            False,
            f"singular value number {answer} of B is {shares[answer - 1]} of the largest: no direction.",
            "write down which columns are combinations of those before them.",
        )
    if answer < rank:
        return Verdict(
            False,
            f"singular value number {answer + 1} of B is {shares[answer]} of the largest, which is another direction.",
            "are there columns that no combination of your others makes?",
        )
    return Verdict(
        True,
        f"block CG searched with {rank} in each iteration: B has {rank} singular values that are not rounding.",
    )


@functools.cache
@computed
def _eigenvalues() -> np.ndarray:
    """The positive eigenvalues of four bubbles, ascending."""
    values = spectrum(configure("bubbles-2d", n=24))
    return values[values > 1e-10 * values[-1]]


@functools.lru_cache(maxsize=MOST_COLUMNS)
@computed
def _block_iterations(columns: int) -> int:
    chosen = configure("bubbles-2d", n=24, solver="block-cg", rhs=f"random:{columns}")
    return run_through(Run(chosen)).iterations


def _seen(s: int) -> Verdict:
    """kappa_s = lambda_N / lambda_s, with the s-th smallest positive eigenvalue."""
    values = _eigenvalues()
    kappas = values[-1] / values
    least = int(np.argmax(kappas < OUTLIER)) + 1
    said = f"for s = {s} it is {number(kappas[s - 1])}"
    if s > least:
        said += f", and for s = {s - 1} already {number(kappas[s - 2])}"
    elif s == least:
        said += f", and for s = {s - 1} {number(kappas[s - 2])}"
    took = f"block CG took {counted(_block_iterations(s), 'iteration')} for s = {s}"
    return Verdict(s == least, f"{said}; {took}.")


def _layers(solver: str, boxes: str) -> Configuration:
    """The system of the race."""
    return configure("two-layer", n=48, solver=solver, preconditioner=boxes)


@functools.lru_cache(maxsize=32)
@computed
def _iterations(solver: str, boxes: str) -> tuple[int, int]:
    """Iterations, and the directions of all together."""
    found = run_through(Run(_layers(solver, boxes)))
    return found.iterations, sum(step.directions for step in found.history.steps)


@computed
def _count_boxes(boxes: str) -> int:
    return len(Run(_layers("mpcg", boxes)).workspace.operators["D"].pieces)


def _preconditioner(name: str) -> Block:
    """The preconditioner of a name. Raises InputError, which says how boxes are written where the name has none."""
    try:
        return find("preconditioner", name)
    except InputError:
        if name.startswith("schwarz"):
            raise
        raise InputError("boxes are written by their numbers along both sides, such as schwarz:3x3,overlap=1") from None


def _boxes(text: str) -> Verdict:
    """By both methods with the boxes that are written."""
    name = text.strip().replace("×", "x").replace(" ", "")
    if written := BOXES.fullmatch(name.lower()):
        name = f"schwarz:{written[1]},overlap={written[2]}" if written[2] else f"schwarz:{written[1]}"
    if not isinstance(_preconditioner(name), Schwarz):
        said = f"{name} has no boxes; write schwarz: and how many there are along both sides, such as schwarz:3x3."
        return Verdict(False, said, said)
    boxes = _count_boxes(name)
    if boxes > MOST_BOXES:
        said = f"{name} has {boxes} boxes, and at most {MOST_BOXES} are allowed."
        return Verdict(False, said, said)
    (together, directions), (summed, _) = (_iterations(solver, name) for solver in ("mpcg", "sum-cg"))
    said = f"with {counted(boxes, 'box', 'boxes')} mpcg takes {counted(together, 'iteration')} and sum-cg {summed}"
    cost = f"directions that mpcg keeps for it: {directions}"
    return Verdict(2 * together <= summed, f"{said}, which is {percent(together / summed)}; {cost}.")


BOXES = re.compile(r"(?:schwarz:?)?(\d+(?:x\d+)*)(?:[,(]*(?:overlap=?)?(\d+)\)?)?")
"""Boxes as the command line writes them, as the race does, Schwarz 4 × 4 (overlap 0), or by their numbers alone."""

EXERCISES = (
    Exercise(
        f"A has {SIZE} rows and {SIZE} different eigenvalues; B has {COLUMNS} random columns. After how many "
        "iterations has block CG found X, without rounding errors?",
        Number(0, SIZE, whole=True),
        _last_iteration,
        f"each iteration adds {COLUMNS} directions to the search space; how many fill it?",
    ),
    Exercise(
        "B has six columns, made from three independent random ones: b₁, b₂, b₁ + b₂, 2b₁ − b₂, b₃ and b₃ again. With "
        "how many directions does block CG search in each iteration?",
        Number(1, 6, whole=True),
        _rank,
    ),
    Exercise(
        "Four bubbles, all sides walls, M Jacobi. From how many right-hand sides s on is the condition number of "
        "O'Leary's bound below 1000?",
        Number(1, MOST_COLUMNS, whole=True),
        _seen,
        "s − 1 of the tiny eigenvalues are taken away; how many positive ones do four bubbles give?",
    ),
    Exercise(
        f"The layers of the race. Write boxes, at most {MOST_BOXES}, with which mpcg takes at most half the iterations "
        "of sum-cg: their number along both sides, and by how many cells they overlap.",
        Text("schwarz:2x2,overlap=2"),
        _boxes,
        "compare both pairs of the race: with which overlap is a common weight worse? Then take more boxes.",
    ),
)

NEXT_STEPS = (
    NextStep(
        "Chen's Table 3, N = 200 to 500: the time of mpcg by the number of boxes, printed and computed here.",
        "papers.papers:mpcg",
    ),
    NextStep(
        "Multipreconditioned CG line by line: Z has the newest terms, P the directions of all.",
        "learn.step",
        lambda: configure("two-layer", n=16, solver="mpcg", preconditioner="schwarz:2x2,overlap=2"),
    ),
    NextStep(
        "A new block that is made orthogonal to the last one only (mpcg:keep=1): what does that cost?",
        "compare.race",
        race=lambda: waiting_race(
            "iterations",
            *(
                configure("two-layer", n=48, solver=name, preconditioner="schwarz:3x3,overlap=0")
                for name in ("mpcg", "mpcg:keep=1")
            ),
        ),
    ),
    NextStep(
        "Eight columns that nearly depend on one another: see Rank and pivots below the run.",
        "solve.solve",
        lambda: configure("poisson5", n=45, solver="block-cg", rhs="near:8"),
    ),
)
"""Where the lesson leads: problems and views of the workbench."""
