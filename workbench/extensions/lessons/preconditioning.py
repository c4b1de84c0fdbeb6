"""Exercises of lesson 4: preconditioners on two fluid layers, by condition number, bytes and time."""

from __future__ import annotations

import functools
import math
import statistics

from workbench.extensions.lessons.check_turn import computed
from workbench.extensions.lessons.exercise import Choice, Exercise, Number, Verdict
from workbench.extensions.lessons.next_step import NextStep, waiting_race
from workbench.extensions.lessons.solved import solved
from workbench.run import Configuration, Run, configure, run_through
from workbench.spectra.convergence_estimates import iterations_by_bound
from workbench.spectra.exact import spectrum
from workbench.words.numbers import apart, chosen, duration, number, percent

FIRST_LEVELS = ("jacobi", "neumann:1", "neumann:2", "neumann:3", "block-ic", "ic")
BOXES = "schwarz:3x3,overlap=4"
ROUNDS = 3
CLOSE, ROUNDED = 0.05, 0.01
"""Relative difference from the right factor up to which another one is right, since it is read off a picture; above a
bound, that of a factor which was rounded up."""


def _layers(preconditioner: str, n: int) -> Configuration:
    return configure("two-layer", n=n, preconditioner=preconditioner)


@functools.cache
@computed
def _condition(preconditioner: str) -> float:
    """The condition number on 24 x 24 cells."""
    values = spectrum(_layers(preconditioner, 24))
    return float(values[-1] / values[0])


def _fewer(factor: float) -> Verdict:
    """The bound grows with the square root of the condition number."""
    before, after = _condition("jacobi"), _condition("neumann:2")
    many, few = (iterations_by_bound(kappa) for kappa in (before, after))
    expected = math.sqrt(before / after)
    falls = f"κ falls from {number(before)} to {number(after)}"
    root, given = number(expected), chosen(factor)
    if abs(factor - expected) <= CLOSE * expected:
        near = "" if given == root else f"; {given} is within {percent(CLOSE)} of that"
        bound = f"the bound from {many} iterations to {few}"
        said = f"{falls}, and {bound}, by the square root of {number(before / after)}, which is {root}{near}"
        return Verdict(True, f"{said}.")
    return Verdict(False, f"{falls}, and a factor of {given} would need κ = {number(before / factor**2)}.")


def _fewest_bytes(name: str) -> Verdict:
    """Iterations times the bytes of an iteration."""
    found = {each: solved(_layers(each, 128)) for each in FIRST_LEVELS}
    best = min(found, key=lambda each: found[each].moved)
    fewest = min(found, key=lambda each: found[each].iterations)
    if name == best:
        said = f"{fewest} takes the fewest iterations and moves {found[fewest].words}"
    else:
        said = f"another one moves {found[best].words}"
    return Verdict(name == best, f"{name} moves {found[name].words}; {said}.")


@functools.cache
@computed
def _measured() -> dict[str, tuple[int, float]]:
    """Iterations and median seconds of the solves with Jacobi and with boxes, once: in a class before others work."""
    chosen = {name: _layers(name, 48) for name in ("jacobi", BOXES)}
    iterations, seconds = {}, {name: [] for name in chosen}
    # In turns, so that other work on the machine meets both alike; the first round loads kernels.
    for _ in range(1 + ROUNDS):
        for name, configuration in chosen.items():
            result = run_through(Run(configuration))
            iterations[name] = result.iterations
            seconds[name].append(result.iteration_seconds)
    return {name: (iterations[name], statistics.median(seconds[name][1:])) for name in chosen}


def _break_even(factor: float) -> Verdict:
    """By the ratio of iterations, up to which an iteration may cost more, and by its measured cost."""
    (many, jacobi), (few, boxes) = _measured().values()
    expected = many / few
    one, other = apart(jacobi, boxes, duration)
    faster = "Jacobi" if jacobi < boxes else "the boxes"
    longer = number(boxes / few / (jacobi / many), 2)
    measured = (
        f"measured apart from the race, whose times other work changes, they take {one} with Jacobi and {other} with "
        f"boxes, median of {ROUNDS} solves: an iteration with boxes takes about {longer} times as long, so {faster} won"
    )
    given = chosen(factor)
    if -CLOSE * expected <= factor - expected <= ROUNDED * expected:
        bound = ROUNDED if factor > expected else CLOSE
        near = "" if given == chosen(expected) else f", and {given} is within {percent(bound)} of that"
        return Verdict(
            True, f"{many} iterations against {few} allow {number(expected)} times the time{near}; {measured}."
        )
    lasting = f"{few} iterations with boxes last as long as {number(few * factor)} with Jacobi, which needs {many}"
    return Verdict(False, f"at {given} times, {lasting}; {measured}.")


EXERCISES = (
    Exercise(
        "Two layers on 24 × 24 cells. By which factor does the number of iterations that the CG bound promises fall "
        "when Jacobi is replaced by neumann:2? Read the condition numbers off the picture; 5% off will do.",
        Number(0.01, 1e6, unit="times"),
        _fewer,
        "the bound depends on the square root of the condition number.",
    ),
    Exercise(
        "Two layers on 128 × 128 cells, as in the race. With which preconditioner do all iterations together read and "
        "write the fewest bytes?",
        Choice(FIRST_LEVELS),
        _fewest_bytes,
        "compare the products of iterations and bytes of an iteration, not one of the two.",
    ),
    Exercise(
        "Two layers on 48 × 48 cells. Jacobi needs many iterations; exact solves in 3 × 3 overlapping boxes "
        f"({BOXES}) need few. How many times as long as an iteration with Jacobi may one with boxes take at most, "
        f"if the boxes are to take less time? Up to {percent(CLOSE)} below it will do.",
        Number(0.01, 1e6, unit="times"),
        _break_even,
        "the time of a run is its iterations times the time of one; compare the iterations of both in the race.",
    ),
)

NEXT_STEPS = (
    NextStep(
        "The same layers on 256 × 256 cells: neumann:3 with mic, ssor, and neumann:4, whose terms need a second pass.",
        "compare.race",
        race=lambda: waiting_race("bytes", *(_layers(name, 256) for name in ("neumann:3", "neumann:4", "ssor", "mic"))),
    ),
    NextStep(
        "Multigrid, whose iterations hardly grow with the grid: double Cells per side.",
        "solve.solve",
        lambda: configure("two-layer", n=64, preconditioner="mg"),
    ),
)
"""Where the lesson leads: problems and views of the workbench."""
