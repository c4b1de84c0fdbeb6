"""Geometric multigrid on the grid of a problem, with levels of nested boxes that are split by phase."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from workbench.deflation.coarse import Factor
from workbench.deflation.galerkin import matrix_of_rows
from workbench.deflation.multilevel import STEPS, Multilevel
from workbench.deflation.parts import Parts
from workbench.devices.coarse import Dense
from workbench.devices.host.boxes import Boxes, EarlierParts, Rows
from workbench.devices.operator_protocols import CoarseLevel, DeviceVector, Restriction
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.operators import Operator, Stencil, TwoPhaseStencil, check_diagonal
from workbench.preconditioners import Preconditioner
from workbench.preconditioners.chebyshev import ChebyshevSeries, largest_row_sum
from workbench.preconditioners.mg_cycle import ChebyshevSmoothing, GridCycle, SeriesSmoothing, Smoothing, series_weight
from workbench.registry import parameter, register

if TYPE_CHECKING:
    from workbench.operators import BoundOperator
    from workbench.problems import LinearSystem


SMOOTHED = 0.25
"""The part of the spectrum of D^-1 A that Chebyshev smoothing treats: from this times its upper bound."""
DIFFUSION_ROW_SUM = 2.0
"""sum_j |A_ij| / A_ii of a diffusion stencil, at most: its row sums are not negative."""
MOST_CELLS = 2**31 - 1
"""Cells whose parts are numbered in 32 bits."""


@register
@dataclasses.dataclass(frozen=True)
class Multigrid(Preconditioner):
    """M^-1 = one cycle of multigrid on the grid of the problem, applied without a matrix on the finest level.

    An unknown of the next level is what 2 x 2 x 2 cells (2 x 2 in 2D) hold of one phase; phases are never merged.
    Prolongation is constant, coarse matrices are Galerkin sums, and corrections are multiplied by `scaling`, since
    these sums are twice as stiff per level as the Poisson matrix on the coarser grid. Levels below the finest are those
    of coarse solver multilevel, in single precision, and the last one, of at most 300 unknowns, is inverted.

    On the finest level smoothing is symmetric: u = S r before, and u = u + S (r - A u) after the correction. S is the
    Neumann series K^T D^-1 K of order `degree`, or a Chebyshev polynomial of `degree` steps for D^-1 A on [0.5, 2]. The
    eigenvalues of S A are below 2 for a diagonally dominant A, and S is scaled down where A is not.

    With cycle v, M^-1 is linear and positive definite, but for rounding in single precision. The plain V-cycle
    over-corrects what all levels represent exactly, such as a constant on a bubble, so that its iterations grow with
    the number of bubbles. Steps of flexible CG on the level below the finest (cg), on three (k3) or on all levels (k)
    repair that. M^-1 then varies with r by about a hundredth, which CG without the flexible beta bears: fcg needs the
    same iterations to 1e-9. Methods that update M^-1 r by a recurrence, such as the pipelined ones, are refused where
    levels are not exact: they stagnate near 1e-2, with any cycle.

    Iterations of CG to 1e-6 from zero, contrast 1e-3, one side Dirichlet (slabs and layers: the problems' own sides):

    | 32 / 64 / 128 cells per side in 3D, 256 / 512 / 1024 in 2D | cycle auto | cycle v |
    |---|---|---|
    | poisson7, all sides Dirichlet | 8 / 8 / 9 | 9 / 11 / 14 |
    | 8 bubbles | 9 / 9 / 9 | 10 / 10 / 12 |
    | 8 bubbles, all Neumann | 8 / 7 / 6 | 8 / 8 / 8 |
    | 50 random bubbles | 9 / 10 / 10 | 15 / 16 / 17 |
    | 500 random bubbles (64 / 128) | 12 / 12 | 24 / 31 |
    | slabs | 6 / 6 / 6 | 7 / 8 / 8 |
    | two layers | 9 / 9 / 9 | 12 / 14 / 16 |
    | bubbles in 2D | 7 / 7 / 7 | 9 / 10 / 11 |

    Cost of an application with Neumann smoothing on the cores: about 20 vectors read or written on the finest level,
    and N/7 rows of the matrices below, about 45 bytes per cell and V-cycle. Setup: two passes over the cells, and about
    60 entries read and written per unknown of the next level. Memory: 4 bytes per cell for the parts, three work
    vectors, and about 120 bytes per unknown of the next level.

    Raises InputError for a matrix that is not a nearest-neighbour stencil on a grid.

    Source: Trottenberg, Oosterlee, Schüller 2001, sections 2.8 and 7.7 (cell-centred and Galerkin multigrid); Braess
    1995 (scaled corrections with constant prolongation); Notay and Vassilevski 2008 (flexible CG around a cycle).
    """

    name: ClassVar[str] = "mg"
    title: ClassVar[str] = "geometric multigrid (matrix-free)"
    needs_stencil: ClassVar[bool] = True
    keeps_levels: ClassVar[bool] = True
    is_cycle: ClassVar[bool] = True

    cycle: str = parameter(
        "auto",
        "below the finest level, v: a V-cycle; cg: two steps of flexible CG around it; k2, k3: around the cycles of "
        "two or three levels; k: of all levels; auto: k3 in 2D and for many phases, else cg",
        choices=("auto", *STEPS),
    )
    smoother: str = parameter("neumann", "smoothing on the finest level", choices=("neumann", "chebyshev"))
    degree: int = parameter(1, "order of the Neumann series, or Chebyshev steps", low=1, high=8)
    scaling: float = parameter(1.8, "factor of the corrections from the next level", low=0.5, high=2.0)

    def varies_on(self, sides: tuple[int, ...]) -> bool:
        # Phases make more unknowns of the next level, never fewer.
        return len(sides) > 1 and not self._below.is_exact(math.prod(-(-cells // 2) for cells in sides))

    def setup(self, operator: Operator, device: Device) -> GridCycle:
        return self._cycle(operator, None, device)

    def setup_of(self, system: LinearSystem, device: Device, workers: Any = None) -> GridCycle:
        return self._cycle(system.operator, system.phase, device)

    def _cycle(
        self,
        operator: Operator,
        phase: np.ndarray | None,
        device: Device,
        earlier: EarlierParts | None = None,
        *,
        keep: bool = False,
    ) -> GridCycle:
        """M^-1 for a stencil whose cells have these phases, shape (N,); None for one phase. earlier: what may be kept
        of an earlier phase. keep: whether a later phase may ask for that."""
        if not isinstance(operator, Stencil):
            raise InputError(
                "preconditioner mg needs a nearest-neighbour stencil on a grid, which this matrix is not; use amg"
            )
        if operator.shape[0] > MOST_CELLS:
            raise InputError(
                f"preconditioner mg numbers at most {MOST_CELLS:,} cells, and this grid has {operator.shape[0]:,}; "
                "use neumann:2 with deflation"
            )
        labels, boxes = _numbered(operator, phase, device, earlier)
        rows = _rows(operator, labels, boxes, device, earlier)
        # SciPy may sort the rows of a matrix in place.
        kept = (rows[0], rows[1].copy(), rows[2]) if keep and isinstance(rows[0], np.ndarray) else None
        factor = self._factor(rows, boxes, device)
        coarse = device.coarse_level(factor.form, factor.solve, boxes.count, operator.dtype)
        z = device.subdomains(labels, boxes.count, operator.dtype, boxes)
        cycle = self._on(operator, device, z, coarse, factor.traffic)
        cycle.varies = not isinstance(factor.form, Dense)
        cycle.notes = tuple(note.replace("coarse solver multilevel", "preconditioner mg") for note in factor.notes)
        if kept and isinstance(labels, np.ndarray):
            cycle.parts_below = labels, boxes, kept
        return cycle

    def renewed(
        self, before: GridCycle, system: Any, device: Device, cells: np.ndarray | None, *, keep_coarse: bool = False
    ) -> GridCycle:
        """M^-1 for a moved phase. Levels of an earlier phase are wrong where it has moved: that takes a few
        iterations more for a density ratio of 0.1, tens for one of 0.001."""
        if not keep_coarse:
            known = before.parts_below
            earlier = EarlierParts.of(*known, cells) if known and cells is not None else None
            return self._cycle(system.operator, system.phase, device, earlier, keep=True)
        cycle = self._on(system.operator, device, *before.below)
        cycle.varies, cycle.notes = before.varies, before.notes
        return cycle

    def _on(
        self, operator: Stencil, device: Device, z: Restriction, coarse: CoarseLevel, coarse_traffic: int
    ) -> GridCycle:
        product = operator.bind(device)
        work = device.zeros(operator.shape[0], operator.dtype)
        return GridCycle(
            self._smoothing(operator, product, work, device),
            device.restricted_product(product, z),
            z,
            coarse,
            work,
            coarse_traffic=coarse_traffic,
            product_work=(product.traffic, product.flops),
        )

    @property
    def _below(self) -> Multilevel:
        """The cycles of the next level."""
        return Multilevel(cycle=self.cycle, scaling=self.scaling)

    def _factor(self, rows: Rows, boxes: Boxes, device: Device) -> Factor:
        """`scaling` times the inverse of the next level's matrix, by cycles."""
        matrix = matrix_of_rows(rows, device, self.scaling)
        return self._below.factor(matrix, Parts.of(boxes), linear=True)

    def _smoothing(self, operator: Stencil, product: BoundOperator, work: DeviceVector, device: Device) -> Smoothing:
        row_sum = DIFFUSION_ROW_SUM
        if not isinstance(operator, TwoPhaseStencil):
            check_diagonal(operator.diagonal())
            row_sum = max(row_sum, largest_row_sum(operator))
        if self.smoother == "chebyshev":
            inverse = device.array(1 / operator.diagonal(), operator.dtype)
            series = ChebyshevSeries(self.degree - 1, SMOOTHED * row_sum, row_sum, product, inverse, device)
            return ChebyshevSmoothing(series)
        series = operator.neumann(device, self.degree)
        weight = series_weight(self.degree, row_sum - 1)
        return SeriesSmoothing(series, weight, product, work, device)


def _numbered(
    operator: Stencil, phase: np.ndarray | None, device: Device, earlier: EarlierParts | None
) -> tuple[DeviceVector, Boxes]:
    """The unknown of the next level that each cell belongs to, and the boxes of these unknowns."""
    per_side = tuple(-(-cells // 2) for cells in operator.grid)
    phase = np.zeros(operator.shape[0], np.uint8) if phase is None else phase
    numbered = device.numbered_parts(phase, operator.grid, per_side, earlier)
    # Parts are always numbered where a box has few phases, and one of 8 cells has at most 8.
    assert numbered is not None
    return numbered


def _rows(operator: Stencil, labels: DeviceVector, boxes: Boxes, device: Device, earlier: EarlierParts | None) -> Rows:
    """The matrix of the next level."""
    rows = operator.box_matrix(device, labels, boxes, earlier)
    if rows is None:
        raise InputError(
            "preconditioner mg: a box of the next level is coupled to more parts than the device keeps; use device "
            "cpu, or neumann:2 with deflation"
        )
    return rows
