"""Jacobi sweeps on many boxes: plain, or several sweeps at a time on rows that stay in the cache.

Time skewing (wavefronts): Wonnacott (2000), "Using time skewing to eliminate idle time due to memory bandwidth and
network limitations"; for threads that follow one another through a box: Wellein, Hager, Zeiser, Wittmann, Fehske
(2009), "Efficient temporal blocking for stencil computations by multicore-aware wavefront parallelization".
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from workbench.compiler.words import LINE_BYTES
from workbench.devices.cpu import box_sweep_kernels as kernels
from workbench.devices.host.memory import vector
from workbench.devices.jacobi_boxes import JacobiBoxes
from workbench.devices.operator_protocols import OperatorTraits
from workbench.jit.threads import cores, launch, prepare
from workbench.jit.work_stealing import APART

KERNELS = ("plain", "blocked")
CACHE = 768 * 1024
"""Bytes of a part of a box, all planes together: less than a core's second cache."""
DEPTH = 16
"""Sweeps of a pass: enough to hide what threads fetch from one another, rows that a part needs at least."""
PARTS_PER_THREAD = 2
"""Parts of a box that threads share: while one is being computed the next one waits for its neighbours."""
LAUNCH = 2**25
"""Unknowns times sweeps of a launch, some milliseconds: then threads that left, because they had waited, come back."""


class BoxSweeps(OperatorTraits):
    """z = `sweeps` Jacobi sweeps on every box for r, from z = 0. Both kernels give the same bits.

    Work space: 3 planes of padded boxes, 6 for variable coefficients. r and z must be distinct.
    """

    fused_dots = ()

    def __init__(self, boxes: JacobiBoxes, kernel: str = "auto") -> None:
        boxes.check_kernel(kernel, KERNELS, "cpu")
        self._boxes, self._later = boxes, boxes.sweeps - 1
        self.kernel = "blocked" if kernel == "auto" else kernel
        lanes = LINE_BYTES // boxes.inner.itemsize
        pitches = [(width + lanes) // lanes * lanes for _, width in boxes.shapes]
        # Boxes that threads take whole come first, the largest of all; their number is a multiple of that of the cores.
        order = sorted(range(len(pitches)), key=lambda k: -math.prod(boxes.shapes[k]))
        self._alone = len(order) // cores() * cores()
        together = len(order) - self._alone
        table, parts, plane = [], [], 0
        for place, k in enumerate(order):
            (rows, width), pitch = boxes.shapes[k], pitches[k]
            row_bytes = boxes.words * pitch * boxes.inner.itemsize
            number = -(-rows * row_bytes // CACHE)
            if place >= self._alone:
                number = max(number, PARTS_PER_THREAD * -(-cores() // together))
            cuts = _cuts(rows, number)
            table.append((boxes.starts[k], rows, width, pitch, plane + pitch, len(parts), len(parts) + len(cuts) - 1))
            parts += [(place, low, high) for low, high in itertools.pairwise(cuts)]
            plane += (rows + 2) * pitch
        # A line more: the last row of a plane reads one entry beyond it.
        plane += lanes
        self._table, self._parts = np.array(table, np.int64), np.array(parts, np.int64)
        self._depth = DEPTH
        self._room = vector(boxes.words * plane, boxes.inner)
        self._scales = np.ones(len(table), boxes.outer)
        self._numbers = np.zeros((len(table), 3), boxes.inner)
        if boxes.constant:
            self._numbers[:] = boxes.numbers[order]
        else:
            self._place_coefficients(plane)
        self._most = max(1, LAUNCH // (boxes.size * self._depth)) * self._depth
        shared = len(parts) - (table[self._alone][5] if together else len(parts))
        self._states = np.zeros((2 * shared, APART), np.int64)
        self._prepare()

    def _place_coefficients(self, plane: int) -> None:
        boxes = self._boxes
        bands = {kernels.INVERSE: 1 / boxes.main, kernels.WEST: boxes.lower_x, kernels.SOUTH: boxes.lower_y}
        for number, values in bands.items():
            for start, rows, width, pitch, at, *_ in self._table.tolist():
                box = self._room[number * plane + at :][: rows * pitch].reshape(rows, pitch)
                box[:, :width] = values[start : start + rows * width].reshape(rows, width)

    def _prepare(self) -> None:
        boxes, outer = self._boxes, np.empty(0, self._boxes.outer)
        prepare(kernels.begin, outer, self._room, self._table, self._numbers, self._scales, True, True)
        prepare(kernels.end, outer, self._room, self._table, self._scales, 1, True)
        if self.kernel == "plain":
            prepare(kernels.plain, self._room, self._table, self._numbers, 1, boxes.constant)
        else:
            numbers = (1, 1, 1, 1, self._states, boxes.constant)
            prepare(kernels.blocked, self._room, self._table, self._numbers, self._parts, *numbers)

    def apply(self, r: np.ndarray, z: np.ndarray, *_: str) -> None:
        """z for r, both of shape (n_loc,)."""
        boxes, arrays = self._boxes, (self._room, self._table, self._numbers)
        launch(boxes.size, kernels.begin, r, *arrays, self._scales, boxes.constant, boxes.mixed)
        work = boxes.size * self._later
        if self.kernel == "plain":
            launch(work, kernels.plain, *arrays, self._later, boxes.constant)
        else:
            for first in range(0, self._later, self._most):
                self._states.fill(0)
                sweeps = min(self._most, self._later - first)
                numbers = (first, sweeps, self._depth, self._alone, self._states, boxes.constant)
                launch(work, kernels.blocked, *arrays, self._parts, *numbers)
        launch(boxes.size, kernels.end, z, self._room, self._table, self._scales, self._later % 2, boxes.constant)

    @property
    def traffic(self) -> int:
        """Bytes between the first cache and those behind it, each array of a pass counted once."""
        return self._boxes.traffic(self._later if self.kernel == "plain" else math.ceil(self._later / self._depth))

    @property
    def flops(self) -> int:
        return self._boxes.flops


def _cuts(rows: int, number: int) -> list[int]:
    """Rows between parts of equal height, each of at least DEPTH rows if there are several."""
    number = max(1, min(number, rows // DEPTH))
    return [rows * k // number for k in range(number + 1)]
