"""Line-by-line execution of a solver, with the value that each line assigns; for teaching, not for speed."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from workbench.run import Configuration
from workbench.stepping.linewise import Walk


@dataclasses.dataclass(frozen=True)
class Value:
    """The value that a line assigned: the real part of a scalar, or the Frobenius norm of a vector or matrix."""

    text: str
    name: str
    value: float
    is_vector: bool


@dataclasses.dataclass(frozen=True, eq=False)
class Moment:
    """The state after one iteration: values of its lines, vectors and matrices, scalars, and the largest ||r|| and
    ||b - A x|| of all right-hand sides."""

    values: tuple[Value, ...]
    vectors: dict[str, np.ndarray]
    scalars: dict[str, float]
    recurrence: float
    true_residual: float


def walk(configuration: Configuration, iterations: int, rtol: float = 0.0) -> list[Moment]:
    """The states after the start and after each of up to `iterations` iterations; fewer if the solver breaks down, or
    where ||r|| is at most rtol ||b|| for every right-hand side.

    Memory: one vector of N words per name and iteration. Raises InputError as `linewise.Walk` does.
    """
    steps = Walk(configuration)
    limits = rtol * steps.scale
    while steps.iterations < iterations and not steps.ended:
        if limits.any() and (steps.residuals(steps.iterations)[0] <= limits).all():
            break
        steps.advance()
    return [_moment(steps, iteration) for iteration in range(steps.iterations + 1)]


def difference(one: Moment, other: Moment, name: str) -> float:
    """The relative difference ||v - w||/||v|| of a vector or scalar; NaN unless both states have one of this name and
    shape."""
    for kind in ("vectors", "scalars"):
        first, second = getattr(one, kind), getattr(other, kind)
        if name in first and name in second and np.shape(first[name]) == np.shape(second[name]):
            norm = float(np.linalg.norm(first[name]))
            distance = float(np.linalg.norm(np.subtract(first[name], second[name])))
            return distance / norm if norm > 0 else (0.0 if distance == 0 else np.inf)
    return np.nan


def orthogonality(moments: Sequence[Moment]) -> np.ndarray | None:
    """|(r_i, u_j)| over the roots of (r_i, u_i) and (r_j, u_j) for all pairs of k states, shape (k, k); u = M^-1 r.

    Without rounding errors it is the identity. None for a method that has no r, or several right-hand sides.
    Cost: 2 N k^2 flops.
    """
    if any(name not in each.vectors or each.vectors[name].ndim > 1 for each in moments for name in ("r", "u")):
        return None
    R, U = (np.array([each.vectors[name] for each in moments]) for name in ("r", "u"))
    products = np.abs(R.conj() @ U.T)
    scale = np.sqrt(np.diag(products))
    with np.errstate(all="ignore"):
        return products / scale / scale[:, None]


def _moment(steps: Walk, iteration: int) -> Moment:
    line_values = []
    for number, line in enumerate(steps.lines(iteration), 1):
        if line.target:
            value = steps.after(iteration, number)[line.target]
            is_vector = bool(np.ndim(value))
            size = float(np.linalg.norm(value)) if is_vector else float(np.real(value))
            line_values.append(Value(line.text, line.target, size, is_vector))
    values = steps.after(iteration, len(steps.lines(iteration)))
    vectors = {name: np.array(value) for name, value in values.items() if np.ndim(value)}
    scalars = {name: float(np.real(value)) for name, value in values.items() if not np.ndim(value)}
    recurrence, true = (float(norms.max()) for norms in steps.residuals(iteration))
    return Moment(tuple(line_values), vectors, scalars, recurrence, true)
