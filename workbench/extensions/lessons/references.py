"""References of judges: all that a verdict computes without regard to the answer, computed before it is asked for."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from workbench.errors import InputError
from workbench.extensions.lessons import LESSONS, block_products, bubbles
from workbench.extensions.lessons.exercise import Choice, Exercise, Number
from workbench.extensions.lessons.preconditioning import FIRST_LEVELS
from workbench.run import Session, configure
from workbench.spectra import spectra


def references() -> Iterator[None]:
    """Compute those of one exercise after another, by a check of some answer, and the spectra that lessons 4, 5 and 7
    show.

    The server of a class does it before pages are forked: they share what is kept, and the kernels that were loaded.
    Cost: 0 to 0.7 s each, 5 s in all on a core.
    """
    for lesson in LESSONS.values():
        for exercise in lesson.exercises:
            # An answer that is out of bounds computes nothing.
            with contextlib.suppress(InputError):
                exercise.check(some_answer(exercise))
            yield
    for name in FIRST_LEVELS:
        spectra(configure("two-layer", n=24, preconditioner=name))
        yield
    for name in ("jacobi", "schwarz:3x3,overlap=4"):
        Session(configure("two-layer", n=24, preconditioner=name)).wait(60)
        yield
    for many in range(bubbles.COUNT + 1):
        for moved in (False, True)[: 1 + (many > 0)]:
            bubbles.eigenvalues(many, moved=moved)
            bubbles.errors(many, moved=moved)
            yield
        bubbles.parts(many)
        yield
    block_products.blocks()
    yield
    for columns in range(1, bubbles.MOST_COLUMNS + 1):
        bubbles.largest_residuals(columns)
        yield


def some_answer(exercise: Exercise) -> object:
    """An answer that can be judged, right or not."""
    answer = exercise.answer
    if isinstance(answer, Number):
        return min(max(2, answer.low), answer.high)
    return answer.options[0] if isinstance(answer, Choice) else answer.start
