"""Kernels of a cycle over the levels of a coarse system (see `devices.cycles`).

The dot products of a step stay on the device as one partial sum per group.
"""

from __future__ import annotations

from workbench.devices.kernels.source import fill, read

_TREE = read("tree_sum")
_QUOTIENT = read("cycle_quotient")

RESTRICT = read("cycle_restrict")
"""below = W^T r; the rows of a parent are consecutive."""

CORRECT = read("cycle_correct")
"""x = x + weights below."""

DOT = read("cycle_dot")
"""Partial sums of (s, z)."""

SUM = read("cycle_sum")
"""Partial sums of a."""

ENTER = fill("cycle_enter", tree_sum=_TREE)
"""b = D^-1/2 (a - mean) in the order of the levels."""

LEAVE = read("cycle_leave")
"""solved = D^-1/2 x in the order of the unknowns."""

BOTTOM = fill("cycle_bottom", tree_sum=_TREE)
"""x = the inverse of the last level times b."""


def _pass(result: str) -> str:
    return fill("cycle_pass", more="", begin="", result=result, end="")


SMOOTHED = "T_SUB(T_SCALE(one, source[row]), T_SCALE(two, product))"

FROM_ZERO = _pass(f"target[row] = {SMOOTHED};")
"""target = one source - two E source."""

RESIDUAL = _pass("target[row] = T_SUB(other[row], product);")
"""target = other - E source."""

SMOOTH = _pass(f"target[row] = T_ADD(target[row], {SMOOTHED});")
"""target = target + one source - two E source."""

ENERGY = fill(
    "cycle_pass",
    more=", GLOBAL W* partial",
    begin="SHARED(W, room, 2*(GROUP + STRIPS));\nW pr = W_OF(0), ps = W_OF(0);",
    result="target[row] = product;\n"
    "pr = W_ADD(pr, W_DOT(source[row], other[row]));\n"
    "ps = W_ADD(ps, W_DOT(source[row], product));",
    end="room[LOCAL_ID] = pr;\nroom[GROUP + LOCAL_ID] = ps;\nLEAVE_SUMS(room, partial, 2);",
)
"""target = E source, and partial sums of (source, other) and (source, target)."""


def _step(vectors: str, result: str) -> str:
    named = [name.strip() for name in vectors.split(",")]
    arguments = ", ".join(f"GLOBAL {'' if name.endswith('!') else 'const '}T* {name.strip('!')}" for name in named)
    return fill("cycle_step", vectors=arguments, quotient=_QUOTIENT, result=result)


FIRST_STEP = _step("p, s, b, x!, r!", "x[i] = T_MUL(quotient, p[i]);\nr[i] = T_SUB(b[i], T_MUL(quotient, s[i]));")
"""x = alpha p and r = b - alpha s."""

ORTHOGONALIZE = _step("z, p!", "p[i] = T_SUB(z[i], T_MUL(quotient, p[i]));")
"""p = z - beta p."""

LAST_STEP = _step("p, x!", "x[i] = T_ADD(x[i], T_MUL(quotient, p[i]));")
"""x = x + alpha p."""
