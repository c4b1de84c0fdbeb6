"""The part of a 3D problem that does not change in a run, and the cut of its vectors that is sent to the 3D view."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from scipy import ndimage

from workbench.devices.slices import VolumeSlice
from workbench.live.field.pictures import Picture, Scene
from workbench.plots.scenes.plane import Colormap
from workbench.words.numbers import count as grouped

MOST_CELLS = 128
"""Cells per side of a picture at rest: 2 MiB, and more than a view has pixels for."""
LIVE_CELLS = 64
"""Cells per side of a picture that is replaced within a tenth of a second: 256 KiB."""
MOST_LABELS = 1 << 16
"""Subdomains that 16 bits distinguish."""


@dataclasses.dataclass(frozen=True)
class VolumeCut:
    """Reduces a vector, shape (N,), on a grid (nz, ny, nx) to at most `most` cells per side, a new array.

    peaks: of each block the value of largest magnitude, with its sign, so that no hot spot is lost; else the cell in
    its middle. Cost: one read of the cells that count.
    """

    grid: tuple[int, int, int]
    peaks: bool = False
    most: int = MOST_CELLS

    def __call__(self, vector: np.ndarray) -> np.ndarray:
        return self.volume_slice(vector)

    @property
    def step(self) -> int:
        """Cells per side of a block."""
        return -(-max(self.grid) // self.most)

    @property
    def volume_slice(self) -> VolumeSlice:
        """The reduction in the form that a device computes by itself."""
        return VolumeSlice(self.grid, self.step, self.peaks and self.step > 1)

    @property
    def reach(self) -> list[float]:
        """The share of the blocks that the cube takes along x, y and z: less than 1 where the last block is smaller."""
        return [cells / (self.step * -(-cells // self.step)) for cells in reversed(self.grid)]

    def words(self) -> str:
        """The reduction of cells in words; empty where each is drawn."""
        if self.step == 1:
            return ""
        block = " × ".join([str(self.step)] * 3)
        shown = "the largest magnitude of" if self.peaks else "one of"
        return f"a drawn cell shows {shown} {block} cells"


@dataclasses.dataclass(frozen=True, eq=False)
class Still:
    """The volumes of a scene, bytes or 16-bit labels, z slowest.

    coefficient: of each cell, as bytes of `shades`. surfaces: the same smoothed, so that the surface between two phases
    has a slope to be lit. inside: the phase that takes less room is that of the greater bytes. pieces: of each
    subdomain its label and the corners x0, y0, z0, x1, y1, z1 of its box in side lengths.
    """

    scene: Scene
    shades: Colormap
    coefficient: np.ndarray
    surfaces: np.ndarray
    inside: bool
    labels: np.ndarray | None
    pieces: np.ndarray
    cut: VolumeCut
    labels_cut: VolumeCut

    @classmethod
    def of(cls, scene: Scene) -> Still:
        """The volumes of a scene. Cost: some passes over at most 128^3 cells."""
        layers, rows, columns = scene.values.shape
        grid = (layers, rows, columns)
        cut = VolumeCut(grid)
        low, high = float(scene.values.min()), float(scene.values.max())
        shades = Colormap(low, high) if scene.even else Colormap.of_magnitudes(low, high)
        shares = shades.share(cut(scene.values)).astype(np.float32)
        coefficient = shades.to_bytes(cut(scene.values))
        labels_cut = VolumeCut(grid, most=LIVE_CELLS)
        labels, pieces = None, np.empty((0, 7), np.float32)
        if scene.labels is not None and int(scene.labels.max()) < MOST_LABELS:
            labels = labels_cut(scene.labels).astype(np.uint16)
            pieces = boxes(labels, labels_cut)
        inside = bool(np.count_nonzero(shares > 0.5) <= shares.size // 2)
        surfaces = np.rint(255 * smoothed(shares)).astype(np.uint8)
        return cls(scene, shades, coefficient, surfaces, inside, labels, pieces, cut, labels_cut)

    def message(self) -> Picture:
        """The message for the browser and its buffer: pieces as float32, labels as 16-bit numbers, then surfaces."""
        labels = b"" if self.labels is None else self.labels.tobytes()
        message: dict[str, Any] = {
            "part": "still",
            "size": self.surfaces.shape[::-1],
            "reach": self.cut.reach,
            "labelled": [0, 0, 0] if self.labels is None else self.labels.shape[::-1],
            "labelsreach": self.labels_cut.reach,
            "pieces": len(self.pieces),
            "phases": self.shades.low < self.shades.high,
            "inside": self.inside,
        }
        return message, self.pieces.tobytes() + labels + self.surfaces.tobytes()

    def coefficient_message(self) -> Picture:
        """The coefficient as the quantity that is shown."""
        scene = self.scene
        return {
            "part": "values",
            "title": scene.title,
            "note": "; ".join(filter(None, [*scene.notes, self.cut.words(), self.unlabelled])),
            "bar": scene.bar,
            "size": self.coefficient.shape[::-1],
            "reach": self.cut.reach,
            "cells": scene.values.shape[::-1],
            **self.shades.reported(),
        }, self.coefficient.tobytes()

    @property
    def unlabelled(self) -> str:
        """Why subdomains are not drawn; empty where they are, and where there are none."""
        if self.scene.labels is None or self.labels is not None:
            return ""
        count = int(self.scene.labels.max()) + 1
        return f"{grouped(count)} subdomains are not drawn, since the view distinguishes at most {grouped(MOST_LABELS)}"


def smoothed(shares: np.ndarray) -> np.ndarray:
    """The mean of 5^3 cells with binomial weights; cells beyond the boundary count as the one next to it."""
    made = shares
    for axis in range(3):
        made = ndimage.correlate1d(made, np.array([1, 4, 6, 4, 1]) / 16, axis=axis, mode="nearest")
    return made.clip(0, 1)


def boxes(labels: np.ndarray, cut: VolumeCut) -> np.ndarray:
    """The label of each subdomain of a reduced grid, and the box around its cells in side lengths, shape (k, 7).

    Labels that no block of cells has kept are left out.
    """
    rows = []
    reach = np.array(cut.reach)
    for label, box in enumerate(ndimage.find_objects(labels.astype(np.int32) + 1)):
        if box is not None:
            low = np.array([side.start for side in reversed(box)]) / labels.shape[::-1] / reach
            high = np.array([side.stop for side in reversed(box)]) / labels.shape[::-1] / reach
            rows.append([label, *low, *np.minimum(high, 1)])
    return np.array(rows, np.float32).reshape(-1, 7)
