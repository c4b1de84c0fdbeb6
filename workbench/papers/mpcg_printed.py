"""Chen, "Parallel Implementation of Multipreconditioned Conjugate Gradient Methods": the printed numbers."""

from __future__ import annotations

import functools
import tomllib
from typing import Any

from workbench.data_files import data_folder


@functools.cache
def printed() -> dict[str, Any]:
    """The numbers printed in the paper."""
    return tomllib.loads((data_folder() / "papers" / "mpcg_erlang_cuda.toml").read_text(encoding="utf-8"))


def printed_seconds(n: int, boxes: str) -> float:
    """An entry of Table 3."""
    table = printed()["table3"]
    return next(seconds for side, seconds in table["rows"] if side == n)[table["boxes"].index(boxes)]


def box_counts(boxes: str) -> int:
    """k of KxL boxes."""
    per_x, per_y = boxes.split("x")
    return int(per_x) * int(per_y)
