"""Arrangements of bubbles to begin with."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from workbench.live.builders.bubble_drawing import Row
from workbench.problems.bubble_geometry import Geometry, to_text


def presets(dimensions: int) -> dict[str, dict[str, Any]]:
    """The arrangements by name, as the parameters of a problem that say where its bubbles lie."""
    sides = " x ".join
    named = {"one bubble": _grid(1)}
    named |= {sides(str(k) * dimensions): _grid(k**dimensions) for k in (2, 3, 4)}
    if dimensions == 2:
        named["staggered"] = _listed(_staggered_rows())
        named["a big one among small ones"] = _listed([(0.5, 0.5, 0.22), *_ring(12, 0.38, 0.07)])
    else:
        corners = list(itertools.product((0.22, 0.78), repeat=3))
        named["staggered"] = _listed([*((*corner, 0.18) for corner in corners), (0.5, 0.5, 0.5, 0.18)])
        small = [(*corner, 0.1) for corner in itertools.product((0.18, 0.82), repeat=3)]
        named["a big one among small ones"] = _listed([(0.5, 0.5, 0.5, 0.3), *small])
    return named


def _grid(count: int) -> dict[str, Any]:
    return {"layout": "grid", "count": count}


def _listed(rows: Iterable[Row]) -> dict[str, Any]:
    values = np.array(list(rows))
    return {"layout": "list", "bubbles": to_text(Geometry(values[:, :-1], values[:, -1]))}


def _staggered_rows() -> list[Row]:
    """Rows of three and two in turn, each over the gaps of the one below."""
    return [
        (x, y, 0.1)
        for number, y in enumerate((0.14, 0.38, 0.62, 0.86))
        for x in ((0.2, 0.5, 0.8) if number % 2 == 0 else (0.35, 0.65))
    ]


def _ring(count: int, distance: float, radius: float) -> list[Row]:
    angles = 2 * np.pi * np.arange(count) / count
    return [
        (round(0.5 + distance * float(np.cos(angle)), 4), round(0.5 + distance * float(np.sin(angle)), 4), radius)
        for angle in angles
    ]
