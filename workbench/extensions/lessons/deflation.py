"""Exercises of lesson 5: tiny eigenvalues of bubbles, and deflation vectors that remove them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.extensions.lessons.exercise import Choice, Exercise, Number, Text, Verdict
from workbench.extensions.lessons.solved import solved
from workbench.problems import LinearSystem
from workbench.run import Configuration, Run, configure, prepare
from workbench.spectra.exact import spectrum
from workbench.words.numbers import number

TINY = 1e-3
MOST = 16
STRIPES = "stripes"
NEAR = 0.05
"""Share of the right number of iterations by which an answer may be off, since rounding changes that number."""
GRIDS = tuple(f"levelset:{k}" for k in (2, 4, 8, 16, 24))


def _bubbles(n: int, count: int, deflation: str = "none", coarse: str = "auto") -> Configuration:
    return configure("bubbles-2d", n=n, layout="random", count=count, deflation=deflation, coarse=coarse)


def _tiny(count: int) -> Verdict:
    """As many tiny eigenvalues as bubbles, less the one that the walls make zero."""
    values = spectrum(_bubbles(24, 5))
    positive = values[values > 1e-10 * values[-1]]
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
    """By the vectors of the deflation that is written, and by solves with it and with stripes."""
    name = text.strip()
    vectors = Run(_bubbles(48, 9, name)).setup.deflation_vectors
    if vectors > MOST:
        return Verdict(False, f"{name} has {vectors} vectors here, and at most {MOST} are allowed.")
    theirs, stripes = (solved(_bubbles(48, 9, each)) for each in (name, STRIPES))
    said = f"with {vectors} vectors of {name} CG takes {theirs.iterations} iterations"
    if not theirs.result.converged:
        return Verdict(False, f"{said} and does not converge: {theirs.result.reason.sentence}")
    than = f"with {stripes.vectors} of {STRIPES} {stripes.iterations}"
    return Verdict(theirs.iterations < stripes.iterations, f"{said}, {than}.")


def _fewest_bytes(name: str) -> Verdict:
    """More vectors save iterations, and E^-1 costs their number squared in each."""
    found = {each: solved(_bubbles(64, 9, each, "inverse")) for each in GRIDS}
    best, second = sorted(found, key=lambda each: found[each].moved)[:2]
    said = f"{name}, with {found[name].vectors} vectors, moves {found[name].words}"
    if name == best:
        return Verdict(True, f"{said}; the next best, {second}, moves {found[second].words}.")
    way = "more" if found[best].vectors > found[name].vectors else "fewer"
    return Verdict(False, f"{said}; one with {way} vectors moves {found[best].words}.")


class Risen(NamedTuple):
    """system: after the bubbles have risen by a cell, with the b of before. was: the number of the bubble of each cell
    before, 0 outside, shape (N,). last: the solution before."""

    system: LinearSystem
    was: np.ndarray
    last: np.ndarray


def risen() -> Risen:
    """Five bubbles on 48 x 48 cells that rise by one cell.

    Examples:
        >>> from workbench.extensions.lessons.deflation import risen
        >>> sorted(set(risen().was.tolist()))
        [0, 1, 2, 3, 4, 5]
    """
    prepared = prepare(_bubbles(48, 5, "levelset:4"))
    grid, was = prepared.system.grid, prepared.system.phase
    assert grid is not None
    assert was is not None
    last = prepared.solve(prepared.system.b).x
    prepared.update(np.roll(was.reshape(grid), 1, axis=0))
    return Risen(prepared.system, was.astype(np.int64), last)


def _kept(count: int) -> Verdict:
    """Z of bubbles that have moved by a cell since."""
    system, was, _ = risen()
    without, renewed, kept = (
        prepare(system, M="neumann:2", deflation=space).solve(system.b).iterations
        for space in ("none", "levelset:0", was)
    )
    said = f"without vectors it takes {without}, with those of the bubbles where they are {renewed}"
    if abs(count - kept) > NEAR * kept:
        return Verdict(
            False, f"{said}; with those of where they were it takes {'more' if count < kept else 'less'} than {count}."
        )
    return Verdict(True, f"it takes {kept}; {said}.")


EXERCISES = (
    Exercise(
        "Five bubbles on 24 × 24 cells, bubbles-2d with layout=random, and all sides are walls. How many eigenvalues "
        "of M⁻¹A with Jacobi are positive and below 0.001?",
        Number(0, 575, whole=True),
        _tiny,
    ),
    Exercise(
        f"Nine bubbles on 48 × 48 cells. Write a deflation with at most {MOST} vectors that needs fewer iterations "
        f"than {STRIPES}, which has 96.",
        Text("blocks:4"),
        _few_vectors,
    ),
    Exercise(
        "Nine bubbles on 64 × 64 cells; E⁻¹ is stored as a dense matrix (coarse=inverse). Which of these reads and "
        "writes the fewest bytes in all its iterations, the setup not counted?",
        Choice(GRIDS),
        _fewest_bytes,
    ),
    Exercise(
        "The five bubbles have risen by one cell. Z still has a vector for each bubble where it was, and one for the "
        "fluid around them. How many iterations does CG with neumann:2 take from zero?",
        Number(1, 1000, whole=True),
        _kept,
    ),
)
