"""Exercises of lesson 2: spectra, and the residual polynomials that CG finds for them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.errors import InputError
from workbench.extensions.lessons.exercise import Choice, Exercise, Number, Numbers, Verdict
from workbench.extensions.lessons.next_step import NextStep
from workbench.extensions.lessons.residual_polynomials import Recurrence, cg_on, checked_spectrum
from workbench.run import configure
from workbench.spectra.convergence_estimates import iterations_by_bound
from workbench.words.numbers import apart, chosen, count, counted, number

FOUR = (1.0, 2.0, 5.0, 100.0)
BUBBLE = np.concatenate([[0.001], np.linspace(1, 5, 20), [50.0]])
GOAL = 1e-2
ROUNDED = 1e-9
"""Relative difference up to which an end of the spectrum is the one that is asked for."""
B = "b = (1, …, 1) and x₀ = 0"
PLACED, LOW, HIGH, STEPS, WANTED = 8, 1.0, 1000.0, 3, 1e-3


def _left(values: np.ndarray, made: Recurrence, at: int, goal: float = 0.0) -> str:
    """The rest of the error after some iterations, which is above the goal, and the eigenvalue that holds most of it,
    in words."""
    held = made.residuals[:, at] ** 2 / values
    worst = int(held.argmax())
    zeros = _zeros(made, at) if at else "p is 1 everywhere"
    left, _ = apart(float(made.error[at]), goal)
    return (
        f"after {counted(at, 'iteration')} the A-norm of the error is still {left} of its initial value: {zeros}, "
        f"and at the eigenvalue {values[worst]:.4g} p is {number(float(made.residuals[worst, at]))}"
    )


def _zeros(made: Recurrence, at: int) -> str:
    zeros = made.ritz(at)
    return f"p has {'its zero' if at == 1 else 'zeros'} at {', '.join(f'{zero:.4g}' for zero in zeros)}"


def _distinct(steps: int) -> Verdict:
    """One zero for each distinct eigenvalue."""
    values = np.array(FOUR)
    made = cg_on(values)
    if steps < made.iterations:
        return Verdict(False, f"{_left(values, made, steps)}.")
    if steps > made.iterations:
        return Verdict(False, f"already after {made.iterations} iterations p is zero at all eigenvalues.")
    return Verdict(True, f"{_zeros(made, steps)}, the eigenvalues, and no error is left.")


def _deflated(choice: str) -> Verdict:
    """The eigenvalue without which CG needs fewest iterations."""
    needed = {each: _needed(BUBBLE[~np.isclose(BUBBLE, float(each))]) for each in DEFLATE.options}
    before, now = _needed(BUBBLE), needed[choice]
    rest = BUBBLE[~np.isclose(BUBBLE, float(choice))]
    bound = iterations_by_bound(float(rest.max() / rest.min()), GOAL)
    compared = "as before" if now == before else f"instead of {before}"
    said = f"without {choice} CG takes {now} iterations {compared}, and the CG bound says {count(bound)}"
    others = min(number_of for each, number_of in needed.items() if each != choice)
    if now > others:
        return Verdict(False, f"{said}; another choice leaves {others}.")
    return Verdict(True, f"{said}; each other choice leaves {others} or more.")


def _needed(values: np.ndarray) -> int:
    """Iterations with the solution (1, ..., 1)."""
    found = cg_on(values, b=values).iterations_to(GOAL)
    assert found is not None
    return found


def _placed(numbers: Sequence[float]) -> Verdict:
    """Clusters: a zero in each, and one to spare."""
    if not min(numbers) > 0:
        raise InputError(f"eigenvalues from {chosen(LOW)} to {chosen(HIGH)} are asked for, got {chosen(min(numbers))}")
    values = np.sort(checked_spectrum(numbers))
    different = np.unique(values).size
    if values.size != PLACED or different != PLACED:
        equal = ", some of them equal" if different < values.size else ""
        raise InputError(
            f"the answer has {counted(values.size, 'eigenvalue')}{equal}, and {PLACED} different ones are asked for"
        )
    if not np.allclose(values[[0, -1]], (LOW, HIGH), rtol=ROUNDED, atol=0):
        ends = [apart(float(value), end) for value, end in zip(values[[0, -1]], (LOW, HIGH), strict=True)]
        reach, asked = (" to ".join(each) for each in zip(*ends, strict=True))
        raise InputError(f"the answer reaches from {reach}, and eigenvalues from {asked} are asked for")
    made = cg_on(values)
    at = min(STEPS, made.iterations)
    left, _ = apart(float(made.error[at]), WANTED)
    if made.error[at] >= WANTED:
        return Verdict(False, f"{_left(values, made, at, WANTED)}.")
    return Verdict(
        True,
        f"{_zeros(made, at)}, and the error is {left} of its initial value, while the CG bound "
        f"says that it takes {count(iterations_by_bound(HIGH / LOW, WANTED))} iterations.",
    )


DEFLATE = Choice(("0.001", "1", "50"))
EXERCISES = (
    Exercise(
        "A is diagonal and has a thousand rows, and its eigenvalues are 1, 2, 5 and 100, each 250 times. "
        f"{B}. After how many iterations is CG done, if nothing is rounded?",
        Number(0, 1000, whole=True),
        _distinct,
        "the error is gone when p is zero at each eigenvalue, and every iteration brings one zero.",
    ),
    Exercise(
        f"A is diagonal, {B}. Place eight different eigenvalues from 1 to 1000, both ends included, so that after "
        "three iterations the A-norm of the error is less than a thousandth of its initial value. Write them with "
        "spaces between them.",
        Numbers("1 2 5 10 50 100 500 1000"),
        _placed,
        "three iterations bring three zeros, so think of at most three clusters, the upper ones far narrower; small "
        "eigenvalues weigh most.",
    ),
    Exercise(
        "A is diagonal with the eigenvalues 0.001, 20 at equal distances from 1 to 5, and 50. Now x₀ = 0 and "
        "b = A (1, …, 1)ᵀ, so that the error has equal parts in all eigenvectors at the start. Deflating one of them "
        "takes its part away. Which one do you deflate, so that CG reduces the A-norm of the rest to a hundredth in "
        "the fewest iterations?",
        DEFLATE,
        _deflated,
        "the picture has b = (1, …, 1), where p² has the weight 1/λ in the A-norm. Which weight has it here?",
    ),
)

NEXT_STEPS = (
    NextStep(
        "Five bubbles and the Ritz values of CG, at the lower right: four tiny ones hold it up (walls make one 0).",
        "build.build",
        lambda: configure("bubbles-2d", n=24, layout="random", count=5),
    ),
    NextStep(
        "The same with the tiny eigenvalues deflated.",
        "build.build",
        lambda: configure("bubbles-2d", n=24, layout="random", count=5, deflation="levelset:0"),
    ),
)
"""Where the lesson leads: problems and views of the workbench."""
