"""Multigrid on the graph of a matrix: unsmoothed aggregation with flexible CG on every level (K-cycle)."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from workbench.deflation.coarse import CoarseError, Factor
from workbench.deflation.coarse_dense import DenseFactor, inverse_on_range
from workbench.deflation.galerkin import PlacedMatrix
from workbench.deflation.grown_levels import Grow
from workbench.deflation.hierarchy import hierarchy
from workbench.deflation.multilevel import MultilevelFactor
from workbench.devices.bound import Request
from workbench.devices.clock import TimedCalls
from workbench.devices.coarse import Levels
from workbench.devices.host.growth import grown_parts
from workbench.devices.operator_protocols import CoarseLevel, DeviceVector, Dots, OperatorTraits
from workbench.devices.ops.levels import narrowed, parts_in_rounds, widened
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.operators import Operator
from workbench.operators.null_space import precision_of
from workbench.preconditioners.base import Preconditioner
from workbench.registry import parameter, register

if TYPE_CHECKING:
    from workbench.problems import LinearSystem

BOTTOM = 120
"""Unknowns of the last level, at most: it is visited twice as often as the level above."""
MOST_IN_ROUNDS = 1024
"""Unknowns of the last level of parts in rounds, at most; with more, parts grow one after the other where either may.
"""
STEPS = (0, 2)
"""Steps of flexible CG: none on A, whose iteration is CG itself, and two on each level below."""
SCALING = 1.0
"""The factor of corrections, which flexible CG on the level below has made optimal."""


@register
@dataclasses.dataclass(frozen=True)
class AggregationCycle(Preconditioner):
    """M^-1 = one cycle of multigrid on parts of the graph of A, for any sparse matrix, without a grid or coordinates.

    An unknown of the next level is a part of about `size` unknowns, grown along strong couplings as by deflation parts;
    prolongation is constant on a part, and matrices are sums over pairs of parts. Each level smooths by two Chebyshev
    steps before and after, on the upper three quarters of an interval that row sums bound. Two steps of flexible CG
    solve on every level below A, and the last one, of at most 120 unknowns, is inverted. All levels are in single
    precision, A included, except where entries of the diagonal of A differ by more than 1e5, or lie outside 1e-30 to
    1e30; unknowns are numbered so that a part is consecutive on every level.

    M^-1 varies with r, by some percent, so that methods that update M^-1 r by a recurrence are refused, and flexible CG
    (solver fcg) may save iterations.

    Elastic problems, and others with several unknowns at a node, have a near null space that constants do not span.
    Where the system has one of m vectors, such as rigid-body modes, each part has m unknowns on the next level, its
    vectors are made orthonormal in it, and parts grow over nodes, with `size` unknowns for each vector.

    Parts that grow in rounds have sizes that vary more: 0.9 to 1.3 times as many iterations, but no work on one core.
    On an accelerator all levels are then made in its memory, where A is real and has no near null space.

    Cost: an application reads A four times, and the levels below about once more for parts of 8; setup some ten reads
    of A. Memory: about a copy of A in single precision and a third.

    Raises InputError for an A without entries, of which only products are known, for a diagonal entry that is not
    positive, of A or of a level, and where parts do not merge to at most 8192 unknowns.

    Source: Notay and Vassilevski 2008 (flexible CG on the levels); aggregation by growth as in `parts`; near null space
    as in Vaněk, Mandel and Brezina 1996.
    """

    name: ClassVar[str] = "kcycle"
    title: ClassVar[str] = "aggregation multigrid (K-cycle)"
    is_cycle: ClassVar[bool] = True
    in_single: ClassVar[bool] = True
    takes_near_null: ClassVar[bool] = True

    size: int = parameter(
        8, "unknowns of a part of the first level for each of its vectors, about", low=4, high=1000, unit="unknowns"
    )
    theta: float = parameter(0.15, "strong couplings have at least this share of the strongest ones", low=0.0, high=1.0)
    growth: str = parameter(
        "auto",
        "parts: queue grows one after the other, on one core; rounds all at once from scattered seeds, on the device, "
        "which takes more iterations; auto: rounds on accelerators, which then make all levels, queue on the cores and "
        "where rounds hardly merge",
        choices=("auto", "queue", "rounds"),
    )

    def varies_on(self, sides: tuple[int, ...]) -> bool:
        return math.prod(sides) > BOTTOM

    def setup(self, operator: Operator, device: Device) -> WholeCycle:
        return self._bound(operator, device, None)

    def setup_of(self, system: LinearSystem, device: Device, workers: object = None) -> WholeCycle:
        return self._bound(system.operator, device, system.near_null)

    def _bound(self, operator: Operator, device: Device, near_null: np.ndarray | None) -> WholeCycle:
        factor = self.factor_of(operator, device, near_null)
        size, dtype = operator.shape[0], operator.dtype
        return WholeCycle(device.coarse_level(factor.form, factor.solve, size, dtype), factor, device, size, dtype)

    def factor_of(self, operator: Operator, device: Device, near_null: np.ndarray | None = None) -> Factor:
        """A^-1 approximately, as levels, on the device where all of them can be made there; the inverse of a small A.
        near_null: of a system. Raises InputError as the class says."""
        if operator.shape[0] <= BOTTOM:
            double = np.result_type(operator.dtype, np.float64)
            return DenseFactor(inverse_on_range(np.asarray(operator.to_csr().toarray(), double)))
        try:
            levels = self._levels(operator, device, near_null)
        except CoarseError as error:
            raise InputError(
                f"preconditioner kcycle cannot be set up: {error.detail}; use preconditioner jacobi",
                changes={"preconditioner": "jacobi"},
            ) from None
        return MultilevelFactor(levels, "k", device)

    def _levels(self, operator: Operator, device: Device, near_null: np.ndarray | None) -> Levels:
        double, given = np.result_type(operator.dtype, np.float64), (self.size, self.theta)
        auto, makes_levels = self.growth == "auto", not device.whole_triangles and near_null is None

        def made(matrix: sparse.csr_array | PlacedMatrix | None, grow: Grow, most: int | None = None) -> Levels:
            matrix = matrix or sparse.csr_array(operator.to_csr(), dtype=double)
            of = {"first": given, "near_null": near_null, "grow": grow, "precision": precision_of(operator)}
            return hierarchy(matrix, None, BOTTOM, SCALING, STEPS, most=most, **of)

        if self.growth == "rounds" or (auto and makes_levels):
            placed = placed_matrix(operator, device) if near_null is None and double == np.float64 else None
            grow = functools.partial(parts_in_rounds, device=device)
            # Where strong couplings are rare, rounds leave parts of single rows.
            with contextlib.suppress(CoarseError) if auto else contextlib.nullcontext():
                return made(placed, grow, MOST_IN_ROUNDS if auto else None)
        return made(None, grown_parts)


def placed_matrix(operator: Operator, device: Device) -> PlacedMatrix | None:
    """A in double precision in the memory of an accelerator, for levels that are made there; None elsewhere, and for a
    diagonal that is 0 or not stored in some row."""
    if device.whole_triangles or not operator.diagonal().all():
        return None
    # Runs on the cores import no other device.
    from workbench.devices.accelerator.device import as_accelerator

    there, matrix = as_accelerator(device), operator.to_csr()
    with contextlib.suppress(InputError):
        there.need(np.dtype(np.float64))
        return PlacedMatrix(there, there.diagonal_first((matrix.data, matrix.indices, matrix.indptr)))
    return None


class WholeCycle(OperatorTraits):
    """u = M^-1 r, with all three dot products of r and u. coarse: A^-1 approximately, in the precision of sums."""

    def __init__(self, coarse: CoarseLevel, factor: Factor, device: Device, size: int, dtype: np.dtype) -> None:
        self._coarse, self._factor = coarse, factor
        self.waits, self.varies = coarse.waits, not factor.exact
        if isinstance(factor, MultilevelFactor):
            listed, precision = ", ".join(map(str, factor.sizes)), factor.dtype
            self.notes = (f"preconditioner kcycle has levels of {listed} unknowns, in {precision}",)
        self._leave = device.bind(Request(narrowed, size, dtype, {}, wides=("solved",)))
        precision = self._leave.form.wide
        self._enter, self._right = None, None
        if precision != dtype:
            self._right = device.zeros(size, precision)
            self._enter = device.bind(Request(widened, size, dtype, {"right": self._right}))

    def apply(self, r: DeviceVector, u: DeviceVector, /, *_: str) -> Dots:
        """u = M^-1 r. r and u must be distinct vectors."""
        right = r
        if self._enter:
            self._enter(r)
            right = self._right
        return self._leave(self._coarse.solve(right), r, u)

    def parts(self) -> TimedCalls:
        """The calls that a trace records separately."""
        yield from self._coarse.parts()

    @property
    def traffic(self) -> int:
        return self._factor.traffic + self._leave.traffic + (self._enter.traffic if self._enter else 0)

    @property
    def flops(self) -> int:
        # The levels multiply and add once for each 8 bytes of a matrix.
        return self._leave.flops + self._factor.traffic // 4
