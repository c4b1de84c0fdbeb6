"""What is drawn of a flow: a quantity in a plane of cells, and the interface on it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np

from workbench.flow.measures import contour
from workbench.flow.sequence import Sequence
from workbench.number_text import number
from workbench.scenes.colormap import Colormap
from workbench.scenes.cuts import Cut, stride
from workbench.scenes.plane import Plane

PRESSURE, SPEED, VORTICITY, PHASE, TEMPERATURE = "pressure", "vertical velocity", "vorticity", "phase", "temperature"
LIVE_CELLS = 256
"""Cells per side of a picture."""
SIDE = "widths"


def quantities(sequence: Sequence) -> tuple[str, ...]:
    """What can be drawn of a sequence."""
    fields = sequence.systems.fields()
    flows = (PRESSURE, SPEED, VORTICITY) if "p" in fields else ()
    return (*flows, *((TEMPERATURE,) if "T" in fields else ()), PHASE)


@dataclasses.dataclass(frozen=True)
class Look:
    """What is to be seen: a quantity, and of a box the plane normal to a side at a cell. step: an earlier one, of which
    the phases alone are kept; 0 for the present state."""

    quantity: str
    normal: str = "y"
    index: int = 0
    step: int = 0


def plane_of_flow(sequence: Sequence, look: Look, before: Colormap | None = None) -> Plane | None:
    """The plane as it is now, in memory of its own; None before the first step. before: the colours that stay as long
    as they fit. Cost: some passes over the plane, for velocities over the grid."""
    if not sequence.steps or sequence.labels is None:
        return None
    cut = Cut(sequence.labels.shape, look.normal, look.index, most=LIVE_CELLS)
    past = 0 < look.step < sequence.steps
    fields = {} if past else sequence.systems.fields()
    inside = cut.plane(sequence.phase_at(look.step) if past else sequence.labels > 0).astype(float)
    # Between the centres of cells of two phases.
    level = cut.plane(fields["phi"]) if "phi" in fields else 0.5 - inside
    if fields and look.quantity != PHASE:
        values = MADE[look.quantity](fields, cut, sequence)
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


def _pressure(fields: Mapping[str, np.ndarray], cut: Cut, _sequence: Sequence) -> np.ndarray:
    return cut.plane(fields["p"])


def _speed(fields: Mapping[str, np.ndarray], cut: Cut, sequence: Sequence) -> np.ndarray:
    up = "xyz"[len(sequence.labels.shape) - 1] if sequence.labels is not None else "y"
    return cut.plane(fields[f"u_{up}"])


def _vorticity(fields: Mapping[str, np.ndarray], cut: Cut, _sequence: Sequence) -> np.ndarray:
    """The component normal to the plane, by central differences between cells, one-sided at walls."""
    across, up = cut.sides
    u, v = (cut.plane(fields[f"u_{name}"]) for name in (across, up))
    return (np.gradient(v, axis=1) - np.gradient(u, axis=0)) * u.shape[1]


def _temperature(fields: Mapping[str, np.ndarray], cut: Cut, _sequence: Sequence) -> np.ndarray:
    return cut.plane(fields["T"])


MADE: dict[str, Callable[[Mapping[str, np.ndarray], Cut, Sequence], np.ndarray]] = {
    PRESSURE: _pressure, SPEED: _speed, VORTICITY: _vorticity, TEMPERATURE: _temperature,
}  # fmt: skip


def _interface(phi: np.ndarray) -> np.ndarray:
    """Segments of phi = 0 in shares of the sides, shape (k, 4)."""
    rows, columns = phi.shape
    segments, _ = contour(phi)
    return ((segments + 0.5) / (columns, rows, columns, rows)).astype(np.float32)
