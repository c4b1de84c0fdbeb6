"""A sum of first levels, written with plus signs."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.operators import Operator
from workbench.preconditioners import Preconditioner
from workbench.preconditioners.coarse_correction import Coarse
from workbench.preconditioners.preconditioner_sum import PreconditionerSum
from workbench.problems import Problem
from workbench.registry import as_block, parameter, register
from workbench.solvers.multi.members import Whole

if TYPE_CHECKING:
    from workbench.problems import LinearSystem


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
    def blocks(self) -> tuple[Any, ...]:
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
                members.append(Whole(block.text, made, device, size, dtype))
        return PreconditionerSum(members, device, dtype, notes)


def _member(text: str) -> Preconditioner:
    """The member of that text: a first level, or `coarse:k`, which is none alone. Raises InputError."""
    name, _, argument = text.strip().partition(":")
    if name == Coarse.name:
        return Coarse.create({"k": argument} if argument else {})
    found: Any = as_block("preconditioner", text.strip())
    return found
