"""The look of runs and kernels, on the page and in print: a colour-blind-safe palette, dashes and markers."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable

from workbench.devices.clock import TO_DEVICE, TO_HOST, WAITING, side_of
from workbench.devices.cycle_parts import COARSE_SOLVE, level_of, summed_name
from workbench.lines.schedule import operator_of
from workbench.records.trace import Kernel

# The first four differ by 10 or more in CIE Delta E under simulated protanopia, deuteranopia and tritanopia; all have a
# contrast of at least 3:1 on white. Pages with a dark ground show lighter ones in their place (static/ui/theme.js).
COLOURS = ("#0072b2", "#d55e00", "#008a64", "#b5508a", "#6e5a00", "#3f434c", "#4a93c4", "#7a1f2b")
ON_DARK = ("#56b4e9", "#ff8a45", "#27c597", "#e59cc6", "#f0c64a", "#d4d7dd", "#8fa8ff", "#c9a27c")
"""Those of them on a dark ground."""
DASHES = (
    (), (7.0, 3.0), (2.0, 3.0), (9.0, 3.0, 2.0, 3.0), (12.0, 4.0), (4.0, 2.0), (2.0, 2.0, 7.0, 2.0),
    (14.0, 3.0, 2.0, 3.0, 2.0, 3.0),
)  # fmt: skip
MARKERS = ("o", "s", "^", "D", "x", "+", "v", "*")


@dataclasses.dataclass(frozen=True)
class CurveStyle:
    """Colour, dash and marker of a curve. dash: lengths on and off in points; () is solid."""

    colour: str
    dash: tuple[float, ...]
    marker: str

    @property
    def linestyle(self) -> str | tuple[float, tuple[float, ...]]:
        """The dash as Matplotlib's linestyle."""
        return (0.0, self.dash) if self.dash else "-"


def curve_style(index: int) -> CurveStyle:
    """The style of the index-th run. Colour, dash and marker go together; each further eight runs have other dashes
    and markers with the same colours, so pairs repeat after 64 runs."""
    turn = index + index // 8
    return CurveStyle(COLOURS[index % 8], DASHES[turn % 8], MARKERS[turn % 8])


CURVES = tuple(curve_style(index) for index in range(64))


KINDS = {
    "A": ("#6f9fd8", "#9bbde6", "#4f86c6"),
    "M": ("#e2a958", "#eec888", "#cf8f35"),
    "vectors": ("#7fc2a5", "#a8d8c4", "#5daa89"),
    "coarse": ("#c98ab0", "#dcb0cb", "#b26c98"),
    "copies": ("#b8bcc6", "#d0d3da", "#9ea4b1"),
    "waiting": ("#e6e6e2",),
}
"""Soft colours of kernels by kind, on which black letters can be read: A, M, updates and dot products of vectors, what
deflation and coarse solves add, copies, and a worker that waits. The kernels of a kind take its shades in turn."""
OPERATORS = {
    **dict.fromkeys(("A", "A1", "A2", "A, Z^T", "b - A x", "b - A x, Z^T"), "A"),
    **dict.fromkeys(("M", "M1", "M2", "box solves"), "M"),
    **dict.fromkeys(("Z^T", "Z", "E^-1", "AZ", COARSE_SOLVE), "coarse"),
    "transfer": "copies",
    WAITING: "waiting",
}
"""The kinds of kernels that are no lines on vectors."""
SHADES = {"Z^T": 0, "AZ": 1, "E^-1": 2, "Z": 0, COARSE_SOLVE: 2}
"""The shades of kernels that have one colour in every picture, whichever others there are."""
FINEST = "finest grid"
"""In the names of what multigrid does on the grid of A."""


class KernelLooks:
    """Colours of the kernels of a trace.

    A kernel has its own of the `SHADES`, or the first of its kind, or where another kernel has that the next one, in
    the order in which they appear. All kernels of a level of a coarse solve look the same.
    """

    def __init__(self) -> None:
        self._found: dict[str, str] = {}
        self._turns: dict[str, int] = {}

    def of(self, name: str, lane: str = "") -> tuple[int, str]:
        """The place of a kernel, counted from 0, and its colour. lane: what runs on a lane of copies is a copy."""
        name = summed_name(name)
        if name not in self._found:
            kind = kind_of(name, lane)
            own, turn = SHADES.get(operator_of(name)), self._turns.get(kind, 0)
            if kind != "coarse" or own is None:
                own, self._turns[kind] = turn, turn + 1
            self._found[name] = KINDS[kind][own % len(KINDS[kind])]
        return list(self._found).index(name), self._found[name]


def kind_of(name: str, lane: str = "") -> str:
    """One of the `KINDS`: of a kernel by its name, or by its lane where that is one of copies."""
    if side_of(lane) in (TO_DEVICE, TO_HOST):
        return "copies"
    if level_of(name) or name.startswith(COARSE_SOLVE):
        return "coarse"
    if FINEST in name or re.match(r"\w+ = M\(\w+\)$", name):
        return "M"
    return OPERATORS.get(operator_of(name), "vectors")


def kernel_looks(kernels: Iterable[Kernel]) -> dict[str, str]:
    """The colour of each kernel of a trace by name, given in the order in which they appear."""
    looks = KernelLooks()
    return {kernel.name: looks.of(kernel.name, kernel.lane)[1] for kernel in kernels}
