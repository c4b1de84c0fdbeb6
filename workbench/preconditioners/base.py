"""Base class of first-level preconditioners: `setup` returns M^-1 as an operator on a device."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from workbench.devices.element_wise import ElementWise
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.operators import BoundOperator, Operator, Size
from workbench.problems import Problem
from workbench.registry import Block

if TYPE_CHECKING:
    from workbench.problems import LinearSystem


@dataclasses.dataclass(frozen=True)
class Preconditioner(Block):
    """Base of all first-level preconditioners.

    Examples:
        >>> from workbench.devices import device
        >>> from workbench.registry import find
        >>> A = find("problem", "poisson5:8").assemble().operator
        >>> find("preconditioner", "jacobi").setup(A, device()).formula
        '0.25*v'
    """

    kind: ClassVar[str] = "preconditioner"
    element_wise: ClassVar[bool] = False
    """Set where `setup` returns an `ElementWise`."""

    follows_scale: ClassVar[bool] = True
    """Set where the eigenvalues of M^-1 A stay near 1 whatever number multiplies A."""

    keeps_levels: ClassVar[bool] = False
    """Set where `renewed` can keep coarse levels of an earlier phase."""
    needs_stencil: ClassVar[bool] = False
    """Set where A has to be a nearest-neighbour stencil on a grid."""
    in_single: ClassVar[bool] = False
    """True if vectors may be in single precision within M, where those of A are in double."""
    takes_near_null: ClassVar[bool] = False
    """True if it makes its coarse levels from a near null space where one is given."""
    is_cycle: ClassVar[bool] = False
    """Set where the iterations hardly depend on the number of unknowns, as with multigrid cycles."""
    advised: ClassVar[tuple[str, ...]] = ()
    """Texts of it that the advisor tries, where it is of an extension; `advise.level_pairs` has the core's."""

    @property
    def blocks(self) -> tuple[Preconditioner, ...]:
        """The first levels whose results it adds; itself where it is no sum."""
        return (self,)

    @property
    def ghost_planes(self) -> int:
        """Ghost planes of a slab of the grid whose entries M^-1 needs, where it runs on ranks."""
        return 1

    def planes_at_once(self, grid: tuple[int, ...]) -> int:
        """Planes of a grid in multiples of which ranks share it, so that M^-1 is that of one process."""
        return 1

    @property
    def varies(self) -> bool:
        """True if M^-1 is linear in r to few digits only, whatever A is; see `OperatorTraits.varies`."""
        return False

    def varies_on(self, sides: tuple[int, ...]) -> bool:
        """True if M^-1 varies on a grid with these cells per side, or with this number of unknowns without a grid, as
        far as is known before any setup. sides: empty where neither is known."""
        return self.varies

    @property
    def on_workers(self) -> bool:
        """True if workers of a cluster can do a part of its work."""
        return False

    def check(self, device: Device) -> None:
        """Raise InputError if the device cannot apply M^-1; called before any setup."""

    def check_problem(self, problem: Problem) -> None:
        """Raise InputError where M^-1 cannot be made for a problem, as far as is known before its assembly."""
        if self.needs_stencil and not problem.has_stencil:
            raise InputError(
                f"preconditioner {self.name} needs a nearest-neighbour stencil on a grid, which {problem.name} does "
                "not have; use amg",
                changes={"preconditioner": "amg:sa"},
            )

    def needed_bytes(self, size: Size, item: int, *, on_host: bool) -> int | None:
        """Bytes of M on its device before anything is assembled, None where they follow from the entries of A.

        item: bytes of an entry of a vector. on_host: on the cores, else on an accelerator.
        """
        return None

    def setup(self, operator: Operator, device: Device) -> BoundOperator | ElementWise:
        """Set up M^-1 for A on a device.

        Returns an object with apply(r, u), which computes u = M^-1 r, or an `ElementWise`.

        Raises InputError if M cannot be constructed from A.
        """
        raise TypeError(f"preconditioner {self.name} does not implement setup")

    def setup_of(self, system: LinearSystem, device: Device, workers: Any = None) -> BoundOperator | ElementWise:
        """Set up M^-1 for a linear system; what follows its phases or its grid does more than `setup`.

        workers: those of a cluster, where `on_workers`; None for this process.
        """
        return self.setup(system.operator, device)

    def renewed(
        self, before: Any, system: LinearSystem, device: Device, cells: np.ndarray | None, *, keep_coarse: bool = False
    ) -> BoundOperator | ElementWise:
        """M^-1 for a system whose phase has moved. before: M^-1 of the earlier phase. cells: flat places of the cells
        that have changed since, None for many. keep_coarse: with the coarse levels of `before`. Raises InputError where
        there are none."""
        if keep_coarse:
            raise InputError(f"preconditioner {self.name} has no coarse levels to keep; use mg")
        return self.setup_of(system, device)
