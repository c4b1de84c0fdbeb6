"""Triangular solves with blocks of whole grid rows, by wavefronts: a work-item computes a row, some columns behind the
work-item of the row before.

A forward step is v = (d - b*above - a*before)*c, where a, b and d are multiplied by c beforehand; the first row of a
block has none above. A backward step is v = d - (b*above + a*before)*c, where rows and columns are counted from the
last; the bands of a neighbour to the east or north are stored there.

A work-item computes `step` columns between two barriers. The values above them are known by then, so each column
depends on a single product of the column before. Operands and results pass through local memory in tiles, so that
loads and stores are coalesced; a row of a tile begins `step` columns behind the row before. In CUDA the warps that load
the tile after are others than those that compute.
"""

from __future__ import annotations

import dataclasses

from workbench.devices.kernels.kernel_text import KernelText, fill, read
from workbench.devices.kernels.prelude import strips

WARP = 32
LOADERS, BYTES = (256, 512), (4096, 12288)
"""Work-items of a group of CUDA that load and store, and bytes of a tile of one operand: for at most a warp of rows,
and for more, whose tiles would be narrow; measured on an H200. Three tiles and their margins fit local memory."""
STEP = 8
"""Columns between two barriers, at most; with more the rows of a block begin later."""
PART = 16
"""Bytes that a work-item reads at once from local memory, at most."""


@dataclasses.dataclass(frozen=True)
class Wavefront:
    """u = scale M^-1 r for M = (E + L) E^-1 (E + L^H), with (r, u), (u, u) and (r, r).

    west and south are the bands at distances 1 and width. rows: grid rows of a block, at most. itemsize, wide: bytes of
    an element and of a sum. elsewhere: work-items of a group but in CUDA.
    """

    rows: int
    itemsize: int
    wide: int
    elsewhere: int
    cuda: bool

    @property
    def group(self) -> int:
        """Work-items of a group."""
        return self._steppers + self._loaders if self.cuda else self.elsewhere

    @property
    def _slots(self) -> int:
        """Rows of a tile: a power of two."""
        return 1 << (self.rows - 1).bit_length()

    @property
    def _steppers(self) -> int:
        """Work-items of a group of CUDA that compute."""
        return max(self._slots, WARP)

    @property
    def _loaders(self) -> int:
        return LOADERS[self.rows > WARP] if self.cuda else self.elsewhere

    @property
    def text(self) -> KernelText:
        """The kernel."""
        rows, many = self._slots, self.rows > WARP
        tile = max(1, BYTES[many] // self.itemsize // rows)
        step = max(1, min(STEP, tile // 4))
        vector = next(size for size in (PART // self.itemsize, 1) if step % size == 0)
        # Odd numbers of parts, so that rows begin in different banks.
        pitch, deep = (vector * (size // vector | 1) for size in (tile, tile + step))
        room = max(rows * (2 * pitch + deep) * self.itemsize, 3 * (self.group + strips(self.group)) * self.wide)
        sizes = {"rows": rows, "tile": tile, "step": step, "pitch": pitch, "deep": deep, "vector": vector}
        loads, steps, loader, barrier = "1", "1", "LOCAL_ID", "BARRIER"
        if self.cuda:
            loads, steps = f"LOCAL_ID >= {self._steppers}", f"LOCAL_ID < {self._steppers}"
            loader = f"(LOCAL_ID - {self._steppers})"
            barrier = f'asm volatile("bar.sync 1, {self._steppers};" ::: "memory")' if many else "__syncwarp()"
        text = fill(
            "wavefront",
            **sizes,
            parts=step // vector,
            bytes=vector * self.itemsize,
            words=-(-room // self.wide),
            each=-(-rows * tile // self._loaders),
            place=fill("wavefront_place", tile=tile, step=step, loader=loader, loaders=self._loaders),
            loads=loads,
            steps=steps,
            step_barrier=barrier,
            dots_end=read("dots_end"),
        )
        return dataclasses.replace(KernelText.of(text, "wavefront"), bounds=(self.group, 1 if many else 2))
