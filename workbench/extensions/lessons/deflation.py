"""Exercises of lesson 5: tiny eigenvalues of bubbles, and deflation vectors that remove them."""

from __future__ import annotations

import functools
import math

import numpy as np

from workbench.errors import InputError, quoted
from workbench.extensions.lessons.bubbles import problem, square_quotient
from workbench.extensions.lessons.check_turn import computed
from workbench.extensions.lessons.exercise import Choice, Exercise, Number, Text, Verdict
from workbench.extensions.lessons.next_step import NextStep, waiting_race
from workbench.extensions.lessons.solved import solved
from workbench.run import Configuration, Run, configure
from workbench.spectra.exact import spectrum
from workbench.words.numbers import counted, number

SIDE = 4
"""Cells along a side of the square bubble of the first exercise."""
QUOTIENT_TOLERANCE = 0.02
TINY = 1e-3
"""Eigenvalues of M^-1 A below this are tiny. Light bubbles in a fluid a thousand times as dense cause them."""
MOST_VECTORS = 16
STRIPES = "stripes"
FAMILIES = (STRIPES, "blocks", "levelset")
"""Deflations of the lesson, without their numbers."""
LEVEL_SETS = tuple(f"levelset:{k}" for k in (2, 4, 8, 16, 24))
"""Deflation with k x k boxes, which are cut at the bubbles."""
ZERO = 1e-10
"""Eigenvalues below this share of the largest are zero up to rounding."""


def _nine(deflation: str = "none") -> Configuration:
    """Nine bubbles on 48 x 48 cells, with a dense inverse of E: the system of the race."""
    coarse = "auto" if deflation == "none" else "inverse"
    return configure("bubbles-2d", n=48, layout="random", count=9, deflation=deflation, coarse=coarse)


def _quotient(answer: float) -> Verdict:
    """Right within 2% of the quotient that the faces give, which the rounded costs of the text meet."""
    found = square_quotient(SIDE)
    faces, inner = len(found.cost), round(found.inner)
    said = (
        f"the rim has {faces} faces, so (v, Av) = {number(found.curvature)}; the {inner} faces between its cells count "
        f"twice and the rim once, so (v, Dv) = {number(found.diagonal)}"
    )
    if math.isclose(answer, found.quotient, rel_tol=QUOTIENT_TOLERANCE):
        return Verdict(True, f"{said}, and the quotient is {number(found.quotient)}.")
    all_light = found.curvature / (4 * SIDE**2)
    known = {
        all_light: "a cell at the rim has faces that cost 0.002; they count in D with that.",
        found.curvature: "this is (v, Av) alone; divide it by (v, Dv).",
        found.curvature / found.inner: "D has each face between two cells of the bubble twice, once for each of them.",
    }
    hint = next((each for value, each in known.items() if math.isclose(answer, value, rel_tol=0.02)), "")
    return Verdict(False, f"{said}; {number(answer)} is not their quotient.", hint)


@functools.cache
@computed
def _eigenvalues(sides: str) -> np.ndarray:
    """Those of nine bubbles in three rows on 24 x 24 cells."""
    return spectrum(configure("bubbles-2d", n=24, count=9, sides=sides))


def _tiny(answer: int) -> Verdict:
    """Right for the number of tiny eigenvalues: that of the bubbles, since a fixed pressure leaves no zero."""
    values, closed = (_eigenvalues(sides) for sides in ("y+:dirichlet", "neumann"))
    tiny = int((values < TINY).sum())
    if answer == tiny:
        said = f"from {number(values[0])} to {number(values[tiny - 1])}; then comes {number(values[tiny])}"
        return Verdict(True, f"they reach {said}. With walls on all sides the smallest is {_or_zero(closed)}.")
    place = min(max(answer, 1), values.size - 1) if answer > tiny else answer + 1
    which = f"eigenvalue number {place} is {number(values[place - 1])}"
    return Verdict(False, f"{which}, which is {'not below 0.001' if answer > tiny else 'below 0.001 as well'}.")


def _or_zero(values: np.ndarray) -> str:
    return "zero up to rounding" if abs(values[0]) < ZERO * values[-1] else number(values[0])


@computed
def _vectors(deflation: str) -> int:
    return Run(_nine(deflation)).setup.deflation_vectors


def _few_vectors(text: str) -> Verdict:
    """Right if CG takes fewer iterations with the deflation than with stripes, and it has at most `MOST_VECTORS`."""
    name = text.strip()
    if name.partition(":")[0] not in FAMILIES:
        raise InputError(f"write stripes, blocks:k or levelset:k, with a number as k, and not {quoted(name)}")
    vectors = _vectors(name)
    if vectors > MOST_VECTORS:
        said = f"{name} has {vectors} vectors here, and at most {MOST_VECTORS} are allowed."
        return Verdict(False, said, said)
    answered, stripes = (solved(_nine(each)) for each in (name, STRIPES))
    sentence = f"with {counted(vectors, 'vector')} of {name} CG takes {counted(answered.iterations, 'iteration')}"
    if not answered.result.converged:
        return Verdict(False, f"{sentence} and does not converge: {answered.result.reason.sentence}")
    compared = f"with the {stripes.vectors} of {STRIPES} {stripes.iterations}"
    return Verdict(answered.iterations < stripes.iterations, f"{sentence}, {compared}.")


def _fewest_bytes(name: str) -> Verdict:
    """Right for the deflation whose solve moves the fewest bytes.

    More vectors save iterations, but E^-1 moves as many entries in each iteration as their number squared.
    """
    solves = {each: solved(_nine(each)) for each in LEVEL_SETS}
    best, second = sorted(solves, key=lambda each: solves[each].moved)[:2]
    sentence = f"{name}, with {solves[name].vectors} vectors, moves {solves[name].words}"
    if name == best:
        return Verdict(True, f"{sentence}; the next best, {second}, moves {solves[second].words}.")
    more = solves[best].vectors > solves[name].vectors
    hint = "an iteration is cheap here, but there are many of them." if more else "few iterations, but each reads E⁻¹."
    return Verdict(False, f"{sentence}; one with {'more' if more else 'fewer'} vectors moves less.", hint)


EXERCISES = (
    Exercise(
        f"A square bubble of {SIDE} × {SIDE} cells, alone in the fluid. Let v be 1 in it and 0 elsewhere. What is "
        "(v, Av) / (v, Dv)? Count faces.",
        Number(0, 10),
        _quotient,
        "count the faces around the square, and those between its cells; what does each cost?",
    ),
    Exercise(
        "Nine bubbles in three rows; the pressure is fixed at the upper side, and the other sides are walls. How many "
        "eigenvalues of M⁻¹A are below 0.001, M being Jacobi?",
        Number(0, 575, whole=True),
        _tiny,
        "nine vectors give nine small quotients. With walls on all sides a constant costs nothing; what does it cost "
        "here?",
    ),
    Exercise(
        f"The nine bubbles of the race. Write a deflation with at most {MOST_VECTORS} vectors with which CG takes "
        f"fewer iterations than with {STRIPES}, which have 96.",
        Text("blocks:4"),
        _few_vectors,
        "a part that lies in a bubble and in the fluid has a rim inside the bubble, whose faces cost 1.",
    ),
    Exercise(
        "The same bubbles. With which of these do all iterations together read and write the fewest bytes, the setup "
        "not counted?",
        Choice(LEVEL_SETS),
        _fewest_bytes,
        "compare the products of iterations and bytes of an iteration.",
    ),
)

NEXT_STEPS = (
    NextStep(
        "Fifty bubbles and a sparse factor of E, with levelset:8, levelset:16 and levelset:32: more vectors pay.",
        "compare.race",
        race=lambda: waiting_race(
            "bytes",
            *(
                configure("bubbles-2d", n=128, layout="random", count=50, deflation=name, coarse="sparse")
                for name in ("levelset:8", "levelset:16", "levelset:32")
            ),
        ),
    ),
    NextStep(
        "No bubbles, density ratio 1: which of the vectors still help?",
        "compare.race",
        race=lambda: waiting_race(
            "iterations",
            *(
                configure("bubbles-2d", n=64, density_ratio=1.0, deflation=name)
                for name in ("none", "levelset:0", "levelset:4", "levelset:8")
            ),
        ),
    ),
    NextStep(
        "Bubbles that rise: Z is renewed in each time step, where cells change.",
        "flow.flow",
    ),
    NextStep(
        "Deflated CG line by line, with five bubbles on a grid of 16 × 16 cells.",
        "learn.step",
        lambda: configure(problem(), deflation="levelset:0"),
    ),
)
"""Where the lesson leads: problems and views of the workbench."""
