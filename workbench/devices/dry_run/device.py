"""Shape-only cores, and pair and split of `devices.pair` over them: programs are planned and nothing is run.

A host vector is a constant one (`devices.constant`), which has a length and takes no memory. The accelerator is the
real class over a `ShapeOnlyRuntime`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.devices import pair
from workbench.devices.accelerator.device import Accelerator
from workbench.devices.accelerator.dots import Dots
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.constant import constant
from workbench.devices.cpu import Cpu
from workbench.devices.dry_run.runtime import ShapeOnlyRuntime
from workbench.devices.dry_run.sizes import BlockSizes, Cut, Sizes, blocks
from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.pair.split import RowBlocks
from workbench.devices.traffic import product_flops
from workbench.lines.types import OperatorDot


class Product(OperatorTraits):
    """A matrix-vector product of which only entries and bytes are known; accelerator: where it runs, None for cores.

    The products of the devices cannot take its place: each reads the row pointers, N numbers, when it is made.
    """

    def __init__(
        self, block: BlockSizes, dtype: np.dtype, accelerator: Accelerator | None, *, fused_dots: bool
    ) -> None:
        self.fused_dots = tuple(OperatorDot) if fused_dots else ()
        self.traffic, self.flops = block.nbytes, product_flops(block.entries, dtype)
        self._accelerator = accelerator
        self._dots: Dots | np.ndarray = Dots(accelerator, dtype, 1) if accelerator else np.zeros(3)

    def apply(self, x: object, out: object, *_: str) -> Dots | np.ndarray:
        if self._accelerator:
            self._accelerator.launch(None, 1)
        return self._dots


def whole(sizes: Sizes, accelerator: Accelerator | None) -> Product:
    """The product with the whole matrix."""
    return Product(BlockSizes(sizes.entries, sizes.product_bytes), sizes.dtype, accelerator, fused_dots=True)


class Cores(Cpu):
    """The cores with vectors that have a length only. Passes are planned and not compiled; scalars are real."""

    def zeros(self, size: int, dtype: np.dtype) -> np.ndarray:
        return constant(0, size, dtype)

    def array(self, values: np.ndarray, dtype: np.dtype) -> np.ndarray:
        return values

    @staticmethod
    def compile_pass(*_: object) -> None:
        """No kernel."""

    @staticmethod
    def bind_pass(*_: object) -> Callable[[], None]:
        return _nothing


class Pair(pair.Pair):
    """`pair.Pair` on a runtime that executes nothing."""

    def __init__(self) -> None:
        super().__init__(Accelerator(ShapeOnlyRuntime()))
        self._cpu = Cores()

    def to_host(self, vector: Vector) -> np.ndarray:
        return constant(0, vector.size, vector.dtype)

    def pinned_vector(self, size: int, dtype: np.dtype) -> np.ndarray:
        return constant(0, size, dtype)


class Split(Cores, pair.Split):
    """`pair.Split` on a runtime that executes nothing, with the blocks of a `Cut`."""

    def __init__(self, sizes: Sizes, cut: Cut) -> None:
        rows, size, dtype = cut.rows, sizes.size, sizes.dtype
        accelerator = Accelerator(ShapeOnlyRuntime())
        here, there = blocks(sizes, cut)

        def part(block: BlockSizes, side: Accelerator | None) -> Product:
            return Product(block, dtype, side, fused_dots=False)

        made = RowBlocks(
            rows=rows,
            near=(part(here[0], None), part(here[1], None)),
            far=(part(there[0], accelerator), part(there[1], accelerator)),
            cpu_ghosts=(rows, rows + min(cut.border, size - rows)),
            accelerator_ghosts=(rows - min(cut.border, rows), rows),
            exchanged=constant(0, size, dtype),
            arrived=accelerator.zeros(rows, dtype),
        )
        super().__init__(accelerator, made, "dry run")


def _nothing() -> None:
    pass
