"""How runs and kernels look, on the page and in print: a colour-blind-safe palette, dashes, markers and hatches."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable

from workbench.devices.cycle_names import summed_name
from workbench.lines.schedule import operator_of

# The first four differ by 10 or more in CIE Delta E under simulated protanopia, deuteranopia and tritanopia; all have a
# contrast of at least 3:1 on white. Pages with a dark ground show lighter ones in their place (static/ui/theme.js).
COLOURS = ("#0072b2", "#d55e00", "#008a64", "#b5508a", "#6e5a00", "#3f434c", "#4a93c4", "#7a1f2b")
DASHES = (
    (), (7.0, 3.0), (2.0, 3.0), (9.0, 3.0, 2.0, 3.0), (12.0, 4.0), (4.0, 2.0), (2.0, 2.0, 7.0, 2.0),
    (14.0, 3.0, 2.0, 3.0, 2.0, 3.0),
)  # fmt: skip
MARKERS = ("o", "s", "^", "D", "x", "+", "v", "*")
HATCHES = 4
"""Plain, striped, dotted, crossed."""


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


BY_NAME = {
    "A": (0, 0), "A1": (0, 0), "A2": (0, 1), "A, Z^T": (0, 1), "b - A x": (0, 2), "b - A x, Z^T": (0, 3),
    "M": (2, 0), "Z^T": (1, 0), "Z": (1, 1), "E^-1": (7, 0), "AZ": (7, 1),
}  # fmt: skip
"""Colour and hatch of the operators by kind: A, M, and what deflation adds. A1 and A2 are parts of A."""
BY_ORDER = sorted(
    itertools.product(range(len(COLOURS)), range(HATCHES)),
    key=lambda look: (look in BY_NAME.values(), look[0] in (0, 1, 2, 7), look[1], look[0]),
)
"""Looks of other kernels: the colours that no operator has come first, what operators have last."""


class KernelLooks:
    """Colours and hatches of the kernels of a trace.

    Operators have the same look in every run, on every device and in every file; other kernels take the next one in the
    order in which they appear. All kernels of a level of a coarse solve look the same.
    """

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, int]] = {}

    def of(self, name: str) -> tuple[int, str, int]:
        """The place of a kernel, counted from 0, its colour and its hatch."""
        name = summed_name(name)
        if name not in self._found:
            free = (look for look in BY_ORDER if look not in self._found.values())
            self._found[name] = BY_NAME.get(operator_of(name)) or next(free, BY_ORDER[len(self._found) % len(BY_ORDER)])
        colour, hatch = self._found[name]
        return list(self._found).index(name), COLOURS[colour], hatch


def kernel_looks(names: Iterable[str]) -> dict[str, tuple[str, int]]:
    """Colour and hatch of each kernel of a trace, given in the order in which they appear."""
    looks = KernelLooks()
    return {name: looks.of(name)[1:] for name in names}
