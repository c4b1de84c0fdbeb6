"""The device of a rank: the cores of its process, and sums and ghost planes by MPI."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.devices.clock import Clock, Recorder
from workbench.devices.cpu import Cpu
from workbench.devices.host.boxes import Boxes
from workbench.devices.host.slab import Slab
from workbench.devices.ops.csr import CsrProduct
from workbench.devices.programs.on_cores import OnePassOnCores
from workbench.devices.programs.program import Storage
from workbench.extensions.mpi.device.clock import RankClock
from workbench.extensions.mpi.device.collectives import MpiCollectives
from workbench.extensions.mpi.device.halo import Halo, PatternHalo
from workbench.extensions.mpi.device.operators import SummedSubdomains, WithHalo, restricted_product
from workbench.extensions.mpi.device.rows import ProductOfRows, RowsOperator
from workbench.extensions.mpi.device.sums import SummedAlgebra, Sums
from workbench.lazy import sparse
from workbench.lines.schedule import Apply, Step
from workbench.lines.types import Shapes

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceOperator, RestrictedProduct, Restriction
    from workbench.extensions.mpi.device.watched import WatchedCommunicator


class RankOnCores(MpiCollectives, Cpu):
    """The cores of a rank. communicator: of mpi4py."""

    def __init__(self, communicator: WatchedCommunicator, slab: Slab) -> None:
        super().__init__()
        self.join(communicator, slab)
        self.halo: Halo = Halo(communicator, slab)

    @property
    def on_host(self) -> RankOnCores:
        """The device of this rank for vectors in host memory."""
        return self

    def limited(self, limit: int | None) -> RankOnCores:
        if limit is None:
            return self
        made = RankOnCores(self.communicator, self.slab)
        made.memory_limit = limit
        return made

    def clock(self, recorder: Recorder) -> Clock:
        made = RankClock(recorder)
        made.attach(self.halo, self.sums)
        return made

    def norm(self, vector: np.ndarray) -> float:
        return math.hypot(*self.gathered(super().norm(vector)))

    def vdot(self, a: np.ndarray, b: np.ndarray) -> complex:
        return self.total(super().vdot(a, b))

    # Memory: vectors of the slab have room for ghost planes.

    def zeros(self, size: int, dtype: np.dtype) -> np.ndarray:
        return self.halo.vector(dtype) if size == self.slab.size else super().zeros(size, dtype)

    def zero_block(self, size: int, columns: int, dtype: np.dtype) -> np.ndarray:
        return self.halo.vector(dtype, columns) if size == self.slab.size else super().zero_block(size, columns, dtype)

    def array(self, values: np.ndarray, dtype: np.dtype) -> np.ndarray:
        if len(values) != self.slab.size or (self.halo.has_room(values) and values.dtype == dtype):
            return super().array(values, dtype)
        made = self.halo.vector(dtype, values.shape[1] if values.ndim == 2 else 0)
        made[:] = values
        return made

    def to_device(self, values: np.ndarray) -> np.ndarray:
        return self.array(values, values.dtype)

    def copy(self, vector: np.ndarray) -> np.ndarray:
        made = self.zeros(vector.size, vector.dtype)
        made[:] = vector
        return made

    def with_ghosts(self, values: np.ndarray, slab: Slab) -> np.ndarray:
        """A copy of values of the rows with one ghost plane on each side, those of the neighbours."""
        vector = self.array(values, values.dtype)
        self.halo.exchange(vector, 1)
        return self.halo.taller(vector, 1).copy()

    # Operators.

    def with_halo(self, operator: DeviceOperator, reach: int, exchanged: int) -> WithHalo:
        """An operator on the slab with `reach` ghost planes on each side, of which `exchanged` have to be filled."""
        return WithHalo(self, operator, reach, exchanged)

    def product_of_rows(self, matrix: sparse.csr_array, ghosts: np.ndarray) -> ProductOfRows:
        """A x for the rows of a matrix, whose columns are those of vectors with their ghosts; see `PatternHalo`.

        Vectors that are made later have room for these ghosts.
        """
        if not (isinstance(self.halo, PatternHalo) and self.halo.ghosts is ghosts):
            self.halo = PatternHalo(self.communicator, self.slab, ghosts)
        return ProductOfRows(self, CsrProduct(self, matrix.data, matrix.indices, matrix.indptr, paired=True))

    def terms_of_rows(self, *given: Any) -> list[RowsOperator]:
        """`csr_terms` of the rows of a matrix; every term exchanges ghosts."""
        return [RowsOperator(self, term, 1) for term in self.csr_terms(*given)]

    def subdomains(
        self, labels: np.ndarray, count: int, dtype: np.dtype, boxes: Boxes | None = None
    ) -> SummedSubdomains:
        return SummedSubdomains(self, labels, count, dtype, boxes)

    def block_algebra(self) -> Any:
        return SummedAlgebra(super().block_algebra(), self.sums)

    def stencil_factor(
        self,
        lower: tuple[np.ndarray, ...],
        strides: tuple[int, ...],
        inverse: np.ndarray,
        width: int,
        block: int,
        scale: float,
    ) -> WithHalo:
        """Blocks of a factor lie on one rank each."""
        return self.with_halo(super().stencil_factor(lower, strides, inverse, width, block, scale), 0, 0)

    def restricted_product(self, bound: DeviceOperator, z: Restriction) -> RestrictedProduct:
        return restricted_product(self, bound, z) or super().restricted_product(bound, z)

    # Programs.

    def new_pass(self, *given: Any) -> OnePassOnCores:
        made = SummedPass(*given)
        made.sums = self.sums
        return made

    def bind_steps(
        self, steps: Sequence[Step], workspace: Storage, shapes: Shapes, kernels: dict[Any, Any]
    ) -> list[Callable[[], None]]:
        """Dot products of a pass begin to be summed when it ends, and are waited for where scalars are next read."""
        runs = super().bind_steps(steps, workspace, shapes, kernels)
        made: list[Callable[[], None]] = []
        for step, run in zip(steps, runs, strict=True):
            if isinstance(step, Apply):
                # A sum that has begun is still under way meanwhile, unless the operator writes scalars itself.
                made.append(run if not step.dots else self.sums.beginning(run, workspace.scalars, []))
                continue
            slots = [workspace.slots[line.target] for line in step.dots]
            made.append(self.sums.beginning(run, workspace.scalars, slots))
        if made:
            made[-1] = self._settled(made[-1])
        return made

    def _settled(self, run: Callable[[], None]) -> Callable[[], None]:
        def call() -> None:
            run()
            self.sums.settle()

        return call


class SummedPass(OnePassOnCores):
    """One pass over the rows of a rank, whose dot products are summed over the ranks."""

    sums: Sums

    def apply(self, *vectors: np.ndarray) -> np.ndarray | None:
        dots = super().apply(*vectors)
        return None if dots is None else self.sums.total(np.array(dots))
