"""The parts of boxes split by phase, numbered on an accelerator: the host sees one number per box and per part."""

from __future__ import annotations

import math

import numpy as np

from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.kernels import deflation as texts
from workbench.host.boxes import Boxes, sides

PHASES = {np.dtype(np.uint8): "unsigned char", np.dtype(np.uint16): "unsigned short", np.dtype(np.int32): "int"}
"""Types of phases, as they are called in kernels."""


def numbered_parts(
    device: Launcher, phase: np.ndarray, grid: tuple[int, ...], per_side: tuple[int, ...]
) -> tuple[Vector, Boxes] | None:
    """The part of each cell, int32, shape (N,), on the device, and the boxes; None where a box has too many phases.

    Cost: two reads of the phases, one write of the parts; N bytes and more are copied for phases of uint8.
    """
    shape, boxes = sides(grid, per_side)
    count = math.prod(per_side)
    phase = phase.reshape(-1) if phase.dtype in PHASES else phase.reshape(-1).astype(np.int32)
    kernel = device.kernel(texts.number_parts(PHASES[phase.dtype]), "number_parts", np.dtype(np.float32))
    read = (device.to_device(phase), *(np.int64(side) for side in (*shape, *boxes)))
    nothing = device.empty((1,), np.int32)
    starts = device.zeros(count, np.int32)
    device.launch_over(kernel, count, *read, np.int32(0), starts, nothing, nothing, nothing, nothing)
    phases = device.to_host(starts)
    if phases.min() < 0:
        return None
    firsts = np.append(0, np.cumsum(phases, dtype=np.int64))
    labels = device.empty((phase.size,), np.int32)
    found = [device.empty((int(firsts[-1]),), np.int32) for _ in range(3)]
    placed = device.array(firsts[:-1].astype(np.int32), np.int32)
    device.launch_over(kernel, count, *read, np.int32(1), placed, labels, *found)
    box, kind, cells = (device.to_host(vector) for vector in found)
    return labels, Boxes(grid, per_side, box, kind, cells.astype(np.int64))
