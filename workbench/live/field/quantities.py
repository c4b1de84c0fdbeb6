"""Pictures of snapshots of a run: solution, residual or error in a plane of cells, or as a band over unknowns."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.live.field.pictures import NONE, Picture, blank, notes_on, plane_picture
from workbench.plots.figures import Boundaries
from workbench.plots.scenes.cuts import Cut
from workbench.plots.scenes.plane import Colormap, Plane
from workbench.run.results.snapshots import Quantity, Snapshot
from workbench.words.numbers import count as grouped

COEFFICIENT = "coefficient"
NAMES = {COEFFICIENT: COEFFICIENT, **{quantity.value: quantity.value for quantity in Quantity}}
"""The quantities to choose from, and their names."""
BARS = {Quantity.SOLUTION: "solution x", Quantity.RESIDUAL: "residual b − A x", Quantity.ERROR: "error x* − x"}
AUTOMATIC, LINEAR, LOGARITHMIC = COLOURS = ("automatic", "linear", "logarithmic")


def is_logarithmic(quantity: Quantity, colours: str) -> bool:
    """Residual and error spread over decades, so that they are logarithmic unless `colours` is linear."""
    return colours == LOGARITHMIC or (colours == AUTOMATIC and quantity is not Quantity.SOLUTION)


def plane_of_look(
    look: Snapshot, shades: Colormap, cut: Cut, lines: Boundaries = NONE, *, title: str = "", bar: str = ""
) -> Plane:
    """A snapshot of a run as a picture. bar: by default the quantity."""
    assert look.values is not None
    map = "signed" if shades.signed else "viridis"
    about = {"segments": lines.segments, "step": lines.step, "title": title, "where": cut.where}
    return Plane(look.values, bar or BARS[look.quantity], shades, map, cut.sides, **about)


def shades_of(look: Snapshot, colours: str) -> Colormap | None:
    """The colour scale of a snapshot; None where it has no values."""
    if look.values is None:
        return None
    return Colormap.of(look.values, logarithmic=is_logarithmic(look.quantity, colours))


def field_picture(
    look: Snapshot, shades: Colormap | None, cut: Cut, lines: Boundaries, title: str, unknowns: int
) -> Picture:
    """The message for the browser and its buffer, as `pictures.picture` makes them; a sentence where nothing is."""
    quantity, values = look.quantity, look.values
    heading = f"{quantity.value} after iteration {grouped(look.iteration)}: {title}"
    if values is None or shades is None:
        return {**blank(f"{quantity.value}: {title}", f"{look.words}."), **_about(look)}, b""
    if cut.grid is None:
        message, buffer = _band(values, shades, unknowns)
    else:
        cells = cut.grid["zyx".index(cut.normal)] if len(cut.grid) == 3 else 0
        message, buffer = plane_picture(plane_of_look(look, shades, cut, lines), cells)
    reported = [look.words, f"{grouped(unknowns)} unknowns", cut.words(), *notes_on(lines.step)]
    if not np.isfinite(values).all():
        reported.append("there are values that are not finite")
    about = {"title": heading, "note": "; ".join(filter(None, reported)), "bar": BARS[quantity], **_about(look)}
    return {**message, **about}, buffer


def _about(look: Snapshot) -> dict[str, Any]:
    return {"iteration": look.iteration}


def _band(values: np.ndarray, shades: Colormap, unknowns: int) -> Picture:
    """Least and greatest of each stretch of unknowns, as shares of the scale, float32."""
    message = {
        "band": True,
        "width": values.shape[1],
        "height": 1,
        **shades.reported(),
        "x": {"label": "unknown", "low": 0, "high": unknowns},
        "cells": 0,
        "segments": 0,
    }
    return message, shades.share(values).astype(np.float32).tobytes()
