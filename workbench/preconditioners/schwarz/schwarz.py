"""Additive Schwarz: solves in overlapping boxes."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from workbench.devices.host.growth import Growth
from workbench.devices.operator_protocols import DeviceVector, OperatorTraits
from workbench.devices.pieces import Pieces
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.operators import Operator, Stencil
from workbench.operators.cuts import csr_of, cut_parameter, grows
from workbench.operators.null_space import precision_of
from workbench.preconditioners import Preconditioner
from workbench.preconditioners.pinned import Components
from workbench.preconditioners.preconditioner_sum import PreconditionerSum
from workbench.preconditioners.schwarz import subdomains
from workbench.preconditioners.schwarz.subdomain_factors import Subdomain
from workbench.preconditioners.schwarz.subdomain_method import EXACT, SWEEPS, SubdomainMethod
from workbench.problems import Problem
from workbench.registry import parameter, register

if TYPE_CHECKING:
    from workbench.preconditioners.schwarz.workers import BoxWorkers, WorkerSums
    from workbench.problems import LinearSystem

SWEEPS_PER_UNKNOWN = 5
"""Sweeps per unknown of a box, where their number is not chosen."""


@register
@dataclasses.dataclass(frozen=True)
class Schwarz(Preconditioner):
    """The sum of R_i^T A_i^-1 R_i over overlapping boxes i of a grid, A_i being A with zero values outside the box.

    Where the problem has no grid, boxes are about as many parts of equal size, grown along the couplings of A, or with
    cut=index ranges of consecutive unknowns; overlap is then counted in neighbours of the matrix.

    With solver `mpcg` every box gives a search direction of its own; with other solvers their sum is M^-1.

    Cost: a solve in each box per application, and the residual and result of each box, N + overlaps words each. The
    setup factorizes each box; equal boxes share a factor.

    phases: boxes are cut where phases meet, as level-set subdomains are, and then grow along the matrix.

    Raises InputError for boxes that do not fit the grid, for an A without entries, for phases of a problem that has
    none, and for constant coefficients of an A that is no stencil.

    Source: Schwarz 1870; Dryja and Widlund 1987; Chen 2022, section 1.3, for the boxes of MPCG.
    """

    name: ClassVar[str] = "schwarz"
    title: ClassVar[str] = "additive Schwarz, overlapping boxes"

    boxes: str = parameter("2x2", "boxes per side, x first")
    phases: bool = parameter(False, "whether boxes are cut where phases meet")
    overlap: int = parameter(2, "points by which a box grows on each inner side", low=0, high=10**6)
    solver: str = parameter(EXACT, "of a box: exact, sweeps (of Jacobi's method), or a first level such as chebyshev:8")
    sweeps: int = parameter(0, "Jacobi sweeps; 0 takes 5 per unknown of the largest box", low=0, high=10**7)
    precision: str = parameter("float64", "of the solves in boxes", choices=("float64", "float32"))
    coefficients: str = parameter(
        "variable", "of A in a box: variable, or constant, those at its centre", choices=("variable", "constant")
    )
    cut: str = cut_parameter()

    def __post_init__(self) -> None:
        super().__post_init__()
        subdomains.parse(self.boxes)
        if self.solver not in (EXACT, SWEEPS):
            Preconditioner.named(self.solver)
            if self.precision != "float64":
                raise InputError(
                    f"schwarz: precision {self.precision} is for solver {EXACT} or {SWEEPS}, got {self.solver}; leave "
                    "precision out"
                )
        if self.coefficients != "variable" and self.phases:
            raise InputError("schwarz: coefficients constant needs whole boxes; leave coefficients or phases out")

    def check(self, device: Device) -> None:
        if self.solver not in (EXACT, SWEEPS):
            Preconditioner.named(self.solver).check(device)

    def check_problem(self, problem: Problem) -> None:
        if size := problem.known_size:
            stencil, phases = problem.has_stencil, problem.has_phases
            self.boxes_of(problem.grid, size.unknowns, has_stencil=stencil, has_phases=phases)

    def boxes_of(
        self, grid: tuple[int, ...] | None, size: int, *, has_stencil: bool, has_phases: bool
    ) -> list[tuple[slice, ...]]:
        """The boxes of a grid, or of `size` consecutive unknowns; those that grow along the matrix without overlap.

        Raises InputError where they do not fit, and for what A does not have.
        """
        if self.coefficients != "variable" and not has_stencil:
            raise InputError(
                "schwarz: coefficients constant needs a nearest-neighbour stencil; leave coefficients out",
                changes={"preconditioner.coefficients": "variable"},
            )
        if self.phases and not has_phases:
            raise InputError(
                "schwarz: phases=yes needs a problem with phases, such as bubbles-2d; leave phases out",
                changes={"preconditioner.phases": False},
            )
        counts = subdomains.parse(self.boxes)
        cells, counts = (grid, counts) if grid else ((size,), (math.prod(counts),))
        return subdomains.of_grid(cells, counts, 0 if self.phases or grid is None else self.overlap)

    @property
    def varies(self) -> bool:
        """True if boxes are solved in single precision."""
        return self.precision != "float64"

    @property
    def on_workers(self) -> bool:
        """True: workers of a cluster can solve the boxes."""
        return True

    def setup(self, operator: Operator, device: Device) -> PreconditionerSum:
        return self._sum_of_boxes(operator, device, None, None, None)

    def setup_of(self, system: LinearSystem, device: Device, workers: BoxWorkers | None = None) -> PreconditionerSum:
        phase = None if system.phase is None else np.asarray(system.phase)
        return self._sum_of_boxes(system.operator, device, system.grid, phase, workers)

    def _sum_of_boxes(
        self,
        operator: Operator,
        device: Device,
        grid: tuple[int, ...] | None,
        phase: np.ndarray | None,
        workers: BoxWorkers | None,
    ) -> PreconditionerSum:
        member = OverlappingSubdomains(self, operator, device, grid, phase, workers)
        return PreconditionerSum([member], device, operator.dtype, member.notes)


class OverlappingSubdomains(OperatorTraits):
    """The boxes of a Schwarz method as one member of a `PreconditionerSum`: r is gathered box by box, and solved with,
    here or on workers. grid: that of the system, where A is no stencil that knows it."""

    def __init__(
        self,
        chosen: Schwarz,
        operator: Operator,
        device: Device,
        grid: tuple[int, ...] | None,
        phase: np.ndarray | None,
        workers: BoxWorkers | None,
    ) -> None:
        size, dtype = operator.shape[0], operator.dtype
        stencil = isinstance(operator, Stencil)
        grid = operator.grid if stencil else grid
        boxes = chosen.boxes_of(grid, size, has_stencil=stencil, has_phases=phase is not None)
        matrix = operator.to_csr()
        grown = None
        if grid is None and len(boxes) > 1 and grows(operator, chosen.cut):
            grown = Growth.of(csr_of(operator), -(-size // len(boxes)))
        cut = grown.members if grown else [subdomains.unknowns(grid or (size,), box) for box in boxes]
        parts, sides = _parts(chosen, matrix, grid, boxes, cut, phase)
        if not stencil:
            # Boxes of other operators are no Kronecker sums, which are looked for where the sides are known.
            sides = [None] * len(parts)
        pieces = Pieces(size, parts)
        self.vectors = device.pieces(pieces, dtype)
        pattern = sparse.csr_array((np.ones(matrix.nnz, np.int32), matrix.indices, matrix.indptr), shape=matrix.shape)
        self.product_pattern = sparse.csc_array(pattern @ pieces.pattern)
        self.names = tuple(f"box {place}" for place in range(pieces.count))
        components = Components(matrix, precision_of(operator))
        made = [
            Subdomain(components.pinned(_block(matrix, part, side, chosen), part), side)
            for part, side in zip(parts, sides, strict=True)
        ]
        self._local = device.zeros(pieces.local_size, dtype)
        method = _method(chosen, made, dtype)
        self._sums: WorkerSums | None = None
        if workers is None:
            self.solver = method.solver_of(made, device)
        else:
            self.solver, self._sums = workers.take(method, made, self.vectors, operator, device)
        self.notes = (*([f"schwarz: {grown.in_words}"] if grown else ()), *self.solver.notes)
        self.waits = self.solver.waits
        self.varies = method.precision != dtype or self.solver.varies
        """Set where the results are linear in r only to the digits of single precision, or fewer."""

    def apply(self, r: DeviceVector, local: DeviceVector) -> None:
        """local = A_i^-1 R_i r of all boxes i."""
        self.vectors.gather(r, self._local)
        self.solver.apply(self._local, local)

    def sums_on_workers(self) -> WorkerSums:
        """The terms and their inner products on the workers, of a method that begins. Raises InputError without any."""
        if self._sums is None:
            raise InputError("sums=workers needs a cluster, such as local:4; choose one, or sums=here")
        self._sums.begin()
        return self._sums

    @property
    def traffic(self) -> int:
        return self.solver.traffic + 2 * self._local.nbytes

    @property
    def flops(self) -> int:
        return self.solver.flops


def _parts(
    chosen: Schwarz,
    matrix: sparse.csr_array,
    grid: tuple[int, ...] | None,
    boxes: list[tuple[slice, ...]],
    parts: list[np.ndarray],
    phase: np.ndarray | None,
) -> tuple[list[np.ndarray], list[tuple[int, ...] | None]]:
    """The unknowns of each box, and its points per side, None where it is not a box of a grid. parts: the unknowns of
    each before it is cut by phases and grows."""
    if grid is not None and not chosen.phases:
        return parts, [tuple(part.stop - part.start for part in box) for box in boxes]
    if chosen.phases and phase is not None:
        parts = [part[phase[part] == kind] for part in parts for kind in np.unique(phase[part])]
    grown = subdomains.grown(parts, matrix, chosen.overlap)
    return grown, [None] * len(grown)


def _block(
    matrix: sparse.csr_array, part: np.ndarray, side: tuple[int, ...] | None, chosen: Schwarz
) -> sparse.csr_array:
    """A on a box, in canonical CSR form."""
    block = sparse.csr_array(matrix[part][:, part])
    block.sort_indices()
    if chosen.coefficients == "constant" and side is not None:
        return _constant(block, side)
    return block


def _constant(block: sparse.csr_array, side: tuple[int, ...]) -> sparse.csr_array:
    """The pattern of a box with the entries of the row at its centre; couplings across an edge stay absent.

    The couplings to both sides of the centre are averaged, one of them conjugated, so that the box is Hermitian where
    coefficients vary.
    """
    centre = int(np.ravel_multi_index(tuple(points // 2 for points in side), side))
    row = slice(block.indptr[centre], block.indptr[centre + 1])
    by_distance = dict(zip((block.indices[row] - centre).tolist(), block.data[row].tolist(), strict=True))
    rows = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))
    distances, place = np.unique(block.indices - rows, return_inverse=True)

    def entry(distance: int) -> complex:
        # A centre at an edge lacks a neighbour, and the opposite one counts alone.
        one, other = by_distance.get(distance), by_distance.get(-distance)
        if one is None or other is None:
            return one if one is not None else np.conj(other or 0)
        return (one + np.conj(other)) / 2

    values = np.array([entry(int(distance)) for distance in distances])
    return sparse.csr_array((values[place].astype(block.dtype), block.indices, block.indptr), shape=block.shape)


def _method(chosen: Schwarz, made: list[Subdomain], dtype: np.dtype) -> SubdomainMethod:
    """The method that solves all boxes."""
    single = np.complex64 if dtype.kind == "c" else np.float32
    precision = np.dtype(single) if chosen.precision == "float32" else dtype
    largest = max(box.matrix.shape[0] for box in made)
    return SubdomainMethod(chosen.solver, chosen.sweeps or SWEEPS_PER_UNKNOWN * largest, precision, dtype)
