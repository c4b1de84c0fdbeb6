"""Exercises of lesson 2: spectra, and the residual polynomials that CG finds for them."""

from __future__ import annotations

import numpy as np

from workbench.extensions.lessons.exercise import Choice, Exercise, Number, Text, Verdict
from workbench.extensions.lessons.residual_polynomials import Recurrence, cg_on, checked_spectrum
from workbench.spectra.convergence_estimates import iterations_by_bound
from workbench.words.numbers import chosen, count, number

FOUR = (1.0, 2.0, 5.0, 100.0)
DONE = 1e-12
"""Share of the first error that counts as none."""
BUBBLE = np.concatenate([[0.001], np.linspace(1, 5, 20), [50.0]])
GOAL = 1e-2
PLACED, LOW, HIGH, STEPS, WANTED = 8, 1.0, 1000.0, 3, 1e-3


def _left(values: np.ndarray, made: Recurrence, at: int) -> str:
    """The rest of the error after some iterations, and the eigenvalue that holds most of it, in words."""
    held = made.residuals[:, at] ** 2 / values
    worst = int(held.argmax())
    zeros = _zeros(made, at) if at else "p is 1 everywhere"
    return (
        f"after {at} iteration{'s' * (at != 1)} the error is still {number(made.error[at])} of that at first: {zeros}, "
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
        done = made.iterations_to(DONE)
        return Verdict(
            False, f"already after {done} iterations all that is left is {number(made.error[-1])}: rounding."
        )
    return Verdict(True, f"{_zeros(made, steps)}, the eigenvalues, and no error is left.")


def _deflated(choice: str) -> Verdict:
    """The eigenvalue without which CG needs fewest iterations."""
    needed = {each: _needed(BUBBLE[~np.isclose(BUBBLE, float(each))]) for each in DEFLATE.options}
    before, now = _needed(BUBBLE), needed[choice]
    rest = BUBBLE[~np.isclose(BUBBLE, float(choice))]
    bound = iterations_by_bound(float(rest.max() / rest.min()), GOAL)
    said = f"without {choice} CG takes {now} iterations in place of {before}, and the CG bound says {count(bound)}"
    best = min(needed.values())
    if now > best:
        return Verdict(False, f"{said}; another choice leaves {best}.")
    return Verdict(True, f"{said}; the other choices leave {max(needed.values())} at most.")


def _needed(values: np.ndarray) -> int:
    found = cg_on(values).iterations_to(GOAL)
    assert found is not None
    return found


def _placed(text: str) -> Verdict:
    """Clusters: a zero in each, and one to spare."""
    values = np.sort(checked_spectrum(text.replace(",", " ").split()))  # pyright: ignore[reportArgumentType]
    apart = np.unique(values).size
    if apart != PLACED or values.size != PLACED:
        return Verdict(False, f"these are {apart} different eigenvalues, and {PLACED} are asked for.")
    if (values[0], values[-1]) != (LOW, HIGH):
        ends = f"these reach from {values[0]:.4g} to {values[-1]:.4g}"
        return Verdict(
            False, f"{ends}, and the condition number is to be {count(int(HIGH / LOW))} from {LOW:g} to {HIGH:g}."
        )
    made = cg_on(values)
    at = min(STEPS, made.iterations)
    if made.error[at] >= WANTED:
        return Verdict(False, f"{_left(values, made, at)}.")
    return Verdict(
        True,
        f"{_zeros(made, at)}, and the error is {number(made.error[at])} of that at first, while the CG bound "
        f"says that it takes {count(iterations_by_bound(HIGH / LOW, WANTED))} iterations to {chosen(WANTED)}.",
    )


DEFLATE = Choice(("0.001", "1", "50"))
EXERCISES = (
    Exercise(
        "A has a thousand rows, and its eigenvalues are 1, 2, 5 and 100, each many times. After how many iterations is "
        "CG done, if nothing is rounded?",
        Number(0, 1000, whole=True),
        _distinct,
        "the error is gone when p is zero at each eigenvalue, and every iteration brings one zero.",
    ),
    Exercise(
        "Place eight different eigenvalues from 1 to 1000, both ends included, so that after three iterations the "
        "A-norm of the error is less than a thousandth of that at first. Write them with spaces between them.",
        Text("1 2 5 10 50 100 500 1000"),
        _placed,
        "three iterations bring three zeros, so think of at most three narrow clusters; small eigenvalues weigh most.",
    ),
    Exercise(
        "The eigenvalues are 0.001, 20 at equal distances from 1 to 5, and 50. You may deflate one of these three; "
        "without which does CG bring the A-norm of the error down to a hundredth in fewest iterations?",
        DEFLATE,
        _deflated,
        "compare how much of the error each holds, which is 1/λ, and how many zeros of p the others need.",
    ),
)
