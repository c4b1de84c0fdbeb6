"""Pictures of the field view: a problem's cells, a matrix's entries or a snapshot of a run, put into bytes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.plots.figures import Boundaries, boundaries, pattern_counts
from workbench.plots.scenes.cuts import MOST_PIXELS, Cut
from workbench.plots.scenes.parts import PALETTE, part_styles, parts_pattern, touching
from workbench.plots.scenes.plane import COEFFICIENT as COEFFICIENT_BAR
from workbench.plots.scenes.plane import ENTRIES, NO_SEGMENTS, Colormap, Plane
from workbench.problems import LinearSystem
from workbench.run.results.snapshots import Quantity, Snapshot
from workbench.words.numbers import count as grouped
from workbench.words.numbers import counted, extent, ordinal

Picture = tuple[dict[str, Any], bytes]
"""A message for the browser, and its buffer."""
COEFFICIENT = "coefficient"
NAMES = {COEFFICIENT: COEFFICIENT, **{quantity.value: quantity.value for quantity in Quantity}}
"""The quantities to choose from, and their names."""
BARS = {Quantity.SOLUTION: "solution x", Quantity.RESIDUAL: "residual b − A x", Quantity.ERROR: "error x* − x"}
PARTS = "grey: between parts"
AUTOMATIC, LINEAR, LOGARITHMIC = COLOURS = ("automatic", "linear", "logarithmic")


@dataclasses.dataclass(frozen=True, eq=False)
class Scene:
    """All that can be drawn of a system. values: coefficient, shape of the grid, or entries per pixel of a matrix.

    labels: the subdomain of each cell, shape of the grid, of a matrix shape (N,), or None. notes: sentences for the
    line under the picture. bar: what the colours of cells mean. even: these are linear however wide the values are.
    matrix: the one whose pattern is drawn, where its subdomains can be coloured. palette: as of a `Plane`.
    """

    title: str
    values: np.ndarray
    is_matrix: bool = False
    unknowns: int = 0
    labels: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    bar: str = COEFFICIENT_BAR
    even: bool = False
    matrix: sparse.csr_array | None = None
    palette: Sequence[str] = ()

    def with_labels(self, labels: np.ndarray | None) -> Scene:
        """The scene with other subdomains, labels of shape (N,)."""
        if labels is None:
            return dataclasses.replace(self, labels=None)
        reported = (*self.notes, _subdomains_in_words(labels))
        drawn = labels if self.is_matrix else labels.reshape(self.values.shape)
        return dataclasses.replace(self, labels=drawn, notes=reported)

    def in_parts(self, labels: np.ndarray) -> Scene:
        """The pattern of a matrix in the colours of parts, labels of shape (N,). Cost: two passes over its entries."""
        assert self.matrix is not None
        styles = part_styles(touching(self.matrix, labels))
        drawn = parts_pattern(self.matrix, labels, styles, self.values.shape[0])
        return dataclasses.replace(self, values=drawn, palette=PALETTE)

    @property
    def cells(self) -> tuple[int, ...]:
        """Cells per side, (z, y, x), where there is a third dimension to cut; else empty."""
        return self.values.shape if self.values.ndim == 3 else ()


def scene(title: str, system: LinearSystem) -> Scene:
    """The scene of a system. Cost: one pass over the matrix where there is no grid, else next to nothing.

    Raises InputError for an operator that shows neither grid nor entries.
    """
    size = system.operator.shape[0]
    if system.grid is None:
        try:
            matrix = system.operator.to_csr()
            counts = pattern_counts(matrix, MOST_PIXELS // 2)
        except InputError:
            raise InputError(f"{title} shows neither a grid nor its entries, so there is nothing to draw") from None
        entries = f", {grouped(system.operator.nnz)} entries" if system.operator.nnz else ""
        return Scene(title, counts, True, size, notes=(f"{grouped(size)} unknowns{entries}",), matrix=matrix)
    values = np.ones(system.grid) if system.coefficient is None else system.coefficient.reshape(system.grid)
    bar = system.coefficient_name or COEFFICIENT_BAR
    return Scene(title, values, unknowns=size, notes=(f"{grouped(size)} unknowns",), bar=bar)


def picture(scene: Scene, normal: str, index: int, *, overlay: bool = True, parts: np.ndarray | None = None) -> Picture:
    """The message for the browser and its buffer: a byte per pixel, row by row, then float32 segments of 4 numbers.

    overlay: draw the subdomains. parts: the part of each subdomain, where those of a coarser level are drawn.
    """
    plane = plane_of(scene, normal, index, overlay=overlay, parts=parts)
    message, buffer = plane_picture(plane, scene.cells["zyx".index(normal)] if scene.cells else 0)
    return {**message, "title": scene.title, "note": "; ".join([*scene.notes, *notes_on(plane.step)])}, buffer


def plane_of(
    scene: Scene,
    normal: str,
    index: int,
    *,
    overlay: bool = True,
    parts: np.ndarray | None = None,
    most: int = MOST_PIXELS,
) -> Plane:
    """The plane of a scene, for `picture`. most: pixels per side."""
    if scene.is_matrix:
        if overlay and scene.labels is not None and scene.matrix is not None:
            scene = scene.in_parts(scene.labels if parts is None else parts[scene.labels])
        kinds = len(scene.palette)
        shades = Colormap(0, kinds) if kinds else Colormap.of_magnitudes(1, int(scene.values.max(initial=1)))
        look: dict[str, Any] = {"matrix": scene.unknowns, "title": scene.title, "palette": scene.palette}
        return Plane(scene.values, PARTS if kinds else ENTRIES, shades, "cividis", ("column", "row"), **look)
    cut = Cut(scene.values.shape, normal, index, most=most)
    low, high = float(scene.values.min()), float(scene.values.max())
    shades = Colormap(low, high) if scene.even else Colormap.of_magnitudes(low, high)
    lines = outlines(scene.labels if overlay else None, cut, parts)
    about: dict[str, Any] = {"title": scene.title, "where": cut.where}
    values = cut(scene.values.ravel())
    return Plane(values, scene.bar, shades, "cividis", cut.sides, segments=lines.segments, step=lines.step, **about)


NONE = Boundaries(NO_SEGMENTS, 1)


def outlines(labels: np.ndarray | None, cut: Cut, parts: np.ndarray | None = None) -> Boundaries:
    """The boundaries of subdomains in a plane, for labels of the shape of the grid. parts: the part of each subdomain,
    shape (d,), to draw the boundaries of these. Cost: two passes over the plane."""
    if labels is None:
        return NONE
    plane = cut.plane(labels)
    lines = boundaries(plane if parts is None else parts[plane])
    return Boundaries(lines.segments.astype(np.float32), lines.step)


def notes_on(step: int) -> list[str]:
    """A note on the boundaries that are drawn, where not all are."""
    return [f"every {ordinal(step)} boundary drawn"] if step > 1 else []


def plane_picture(plane: Plane, cells: int) -> Picture:
    """The part of a message on a plane of values, and its buffer. cells: of a cube, along the normal."""
    is_matrix, (across, up) = bool(plane.matrix), plane.sides
    end, unit = plane.matrix or 1, "" if is_matrix else f" ({plane.unit})"
    message = {
        "width": plane.values.shape[1],
        "height": plane.values.shape[0],
        **plane.colours.reported(),
        "bar": plane.bar,
        "sparse": is_matrix,
        "down": is_matrix,
        "x": {"label": f"{across}{unit}", "low": 0, "high": end},
        "y": {"label": f"{up}{unit}", "low": 0, "high": end * plane.aspect},
        "aspect": plane.aspect,
        "cells": cells,
        "segments": len(plane.segments),
        "kinds": list(plane.palette),
    }
    if plane.palette:
        return message, plane.values.astype(np.uint8).tobytes()
    if is_matrix:
        # Byte 0 means no entry.
        pixels = plane.colours.to_bytes(np.maximum(plane.values, 1))
        return message, np.where(plane.values > 0, np.maximum(pixels, 1), 0).astype(np.uint8).tobytes()
    # Row 0 of the grid lies at the bottom of the picture.
    pixels = np.ascontiguousarray(plane.colours.to_bytes(plane.values)[::-1])
    return message, pixels.tobytes() + plane.segments.tobytes()


def blank(title: str, note: str) -> dict[str, Any]:
    """The message for a picture that cannot be drawn, with a sentence that says why."""
    return {"title": title, "note": note, "width": 0, "height": 0, "segments": 0, "cells": 0}


def _subdomains_in_words(labels: np.ndarray) -> str:
    sizes = np.bincount(labels)
    each = extent(int(sizes.min()), int(sizes.max()), grouped)
    return f"{counted(sizes.size, 'deflation subdomain')} of {each} unknowns"


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
