"""Small linear systems as program text: Gaussian elimination with row exchanges, in place among the scalars.

For n unknowns and m right-hand sides one thread needs n^3/3 + n^2 m multiplications. `work_of` names n^2 scalars of
room. A singular matrix gives infinities or NaN, no error.
"""

from __future__ import annotations

import string
from collections.abc import Mapping

from workbench.lines.types import SCALAR, Shapes, Solve

NUMBA = """
for i in range($n):
    for k in range($n):
        scalars[$work + i*$n + k] = scalars[$matrix + i*$n + k]
    for k in range($m):
        scalars[$target + i*$m + k] = scalars[$right + i*$m + k]
for p in range($n):
    top = p
    for i in range(p + 1, $n):
        if abs(scalars[$work + i*$n + p]) > abs(scalars[$work + top*$n + p]):
            top = i
    for k in range($n):
        held = scalars[$work + p*$n + k]
        scalars[$work + p*$n + k] = scalars[$work + top*$n + k]
        scalars[$work + top*$n + k] = held
    for k in range($m):
        held = scalars[$target + p*$m + k]
        scalars[$target + p*$m + k] = scalars[$target + top*$m + k]
        scalars[$target + top*$m + k] = held
    for i in range(p + 1, $n):
        factor = np.true_divide(scalars[$work + i*$n + p], scalars[$work + p*$n + p])
        for k in range(p, $n):
            scalars[$work + i*$n + k] -= factor*scalars[$work + p*$n + k]
        for k in range($m):
            scalars[$target + i*$m + k] -= factor*scalars[$target + p*$m + k]
for p in range($n - 1, -1, -1):
    for k in range($m):
        held = scalars[$target + p*$m + k]
        for i in range(p + 1, $n):
            held -= scalars[$work + p*$n + i]*scalars[$target + i*$m + k]
        scalars[$target + p*$m + k] = np.true_divide(held, scalars[$work + p*$n + p])
"""
C = """
for (int i = 0; i < $n; i++) {
    for (int k = 0; k < $n; k++) scalars[$work + i*$n + k] = scalars[$matrix + i*$n + k];
    for (int k = 0; k < $m; k++) scalars[$target + i*$m + k] = scalars[$right + i*$m + k];
}
for (int p = 0; p < $n; p++) {
    int top = p;
    for (int i = p + 1; i < $n; i++)
        if (W_REAL(W_ABS(scalars[$work + i*$n + p])) > W_REAL(W_ABS(scalars[$work + top*$n + p]))) top = i;
    for (int k = 0; k < $n; k++) {
        const W held = scalars[$work + p*$n + k];
        scalars[$work + p*$n + k] = scalars[$work + top*$n + k];
        scalars[$work + top*$n + k] = held;
    }
    for (int k = 0; k < $m; k++) {
        const W held = scalars[$target + p*$m + k];
        scalars[$target + p*$m + k] = scalars[$target + top*$m + k];
        scalars[$target + top*$m + k] = held;
    }
    for (int i = p + 1; i < $n; i++) {
        const W factor = W_DIV(scalars[$work + i*$n + p], scalars[$work + p*$n + p]);
        for (int k = p; k < $n; k++)
            scalars[$work + i*$n + k] = W_SUB(scalars[$work + i*$n + k], W_MUL(factor, scalars[$work + p*$n + k]));
        for (int k = 0; k < $m; k++)
            scalars[$target + i*$m + k] =
                W_SUB(scalars[$target + i*$m + k], W_MUL(factor, scalars[$target + p*$m + k]));
    }
}
for (int p = $n - 1; p >= 0; p--)
    for (int k = 0; k < $m; k++) {
        W held = scalars[$target + p*$m + k];
        for (int i = p + 1; i < $n; i++)
            held = W_SUB(held, W_MUL(scalars[$work + p*$n + i], scalars[$target + i*$m + k]));
        scalars[$target + p*$m + k] = W_DIV(held, scalars[$work + p*$n + p]);
    }
"""


def work_of(line: Solve) -> str:
    """The name of the room that a solution needs; no name of a line is like it."""
    return f"{line.target} = solve({line.matrix})"


def numba_text(line: Solve, shapes: Shapes, slots: Mapping[str, str]) -> list[str]:
    """The rows of Python that solve. slots: where each matrix lies, as text."""
    return _text(NUMBA, line, shapes, slots)


def c_text(line: Solve, shapes: Shapes, slots: Mapping[str, int]) -> list[str]:
    """The rows of C that solve, for one work-item."""
    return _text(C, line, shapes, slots)


def _text(template: str, line: Solve, shapes: Shapes, slots: Mapping[str, int | str]) -> list[str]:
    right = shapes.get(line.right, SCALAR)
    places = {"matrix": line.matrix, "right": line.right, "target": line.target, "work": work_of(line)}
    numbers = {"n": right.rows, "m": right.columns, **{key: slots[name] for key, name in places.items()}}
    return string.Template(template).substitute(numbers).strip().split("\n")
