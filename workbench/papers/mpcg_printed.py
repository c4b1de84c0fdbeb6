"""Chen, "Parallel Implementation of Multipreconditioned Conjugate Gradient Methods": the printed numbers."""

from __future__ import annotations

import functools

from workbench.papers.printed import printed_in

printed = functools.partial(printed_in, "mpcg")


def printed_seconds(n: int, boxes: str) -> float:
    """An entry of Table 3."""
    table = printed()["table3"]
    return next(seconds for side, seconds in table["rows"] if side == n)[table["boxes"].index(boxes)]


def box_counts(boxes: str) -> int:
    """k of KxL boxes."""
    per_x, per_y = boxes.split("x")
    return int(per_x) * int(per_y)
