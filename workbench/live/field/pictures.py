"""What the field view draws: a problem's cells or a matrix's entries, cut, thinned and put into bytes."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from workbench.errors import InputError
from workbench.figures import boundaries, pattern_counts
from workbench.figures.pattern import ENTRIES
from workbench.figures.subdomains import COEFFICIENT, ordinal
from workbench.live.field.colormap import Colormap
from workbench.live.field.cuts import MOST_PIXELS, Cut
from workbench.number_text import count as grouped
from workbench.problems import LinearSystem

SIDE = "side lengths"
Picture = tuple[dict[str, Any], bytes]
"""A message for the browser, and its buffer."""


@dataclasses.dataclass(frozen=True, eq=False)
class Scene:
    """All that can be drawn of a system. values: coefficient, shape of the grid, or entries per pixel of a matrix.

    labels: the subdomain of each cell, shape of the grid, or None. notes: sentences for the line under the picture.
    bar: what the colours of cells mean. even: these are linear however wide the values are.
    """

    title: str
    values: np.ndarray
    is_matrix: bool = False
    unknowns: int = 0
    labels: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    bar: str = COEFFICIENT
    even: bool = False

    def with_labels(self, labels: np.ndarray | None) -> Scene:
        """The same with other subdomains, labels of shape (N,); those of a matrix are described in words only."""
        if labels is None:
            return dataclasses.replace(self, labels=None)
        reported = (*self.notes, _subdomains_in_words(labels))
        drawn = None if self.is_matrix else labels.reshape(self.values.shape)
        return dataclasses.replace(self, labels=drawn, notes=reported)

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
            counts = pattern_counts(system.operator.to_csr(), MOST_PIXELS // 2)
        except InputError:
            raise InputError(f"{title} shows neither a grid nor its entries, so there is nothing to draw") from None
        entries = f", {grouped(system.operator.nnz)} entries" if system.operator.nnz else ""
        return Scene(title, counts, True, size, notes=(f"{grouped(size)} unknowns{entries}",))
    values = np.ones(system.grid) if system.coefficient is None else system.coefficient.reshape(system.grid)
    bar = system.coefficient_name or COEFFICIENT
    return Scene(title, values, unknowns=size, notes=(f"{grouped(size)} unknowns",), bar=bar)


def picture(scene: Scene, normal: str, index: int, *, overlay: bool = True, parts: np.ndarray | None = None) -> Picture:
    """The message for the browser and its buffer: a byte per pixel, row by row, then float32 segments of 4 numbers.

    overlay: draw the subdomains. parts: the part of each subdomain, where those of a coarser level are drawn.
    """
    if scene.is_matrix:
        return _matrix_picture(scene)
    cut = Cut(scene.values.shape, normal, index)
    outlined = outlines(scene.labels if overlay else None, cut, parts)
    low, high = float(scene.values.min()), float(scene.values.max())
    shades = Colormap(low, high) if scene.even else Colormap.of_magnitudes(low, high)
    message, buffer = plane_picture(cut(scene.values.ravel()), shades, cut, outlined)
    reported = {"title": scene.title, "note": "; ".join([*scene.notes, *outlined.notes]), "bar": scene.bar}
    return {**message, **reported}, buffer


@dataclasses.dataclass(frozen=True, eq=False)
class Outlines:
    """Subdomains of a plane: `segments` of x0, y0, x1, y1 in side lengths, float32, shape (k, 4), and what to say."""

    segments: np.ndarray
    notes: tuple[str, ...] = ()


NONE = Outlines(np.empty((0, 4), np.float32))


def outlines(labels: np.ndarray | None, cut: Cut, parts: np.ndarray | None = None) -> Outlines:
    """Where subdomains meet in a plane, for labels of the shape of the grid, or the parts of them that are named, shape
    (d,). Cost: two passes over the plane."""
    if labels is None:
        return NONE
    plane = cut.plane(labels)
    lines = boundaries(plane if parts is None else parts[plane])
    notes = (f"every {ordinal(lines.step)} boundary drawn",) if lines.step > 1 else ()
    return Outlines(lines.segments.astype(np.float32), notes)


def plane_picture(plane: np.ndarray, shades: Colormap, cut: Cut, outlined: Outlines) -> Picture:
    """The part of a message on a plane of values, and its buffer."""
    grid = cut.grid or ()
    across, up = cut.sides
    message = {
        "width": plane.shape[1],
        "height": plane.shape[0],
        **shades.reported(),
        "sparse": False,
        "down": False,
        "x": {"label": f"{across} ({SIDE})", "low": 0, "high": 1},
        "y": {"label": f"{up} ({SIDE})", "low": 0, "high": 1},
        "cells": grid["zyx".index(cut.normal)] if len(grid) == 3 else 0,
        "segments": len(outlined.segments),
    }
    # Row 0 of the grid lies at the bottom of the picture.
    return message, np.ascontiguousarray(shades.to_bytes(plane)[::-1]).tobytes() + outlined.segments.tobytes()


def blank(title: str, note: str) -> dict[str, Any]:
    """The message for a picture that cannot be drawn, with a sentence that says why."""
    return {"title": title, "note": note, "width": 0, "height": 0, "segments": 0, "cells": 0}


def _matrix_picture(scene: Scene) -> Picture:
    counts = scene.values
    high = int(counts.max(initial=1))
    shades = Colormap.of_magnitudes(1, high)
    # Byte 0 means no entry.
    pixels = np.where(counts > 0, np.maximum(shades.to_bytes(np.maximum(counts, 1)), 1), 0)
    side = {"low": 0, "high": scene.unknowns}
    message = {
        "title": scene.title,
        "note": "; ".join(scene.notes),
        "width": counts.shape[1],
        "height": counts.shape[0],
        **shades.reported(),
        "bar": ENTRIES,
        "sparse": True,
        "down": True,
        "x": {"label": "column", **side},
        "y": {"label": "row", **side},
        "cells": 0,
        "segments": 0,
    }
    return message, pixels.astype(np.uint8).tobytes()


def _subdomains_in_words(labels: np.ndarray) -> str:
    sizes = np.bincount(labels)
    least, most = int(sizes.min()), int(sizes.max())
    each = f"{grouped(most)}" if least == most else f"{grouped(least)} to {grouped(most)}"
    return f"{grouped(sizes.size)} deflation subdomains of {each} unknowns"
