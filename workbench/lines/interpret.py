"""The meaning of a program: its lines one after another in NumPy. Tests compare every compiled program with this."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

import numpy as np

from workbench.lines.parse import parse
from workbench.lines.shapes import infer
from workbench.lines.types import (
    VECTOR,
    Application,
    Binary,
    Call,
    Dot,
    Entry,
    Expression,
    Formula,
    Line,
    Name,
    Negation,
    Number,
    Selection,
    Shape,
    Shapes,
    Solve,
    accumulator,
    block,
    small,
)

__all__ = ["evaluate"]

_FUNCTIONS = {"sqrt": np.sqrt, "abs": np.abs, "conj": np.conj}
_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": np.true_divide,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
Operators = Mapping[str, Callable[[np.ndarray], np.ndarray]]


def evaluate(text: str, values: MutableMapping[str, Any], operators: Operators | None = None) -> None:
    """Run the lines of `text` over `values`, arrays and numbers by name, and leave the results there.

    operators: functions of arrays by name. Cost: an array for each operation. Raises LinesError for lines that do not
    fit the values.

    Examples:
        >>> import numpy as np
        >>> from workbench.lines.interpret import evaluate
        >>> values = {"p": np.array([1.0, 2.0])}
        >>> evaluate("s = A(p)", values, {"A": lambda p: 3 * p})
        >>> values["s"].tolist()
        [3.0, 6.0]
    """
    lines = parse(text)
    shapes = infer(lines, shapes_of_arrays(values))
    for line in lines:
        evaluate_line(line, shapes, values, operators or {})


def shapes_of_arrays(values: Mapping[str, Any]) -> dict[str, Shape]:
    """The shapes of the arrays among named values: (N,) is a vector, (N, s) a block vector, fewer rows a small matrix.

    N is the largest number of rows.
    """
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray) and value.ndim}
    size = max((value.shape[0] for value in arrays.values()), default=0)
    return {name: _shape_of_array(value, size) for name, value in arrays.items()}


def _shape_of_array(value: np.ndarray, size: int) -> Shape:
    if value.ndim == 1:
        return VECTOR
    return block(value.shape[1]) if value.shape[0] == size else small(*value.shape)


def evaluate_line(line: Line, shapes: Shapes, values: MutableMapping[str, Any], operators: Operators) -> None:
    """Run one line of a program of known shapes. Puts a new array or number under the line's target."""
    first = next(value for name, value in values.items() if np.ndim(value) and shapes.get(name, VECTOR).has_rows)
    dtype, wide = first.dtype, accumulator(first.dtype)
    with np.errstate(all="ignore"):
        match line:
            case Dot():
                left, right = values[line.left].astype(wide), values[line.right].astype(wide)
                values[line.target] = _dot(line, left, right)
            case Application():
                values[line.target] = operators[line.operator](values[line.argument]).astype(dtype)
            case Solve():
                values[line.target] = _solution(values[line.matrix], values[line.right], wide)
            case Formula():
                values[line.target] = _assigned(line, shapes, values, first.shape[0], dtype)


def _dot(line: Dot, left: np.ndarray, right: np.ndarray) -> Any:
    if left.ndim == 1:
        return np.vdot(left, right)
    return np.sum(left.conj() * right, axis=0, keepdims=True) if line.columnwise else left.conj().T @ right


def _solution(matrix: Any, right: Any, wide: np.dtype) -> Any:
    """matrix^-1 right; not a number where the matrix is singular."""
    if not np.ndim(matrix):
        return wide.type(np.true_divide(right, matrix))
    try:
        return np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        return np.full_like(right, np.nan)


def _assigned(line: Formula, shapes: Shapes, values: Mapping[str, Any], size: int, dtype: np.dtype) -> Any:
    target, wide = shapes[line.target], accumulator(dtype)
    scope = {name: _operand(values[name], shapes[name], dtype if target.has_rows else None) for name in line.reads}
    # A vector scales the rows of a block vector.
    if target == block(target.columns):
        scope = {name: value[:, None] if shapes[name] == VECTOR else value for name, value in scope.items()}
    result = _value(line.expression, scope)
    if target.has_rows:
        extent = (size,) if target == VECTOR else (size, target.columns)
        return np.array(np.broadcast_to(result, extent), dtype)
    if target == small(target.rows, target.columns):
        return np.array(np.broadcast_to(result, (target.rows, target.columns)), wide)
    return wide.type(result)


def _operand(value: Any, shape: Shape, dtype: np.dtype | None) -> Any:
    """Scalars and small matrices in the precision of the vectors that they meet."""
    if dtype is None or shape.has_rows:
        return value
    return np.asarray(value).astype(dtype) if np.ndim(value) else dtype.type(value)


def _value(node: Expression, scope: Mapping[str, Any]) -> Any:
    match node:
        case Name() | Entry():
            return scope[node.name]
        case Number():
            return node.value if any(np.ndim(other) for other in scope.values()) else np.float64(node.value)
        case Binary(sign="@"):
            left, right = _value(node.left, scope), _value(node.right, scope)
            return left @ right if np.ndim(right) else left * right
        case Binary():
            return _SIGNS[node.sign](_value(node.left, scope), _value(node.right, scope))
        case Negation():
            return -_value(node.operand, scope)
        case Call():
            return _FUNCTIONS[node.function](_value(node.argument, scope))
        case Selection():
            left, right = (np.real(_value(part, scope)) for part in (node.test.left, node.test.right))
            truth = _SIGNS[node.test.sign](left, right)
            return np.where(truth, _value(node.body, scope), _value(node.otherwise, scope))
