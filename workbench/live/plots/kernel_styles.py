"""How kernels look: the same on the timeline, under the roof and in their tables."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.devices.cycle_names import summed_name
from workbench.figures.style import COLOURS

HATCHES = 4
"""Plain, striped, dotted, crossed: with the colours enough to tell 32 kernels apart."""


def look_of(place: int) -> tuple[str, int]:
    """Colour and hatch of the kernel that is the place-th to appear."""
    return COLOURS[place % len(COLOURS)], place // len(COLOURS) % HATCHES


def kernel_looks(names: Iterable[str]) -> dict[str, tuple[str, int]]:
    """Colour and hatch of each kernel of a trace, given in the order in which they appear. All kernels of a level of a
    coarse solve look the same."""
    places: dict[str, int] = {}
    return {name: look_of(places.setdefault(summed_name(name), len(places))) for name in names}


def patch(look: tuple[str, int]) -> str:
    """A square of that look, as HTML. The page's own colours go before those of print."""
    colour, hatch = look
    own = f"var(--wb-s{COLOURS.index(colour) + 1}, {colour})"
    ground = f"repeating-linear-gradient(45deg, {own} 0 3px, transparent 3px 5px)" if hatch else own
    return (
        f'<span class="wb-patch" style="background: {ground}; display: inline-block; width: 14px; height: 10px"></span>'
    )
