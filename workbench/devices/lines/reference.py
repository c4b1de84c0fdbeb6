"""The meaning of a program: its lines one after another in NumPy. Tests hold every compiled program to this."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping, MutableMapping
from typing import Any

import numpy as np

from workbench.devices.lines.kinds import infer_vectors
from workbench.devices.lines.language import Application, Dot, Line, parse

_FUNCTIONS = {"sqrt": np.sqrt, "abs": np.abs, "conj": np.conj}


def accumulator(dtype: np.dtype) -> np.dtype:
    """The dtype of scalars and dot products: double precision, complex where the vectors are."""
    return np.dtype(np.complex128 if np.issubdtype(dtype, np.complexfloating) else np.float64)


def evaluate(
    text: str,
    values: MutableMapping[str, Any],
    operators: Mapping[str, Callable[[np.ndarray], np.ndarray]] | None = None,
) -> None:
    """Run the lines of `text` over `values`, arrays and numbers by name, and leave the results there."""
    given = {name: value for name, value in values.items() if isinstance(value, np.ndarray) and value.ndim}
    lines = parse(text)
    vectors = infer_vectors(lines, given)
    for line in lines:
        evaluate_line(line, vectors, values, operators or {})


def evaluate_line(
    line: Line,
    vectors: Collection[str],
    values: MutableMapping[str, Any],
    operators: Mapping[str, Callable[[np.ndarray], np.ndarray]],
) -> None:
    """Run one line of a program whose vectors are known by name. Puts a new array or number under the line's target."""
    first = next(value for value in values.values() if isinstance(value, np.ndarray) and value.ndim)
    dtype, wide = first.dtype, accumulator(first.dtype)
    with np.errstate(all="ignore"):
        match line:
            case Dot():
                left, right = values[line.left].astype(wide), values[line.right].astype(wide)
                values[line.target] = np.vdot(left, right)
            case Application():
                values[line.target] = operators[line.operator](values[line.argument]).astype(dtype)
            case _:
                is_vector = line.target in vectors
                scope = {
                    name: dtype.type(values[name]) if is_vector and not np.ndim(values[name]) else values[name]
                    for name in line.names
                }
                result = _value(line.expression, scope)
                values[line.target] = np.full(first.shape, result, dtype) if is_vector else wide.type(result)


def _value(node: ast.expr, scope: Mapping[str, Any]) -> Any:
    match node:
        case ast.Name():
            return scope[node.id]
        case ast.Constant(value=float() | int() as value):
            return value if any(np.ndim(other) for other in scope.values()) else np.float64(value)
        case ast.BinOp():
            left, right = _value(node.left, scope), _value(node.right, scope)
            match node.op:
                case ast.Add():
                    return left + right
                case ast.Sub():
                    return left - right
                case ast.Mult():
                    return left * right
                case _:
                    return np.true_divide(left, right)
        case ast.UnaryOp():
            operand = _value(node.operand, scope)
            return -operand if isinstance(node.op, ast.USub) else operand
        case ast.Call(func=ast.Name(id=name)):
            return _FUNCTIONS[name](_value(node.args[0], scope))
        case ast.IfExp(test=ast.Compare(left=first, ops=[comparison], comparators=[second])):
            left, right = np.real(_value(first, scope)), np.real(_value(second, scope))
            match comparison:
                case ast.Lt():
                    truth = left < right
                case ast.LtE():
                    truth = left <= right
                case ast.Gt():
                    truth = left > right
                case _:
                    truth = left >= right
            return np.where(truth, _value(node.body, scope), _value(node.orelse, scope))
    raise AssertionError(f"the parser let {ast.unparse(node)} through")
