"""A sum of first levels, written with plus signs, and a coarse correction as one of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from workbench.deflation.blocks import Blocks
from workbench.deflation.coarse_sparse import SparseFactor
from workbench.deflation.galerkin import galerkin_matrix, sparse_az
from workbench.devices.operator_protocols import DeviceVector, Dots, OperatorTraits
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.operators import Operator, Stencil
from workbench.operators.cuts import cut_parameter
from workbench.preconditioners import Preconditioner
from workbench.preconditioners.preconditioner_sum import PreconditionerSum
from workbench.problems import Problem
from workbench.registry import parameter, register
from workbench.registry.text import values_by_name
from workbench.solvers.multi.members import SingleMember

if TYPE_CHECKING:
    from workbench.problems import LinearSystem


@dataclasses.dataclass(frozen=True)
class Coarse(Preconditioner):
    """Z (Z^H A Z)^-1 Z^H for Z constant on k parts per side, as a member of a sum.

    Without a grid Z is constant on about k parts grown along the couplings of A, or with cut=index on k ranges of
    consecutive unknowns.

    It is only semidefinite, so that it is no preconditioner alone. MPCG with Z as its first directions, all kept, is
    deflated CG.

    Cost: one pass over a label per unknown and two vectors, and a coarse solve.

    Source: Nicolaides 1987; Bridson and Greif 2006, for its use among several.
    """

    name: ClassVar[str] = "coarse"
    title: ClassVar[str] = "coarse correction (within a sum)"

    k: int = parameter(8, "parts per side", low=1, high=4096)
    cut: str = cut_parameter()

    def setup(self, operator: Operator, device: Device) -> CoarseCorrection:
        """The correction as a bound operator. Raises InputError for more parts than points."""
        grid, blocks = operator.grid if isinstance(operator, Stencil) else None, Blocks(self.k, self.cut)
        grown = None if grid else blocks.grown(operator)
        labels = grown.labels if grown else blocks.labels(operator.shape[0], grid)
        return CoarseCorrection(labels, operator, device, [f"coarse: {grown.in_words}"] if grown else [])


class CoarseCorrection(OperatorTraits):
    """u = Z E^-1 Z^H r."""

    def __init__(self, labels: np.ndarray, operator: Operator, device: Device, notes: Sequence[str] = ()) -> None:
        count, dtype = int(labels.max()) + 1, operator.dtype
        matrix = galerkin_matrix(sparse_az(operator, labels, count), labels, count)
        factor = SparseFactor().factor(sparse.csr_array(matrix))
        self._device, self._factor, self._size = device, factor, labels.size
        self._z = device.subdomains(labels, count, dtype)
        self._coarse = device.coarse_level(factor.form, factor.solve, count, dtype)
        self._zero = device.zeros(labels.size, dtype)
        self._dots = device.dots(dtype)
        self.waits, self.notes = self._coarse.waits, (*notes, *self._coarse.notes)
        self.traffic = self._z.traffic + 3 * labels.size * np.dtype(dtype).itemsize + factor.traffic
        self.flops = 2 * labels.size

    def apply(self, r: DeviceVector, u: DeviceVector, /, *wanted: str) -> Dots:
        """u = Z E^-1 Z^H r, and dot products of r and u."""
        self._device.assign(u, self._zero)
        self._z.add(u, self._coarse.solve(self._z.restrict(r)))
        return self._dots.apply(r, u) if wanted else None


@register
@dataclasses.dataclass(frozen=True)
class Sum(Preconditioner):
    """The sum of several first levels, such as `ic + neumann:2 + coarse:8`.

    With solver `mpcg` each gives a search direction of its own; with other solvers M^-1 is the sum.

    Cost: that of its members, and their results, one vector each.

    Raises InputError for fewer than two members, and for what each of them refuses.

    Source: Bridson and Greif 2006.
    """

    name: ClassVar[str] = "sum"
    title: ClassVar[str] = "sum of several first levels"
    joined_by: ClassVar[str] = "+"
    # The largest eigenvalues of M^-1 A add up.
    follows_scale: ClassVar[bool] = False

    members: str = parameter("jacobi + neumann:2", "first levels with plus signs between")

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.blocks) < 2:
            raise InputError(f"sum needs at least two first levels with + between, got {self.members!r}")

    @property
    def blocks(self) -> tuple[Preconditioner, ...]:
        """The members."""
        return tuple(map(_member, self.members.split(" + ")))

    @property
    def text(self) -> str:
        """The members, as they are written."""
        return self.members

    @property
    def spec(self) -> str:
        """The members, as in `text`."""
        return self.members

    @property
    def brought_by(self) -> str:
        """The distributions of all members."""
        return " ".join(dict.fromkeys(filter(None, (block.brought_by for block in self.blocks))))

    def check(self, device: Device) -> None:
        for block in self.blocks:
            block.check(device)

    def check_problem(self, problem: Problem) -> None:
        for block in self.blocks:
            block.check_problem(problem)

    @property
    def varies(self) -> bool:
        """True if M^-1 of a member varies."""
        return any(block.varies for block in self.blocks)

    def varies_on(self, sides: tuple[int, ...]) -> bool:
        return any(block.varies_on(sides) for block in self.blocks)

    @property
    def on_workers(self) -> bool:
        """True if workers of a cluster can do a part of a member's work."""
        return any(block.on_workers for block in self.blocks)

    def setup(self, operator: Operator, device: Device) -> PreconditionerSum:
        return self._joined(operator, device, [block.setup(operator, device) for block in self.blocks])

    def setup_of(self, system: LinearSystem, device: Device, workers: Any = None) -> PreconditionerSum:
        made = [block.setup_of(system, device, workers) for block in self.blocks]
        return self._joined(system.operator, device, made)

    def _joined(self, operator: Operator, device: Device, terms: list[Any]) -> PreconditionerSum:
        """The sum of what the members set up."""
        size, dtype, members, notes = operator.shape[0], operator.dtype, [], []
        for block, made in zip(self.blocks, terms, strict=True):
            notes += made.notes
            if isinstance(made, PreconditionerSum):
                members += made.members
            else:
                members.append(SingleMember(block.text, made, device, size, dtype))
        return PreconditionerSum(members, device, dtype, notes)


def _member(text: str) -> Preconditioner:
    """The member of that text: a first level, or `coarse:k`, which is none alone. Raises InputError."""
    name, _, argument = text.strip().partition(":")
    if name == Coarse.name:
        names = [each.name for each in Coarse.parameters()]
        return Coarse.create(values_by_name(argument, names, name) if argument else {})
    return Preconditioner.named(text.strip())
