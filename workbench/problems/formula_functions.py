"""Operators, constants and functions of formulas."""

from __future__ import annotations

import ast
import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

CONSTANTS = {"pi": math.pi, "e": math.e}
ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: np.divide,
    ast.Pow: np.power,
}
COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def _smallest(*values: np.ndarray | float) -> np.ndarray | float:
    return functools.reduce(np.minimum, values)


def _largest(*values: np.ndarray | float) -> np.ndarray | float:
    return functools.reduce(np.maximum, values)


def choose(condition: np.ndarray | float, yes: np.ndarray | float, no: np.ndarray | float) -> np.ndarray:
    """`yes` where the condition is not zero, else `no`, elementwise."""
    return np.where(condition != 0, yes, no)


FUNCTIONS: dict[str, tuple[Callable[..., np.ndarray | float], int, int]] = {
    **{name: (getattr(np, name), 1, 1) for name in ("sin", "cos", "tan", "exp", "log", "sqrt", "abs", "tanh", "floor")},
    "min": (_smallest, 2, 16),
    "max": (_largest, 2, 16),
    "where": (choose, 3, 3),
    "hypot": (np.hypot, 2, 2),
}
"""Functions by name, with their minimum and maximum numbers of arguments; log is the natural logarithm."""
