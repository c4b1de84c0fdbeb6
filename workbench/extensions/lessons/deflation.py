"""Exercises of lesson 5: tiny eigenvalues of bubbles, and deflation vectors that remove them."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from workbench.extensions.lessons.exercise import Choice, Exercise, Number, Text, Verdict
from workbench.extensions.lessons.solved import solved
from workbench.problems import LinearSystem
from workbench.run import Configuration, Run, configure, prepare
from workbench.spectra.exact import spectrum
from workbench.words.numbers import number

TINY = 1e-3
"""Eigenvalues of M^-1 A below this are tiny. Light bubbles in a fluid a thousand times as dense cause them."""
MOST_VECTORS = 16
STRIPES = "stripes"
ITERATIONS_TOLERANCE = 0.05
"""Share of the right number of iterations by which an answer may be off, since rounding changes that number."""
LEVEL_SETS = tuple(f"levelset:{k}" for k in (2, 4, 8, 16, 24))
"""Deflation with k x k boxes, which are cut at the bubbles."""
ZERO = 1e-10
"""Eigenvalues below this share of the largest are zero up to rounding."""


def _bubbles(n: int, count: int, deflation: str = "none", coarse: str = "auto") -> Configuration:
    """The system of `count` bubbles on n x n cells."""
    return configure("bubbles-2d", n=n, layout="random", count=count, deflation=deflation, coarse=coarse)


@functools.cache
def _eigenvalues() -> np.ndarray:
    """Those of five bubbles on 24 x 24 cells."""
    return spectrum(_bubbles(24, 5))


def _tiny(count: int) -> Verdict:
    """Right for the number of tiny eigenvalues: as many as bubbles, since the walls make one more zero."""
    values = _eigenvalues()
    positive = values[values > ZERO * values[-1]]
    tiny = int((positive < TINY).sum())
    if count > tiny:
        return Verdict(False, f"positive eigenvalue number {count} is {number(positive[count - 1])}.")
    if count < tiny:
        return Verdict(
            False, f"positive eigenvalue number {count + 1} is {number(positive[count])}, which is below too."
        )
    listed, zeros = ", ".join(map(number, positive[:tiny].tolist())), values.size - positive.size
    return Verdict(True, f"they are {listed}; then comes {number(positive[tiny])}, and {zeros} is zero up to rounding.")


def _few_vectors(text: str) -> Verdict:
    """Right if CG takes fewer iterations with the deflation than with stripes, and it has at most `MOST_VECTORS`."""
    name = text.strip()
    vectors = Run(_bubbles(48, 9, name)).setup.deflation_vectors
    if vectors > MOST_VECTORS:
        return Verdict(False, f"{name} has {vectors} vectors here, and at most {MOST_VECTORS} are allowed.")
    answered, stripes = (solved(_bubbles(48, 9, each)) for each in (name, STRIPES))
    sentence = f"with {vectors} vectors of {name} CG takes {answered.iterations} iterations"
    if not answered.result.converged:
        return Verdict(False, f"{sentence} and does not converge: {answered.result.reason.sentence}")
    compared = f"with {stripes.vectors} of {STRIPES} {stripes.iterations}"
    return Verdict(answered.iterations < stripes.iterations, f"{sentence}, {compared}.")


def _fewest_bytes(name: str) -> Verdict:
    """Right for the deflation whose solve moves the fewest bytes.

    More vectors save iterations, but E^-1 moves as many entries in each iteration as their number squared.
    """
    solves = {each: solved(_bubbles(64, 9, each, "inverse")) for each in LEVEL_SETS}
    best, second = sorted(solves, key=lambda each: solves[each].moved)[:2]
    sentence = f"{name}, with {solves[name].vectors} vectors, moves {solves[name].words}"
    if name == best:
        return Verdict(True, f"{sentence}; the next best, {second}, moves {solves[second].words}.")
    comparison = "more" if solves[best].vectors > solves[name].vectors else "fewer"
    return Verdict(False, f"{sentence}; one with {comparison} vectors moves {solves[best].words}.")


class RisenBubbles(NamedTuple):
    """Bubbles that have risen by a cell.

    system: with the bubbles in their present cells, and the former b. former_labels: the number of the bubble that each
    cell was in, 0 outside, shape (N,). former_x: the solution of the former system.
    """

    system: LinearSystem
    former_labels: np.ndarray
    former_x: np.ndarray


def risen() -> RisenBubbles:
    """Five bubbles on 48 x 48 cells that rise by one cell.

    Examples:
        >>> from workbench.extensions.lessons.deflation import risen
        >>> sorted(set(risen().former_labels.tolist()))
        [0, 1, 2, 3, 4, 5]
    """
    prepared = prepare(_bubbles(48, 5, "levelset:4"))
    grid, former_labels = prepared.system.grid, prepared.system.phase
    assert grid is not None
    assert former_labels is not None
    former_x = prepared.solve(prepared.system.b).x
    prepared.update(np.roll(former_labels.reshape(grid), 1, axis=0))
    return RisenBubbles(prepared.system, former_labels.astype(np.int64), former_x)


@functools.cache
def _after_rising() -> tuple[int, ...]:
    """Iterations without vectors, with those of the bubbles' present places, and with those of their former ones."""
    system, former_labels, _ = risen()
    spaces = ("none", "levelset:0", former_labels)
    return tuple(prepare(system, M="neumann:2", deflation=each).solve(system.b).iterations for each in spaces)


def _former_vectors(count: int) -> Verdict:
    """Right for the iterations with vectors of the former places of bubbles, within `ITERATIONS_TOLERANCE`."""
    without, renewed, former = _after_rising()
    sentence = f"without vectors it takes {without}, with those of the bubbles where they are {renewed}"
    if abs(count - former) > ITERATIONS_TOLERANCE * former:
        comparison = "more" if count < former else "less"
        return Verdict(False, f"{sentence}; with those of where they were it takes {comparison} than {count}.")
    return Verdict(True, f"it takes {former}; {sentence}.")


EXERCISES = (
    Exercise(
        "Five bubbles on 24 × 24 cells, bubbles-2d with layout=random, and all sides are walls. How many eigenvalues "
        "of M⁻¹A with Jacobi are positive and below 0.001?",
        Number(0, 575, whole=True),
        _tiny,
    ),
    Exercise(
        f"Nine bubbles on 48 × 48 cells. Write a deflation with at most {MOST_VECTORS} vectors that needs fewer "
        f"iterations than {STRIPES}, which has 96.",
        Text("blocks:4"),
        _few_vectors,
    ),
    Exercise(
        "Nine bubbles on 64 × 64 cells; E⁻¹ is stored as a dense matrix (coarse=inverse). Which of these reads and "
        "writes the fewest bytes in all its iterations, the setup not counted?",
        Choice(LEVEL_SETS),
        _fewest_bytes,
    ),
    Exercise(
        "The five bubbles have risen by one cell. Z still has a vector for each bubble where it was, and one for the "
        "fluid around them. How many iterations does CG with neumann:2 take from zero?",
        Number(1, 1000, whole=True),
        _former_vectors,
    ),
)
