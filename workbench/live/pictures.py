"""What the field view draws: a problem's cells or a matrix's entries, cut, thinned and put into bytes."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from workbench.errors import InputError
from workbench.figures import boundaries, pattern_counts, section
from workbench.figures.pattern import ENTRIES
from workbench.figures.subdomains import COEFFICIENT, is_wide, ordinal
from workbench.problems import LinearSystem

MOST_PIXELS = 512
"""Pixels per side: more than a notebook has room for, and a quarter of a megabyte."""


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
        """The same with other subdomains, labels of shape (N,); those of a matrix are told in words only."""
        if labels is None:
            return dataclasses.replace(self, labels=None)
        told = (*self.notes, _subdomains_in_words(labels))
        drawn = None if self.is_matrix else labels.reshape(self.values.shape)
        return dataclasses.replace(self, labels=drawn, notes=told)

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
        entries = f", {system.operator.nnz:,} entries" if system.operator.nnz else ""
        return Scene(title, counts, True, size, notes=(f"{size:,} unknowns{entries}",))
    values = np.ones(system.grid) if system.coefficient is None else system.coefficient.reshape(system.grid)
    bar = system.coefficient_name or COEFFICIENT
    return Scene(title, values, unknowns=size, notes=(f"{size:,} unknowns",), bar=bar)


def picture(scene: Scene, normal: str, index: int) -> tuple[dict[str, Any], bytes]:
    """The message for the browser and its buffer: a byte per pixel, row by row, then float32 segments of 4 numbers."""
    if scene.is_matrix:
        return _matrix_picture(scene)
    position = (index + 0.5) / scene.cells[_axis(normal)] if scene.cells else 0.5
    values, across, up = section(scene.values, normal, position)
    low, high = float(scene.values.min()), float(scene.values.max())
    log = is_wide(low, high) and not scene.even
    pixels = _to_bytes(_thinned(values), low, high, log)
    lines = boundaries(section(scene.labels, normal, position)[0]) if scene.labels is not None else None
    notes = list(scene.notes)
    if lines is not None and lines.step > 1:
        notes.append(f"every {ordinal(lines.step)} boundary drawn")
    message = {
        "title": scene.title,
        "note": "; ".join(notes),
        "width": pixels.shape[1],
        "height": pixels.shape[0],
        "low": low,
        "high": high,
        "log": log,
        "bar": scene.bar,
        "sparse": False,
        "down": False,
        "x": {"label": f"{across} (side lengths)", "low": 0, "high": 1},
        "y": {"label": f"{up} (side lengths)", "low": 0, "high": 1},
        "cells": scene.cells[_axis(normal)] if scene.cells else 0,
        "segments": len(lines.segments) if lines is not None else 0,
    }
    # Row 0 of the grid lies at the bottom of the picture.
    buffer = np.ascontiguousarray(pixels[::-1]).tobytes()
    return message, buffer + (lines.segments.astype(np.float32).tobytes() if lines is not None else b"")


def blank(title: str, note: str) -> dict[str, Any]:
    """The message for a picture that cannot be drawn, with a sentence that says why."""
    return {"title": title, "note": note, "width": 0, "height": 0, "segments": 0, "cells": 0}


def _matrix_picture(scene: Scene) -> tuple[dict[str, Any], bytes]:
    counts = scene.values
    high = int(counts.max(initial=1))
    log = is_wide(1, high)
    # Byte 0 means no entry.
    shades = np.where(counts > 0, np.maximum(_to_bytes(np.maximum(counts, 1), 1, high, log), 1), 0)
    side = {"low": 0, "high": scene.unknowns}
    message = {
        "title": scene.title,
        "note": "; ".join(scene.notes),
        "width": counts.shape[1],
        "height": counts.shape[0],
        "low": 1,
        "high": high,
        "log": log,
        "bar": ENTRIES,
        "sparse": True,
        "down": True,
        "x": {"label": "column", **side},
        "y": {"label": "row", **side},
        "cells": 0,
        "segments": 0,
    }
    return message, shades.astype(np.uint8).tobytes()


def _thinned(values: np.ndarray) -> np.ndarray:
    """Every k-th cell, so that no side has more than MOST_PIXELS."""
    step = -(-max(values.shape) // MOST_PIXELS)
    return values[step // 2 :: step, step // 2 :: step]


def _to_bytes(values: np.ndarray, low: float, high: float, log: bool) -> np.ndarray:
    """0 for low to 255 for high."""
    if high <= low:
        return np.zeros(values.shape, np.uint8)
    share = np.log(values / low) / np.log(high / low) if log else (values - low) / (high - low)
    return np.rint(255 * share).astype(np.uint8)


def _axis(normal: str) -> int:
    return "zyx".index(normal)


def _subdomains_in_words(labels: np.ndarray) -> str:
    sizes = np.bincount(labels)
    least, most = int(sizes.min()), int(sizes.max())
    each = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    return f"{sizes.size:,} deflation subdomains of {each} unknowns"
