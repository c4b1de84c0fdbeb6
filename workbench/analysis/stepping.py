"""A solver's lines one after another, with what each of them gives: for looking at a method, not for speed.

The lines are those of the method's general text, and mean what `devices/lines/reference.py` says, in NumPy.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.devices.lines.language import Line, parse
from workbench.devices.lines.reference import evaluate
from workbench.errors import InputError
from workbench.preconditioners import ElementWise
from workbench.run import Configuration
from workbench.run.setting import Setting, set_up

LARGEST = 10_000
"""Unknowns: every vector of every iteration is kept."""


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

    Costs a vector of N words for every name and iteration. Raises InputError for deflated runs, for solvers that decide
    between programs by themselves, and for more than 10000 unknowns.
    """
    solver, setting = configuration.solver, set_up(configuration)
    if setting.projection is not None:
        raise InputError("stepping shows runs without deflation; take deflation none")
    if not solver.alike:
        raise InputError(f"{solver.name} decides which lines to run, so they cannot be stepped; take pipecg")
    if setting.b.size > LARGEST:
        raise InputError(f"stepping keeps every vector, so it takes up to {LARGEST} unknowns, not {setting.b.size}")
    operators = _operators(setting)
    to_host = setting.device.to_host
    values: dict[str, Any] = {"b": to_host(setting.b).copy(), "x": to_host(setting.x).copy()}
    moments = [_moment(parse(solver.start), values, operators)]
    iterate = parse(solver.iterate)
    for _ in range(iterations):
        moments.append(_moment(iterate, values, operators))
        if not (moments[-1].scalars["delta"] > 0 and moments[-1].scalars["gamma"] > 0):
            break
    return moments


def difference(one: Moment, other: Moment, name: str) -> float:
    """||v - w||/||v|| of a vector, or |a - b|/|a| of a scalar, that both methods have by that name; NaN where not."""
    for held in ("vectors", "scalars"):
        first, second = getattr(one, held), getattr(other, held)
        if name in first and name in second:
            size = float(np.linalg.norm(first[name]))
            apart = float(np.linalg.norm(np.subtract(first[name], second[name])))
            return apart / size if size > 0 else (0.0 if apart == 0 else np.inf)
    return np.nan


def _moment(lines: tuple[Line, ...], values: dict[str, Any], operators: dict[str, Callable]) -> Moment:
    seen = []
    for line in lines:
        evaluate(line.text, values, operators)
        given = values[line.target]
        is_vector = bool(np.ndim(given))
        number = float(np.linalg.norm(given)) if is_vector else float(np.real(given))
        seen.append(Value(line.text.strip(), line.target, number, is_vector))
    vectors = {name: np.array(value) for name, value in values.items() if np.ndim(value)}
    scalars = {name: float(np.real(value)) for name, value in values.items() if not np.ndim(value)}
    true_residual = float(np.linalg.norm(values["b"] - operators["A"](values["x"])))
    return Moment(tuple(seen), vectors, scalars, float(np.sqrt(scalars["rr"])), true_residual)


def _operators(setting: Setting) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """A and M as functions of NumPy arrays."""
    device = setting.device

    def function(operator: Any) -> Callable[[np.ndarray], np.ndarray]:
        def apply(v: np.ndarray) -> np.ndarray:
            out = device.zeros(v.size, v.dtype)
            operator.apply(device.array(v, v.dtype), out)
            return device.to_host(out).copy()

        return apply

    applied = device.applied(setting.M) if isinstance(setting.M, ElementWise) else setting.M
    return {"A": function(setting.bound), "M": function(applied)}
