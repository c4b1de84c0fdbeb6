"""How runs and kernels look, on the page and in print: a colour-blind-safe palette, dashes, markers and hatches."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from workbench.devices.cycle_names import summed_name

# The first four differ by 10 or more in CIE Delta E under simulated protanopia, deuteranopia and tritanopia; all have a
# contrast of at least 3:1 on white. Pages with a dark ground show lighter ones in their place (static/ui/theme.js).
COLOURS = ("#0072b2", "#d55e00", "#008a64", "#b5508a", "#6e5a00", "#3f434c", "#4a93c4", "#7a1f2b")
DASHES = (
    (), (7.0, 3.0), (2.0, 3.0), (9.0, 3.0, 2.0, 3.0), (12.0, 4.0), (4.0, 2.0), (2.0, 2.0, 7.0, 2.0),
    (14.0, 3.0, 2.0, 3.0, 2.0, 3.0),
)  # fmt: skip
MARKERS = ("o", "s", "^", "D", "x", "+", "v", "*")
HATCHES = 4
"""Plain, striped, dotted, crossed: with the colours enough to tell 32 kernels apart."""


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


def look_of(place: int) -> tuple[str, int]:
    """Colour and hatch of the kernel that is the place-th to appear."""
    return COLOURS[place % len(COLOURS)], place // len(COLOURS) % HATCHES


def kernel_looks(names: Iterable[str]) -> dict[str, tuple[str, int]]:
    """Colour and hatch of each kernel of a trace, given in the order in which they appear. All kernels of a level of a
    coarse solve look the same."""
    places: dict[str, int] = {}
    return {name: look_of(places.setdefault(summed_name(name), len(places))) for name in names}
