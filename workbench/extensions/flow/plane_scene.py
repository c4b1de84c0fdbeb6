"""The picture of a flow: a quantity in a plane of cells, and the interface on it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from workbench.extensions.flow.measures import contour
from workbench.plots.scenes.cuts import Cut, stride
from workbench.plots.scenes.plane import Colormap, Plane
from workbench.sequences.sequence import Sequence
from workbench.words.numbers import number

FRONT = "seen from the front, bright is near"
PRESSURE, SPEED, VORTICITY, PHASE, TEMPERATURE = "pressure", "vertical velocity", "vorticity", "phase", "temperature"
LIVE_CELLS = 256
"""Cells per side of a picture."""
SIDE = "widths"


def quantities(sequence: Sequence) -> tuple[str, ...]:
    """The quantities of a sequence that can be drawn."""
    known = sequence.problem.drawn
    flows = (PRESSURE, SPEED, VORTICITY) if "p" in known else ()
    return (*flows, *((TEMPERATURE,) if "T" in known else ()), PHASE)


@dataclasses.dataclass(frozen=True)
class Look:
    """The view of a flow: a quantity, and in a box the plane normal to a side at a cell. step: an earlier one, of which
    the phases alone are kept; 0 for the present state."""

    quantity: str
    normal: str = "y"
    index: int = 0
    step: int = 0


def plane_of_flow(sequence: Sequence, look: Look, before: Colormap | None = None) -> Plane | None:
    """The plane as it is now, in memory of its own; None before the first step. before: the colours that stay as long
    as they fit. Cost: some passes over the plane, and what makes the fields that are shown."""
    if not sequence.steps or sequence.labels is None:
        return None
    cut = Cut(sequence.labels.shape, look.normal, look.index, most=LIVE_CELLS)
    past = 0 < look.step < sequence.steps
    fields = {} if past else sequence.systems.drawn()
    inside = cut.plane(sequence.phase_at(look.step) if past else sequence.labels > 0).astype(float)
    # Between the centres of cells of two phases.
    level = cut.plane(fields["phi"]()) if "phi" in fields else 0.5 - inside
    if fields and look.quantity != PHASE:
        values = _values(look.quantity, lambda name: cut.plane(fields[name]()), cut)
        colours = Colormap.of(values, logarithmic=False).kept_from(before)
    else:
        values, colours = inside, Colormap(0.0, 1.0)
    at = look.step if past else sequence.steps
    title = f"step {at}, time {number(sequence.series['time'][at - 1])}"
    bar = PHASE if past else look.quantity
    (rows, columns), step = values.shape, stride(values.shape, LIVE_CELLS)
    thinned = np.array(values[::step, ::step])
    lengths = {"unit": SIDE, "aspect": rows / columns}
    shades = "signed" if colours.signed else "viridis"
    lines = _interface(level)
    return Plane(thinned, bar, colours, shades, cut.sides, segments=lines, title=title, where=cut.where, **lengths)


def film_plane(sequence: Sequence, look: Look, before: Colormap | None = None) -> Plane | None:
    """The plane of a film: of a box its bubbles as they are seen from the front, since a plane of cells shows few of
    them. None before the first step."""
    if sequence.labels is not None and sequence.labels.ndim == 3:
        return front_of_flow(sequence, look.step)
    return plane_of_flow(sequence, look, before)


def front_of_flow(sequence: Sequence, step: int = 0) -> Plane:
    """The bubbles of a box along y: of each column of cells how near its first cell in a bubble is, 1 at the front and
    0 for none. step: 0 for the last."""
    at = step or sequence.steps
    inside = sequence.phase_at(at)
    seen = inside.any(axis=1)
    near = np.where(seen, 1 - inside.argmax(axis=1) / inside.shape[1], 0.0)
    (rows, columns), thin = near.shape, stride(near.shape, LIVE_CELLS)
    title = f"step {at}, time {number(sequence.series['time'][at - 1])}"
    lines = _interface(0.5 - seen.astype(float))
    shown = np.array(near[::thin, ::thin])
    around = {"segments": lines, "title": title, "unit": SIDE, "aspect": rows / columns}
    return Plane(shown, FRONT, Colormap(0.0, 1.0), "viridis", ("x", "z"), **around)


def _values(quantity: str, plane: Callable[[str], np.ndarray], cut: Cut) -> np.ndarray:
    """A quantity in a plane. plane: returns that of a field."""
    assert cut.grid is not None
    if quantity == SPEED:
        return plane(f"u_{'xyz'[len(cut.grid) - 1]}")
    if quantity == VORTICITY:
        # The component normal to the plane, by central differences between cells, one-sided at walls.
        u, v = (plane(f"u_{side}") for side in cut.sides)
        return (np.gradient(v, axis=1) - np.gradient(u, axis=0)) * u.shape[1]
    return plane({PRESSURE: "p", TEMPERATURE: "T"}[quantity])


def _interface(phi: np.ndarray) -> np.ndarray:
    """Segments of phi = 0 in shares of the sides, shape (k, 4)."""
    rows, columns = phi.shape
    segments, _ = contour(phi)
    return ((segments + 0.5) / (columns, rows, columns, rows)).astype(np.float32)
