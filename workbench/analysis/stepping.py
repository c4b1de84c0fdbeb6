"""A solver's lines one after another, with what each of them gives: for looking at a method, not for speed.

The lines are those of the method's general text, and mean what `devices/lines/reference.py` says, in NumPy.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from workbench.analysis.linewise import Walk
from workbench.run import Configuration


@dataclasses.dataclass(frozen=True)
class Value:
    """What a line gave: the scalar itself (its real part), or the 2-norm of the vector."""

    text: str
    name: str
    value: float
    is_vector: bool


@dataclasses.dataclass(frozen=True, eq=False)
class Moment:
    """One iteration: its lines with their values, the vectors and scalars after it, ||r|| and ||b - A x||."""

    values: tuple[Value, ...]
    vectors: dict[str, np.ndarray]
    scalars: dict[str, float]
    recurrence: float
    true_residual: float


def walk(configuration: Configuration, iterations: int) -> list[Moment]:
    """The start and up to so many iterations of a configuration's solver; fewer where it breaks down.

    Costs a vector of N words for every name and iteration. Raises InputError as `linewise.Walk` does.
    """
    made = Walk(configuration)
    while made.iterations < iterations and not made.broken_down:
        made.advance()
    return [_moment(made, iteration) for iteration in range(made.iterations + 1)]


def difference(one: Moment, other: Moment, name: str) -> float:
    """||v - w||/||v|| of a vector, or |a - b|/|a| of a scalar, that both methods have by that name; NaN where not."""
    for held in ("vectors", "scalars"):
        first, second = getattr(one, held), getattr(other, held)
        if name in first and name in second:
            size = float(np.linalg.norm(first[name]))
            apart = float(np.linalg.norm(np.subtract(first[name], second[name])))
            return apart / size if size > 0 else (0.0 if apart == 0 else np.inf)
    return np.nan


def _moment(made: Walk, iteration: int) -> Moment:
    seen = []
    for place, line in enumerate(made.lines(iteration), 1):
        given = made.after(iteration, place)[line.target]
        is_vector = bool(np.ndim(given))
        number = float(np.linalg.norm(given)) if is_vector else float(np.real(given))
        seen.append(Value(line.text.strip(), line.target, number, is_vector))
    values = made.after(iteration, len(seen))
    vectors = {name: np.array(value) for name, value in values.items() if np.ndim(value)}
    scalars = {name: float(np.real(value)) for name, value in values.items() if not np.ndim(value)}
    return Moment(tuple(seen), vectors, scalars, *made.residuals(iteration))
