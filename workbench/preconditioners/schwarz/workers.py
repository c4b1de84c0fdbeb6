"""Workers that solve the boxes of a Schwarz method, as it asks for them; `registry.extensions` has who connects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from workbench.solvers.multi.directions import Products

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import PieceVectors
    from workbench.devices.protocol import Device
    from workbench.operators import Operator
    from workbench.preconditioners.schwarz.subdomain_factors import Subdomain
    from workbench.preconditioners.schwarz.subdomain_method import SubdomainMethod
    from workbench.preconditioners.schwarz.subdomain_solvers import SubdomainSolver


class WorkerSums(Products, Protocol):
    """The terms of all boxes and their inner products, from the workers that hold them."""

    def begin(self) -> None:
        """Forget all terms; a method begins."""
        ...


class OnWorkers(NamedTuple):
    """The solvers of all boxes, and the inner products of their terms, on workers."""

    solver: SubdomainSolver
    sums: WorkerSums


class BoxWorkers(Protocol):
    """Workers of a cluster that boxes are spread over."""

    def take(
        self,
        method: SubdomainMethod,
        boxes: Sequence[Subdomain],
        vectors: PieceVectors,
        operator: Operator,
        device: Device,
    ) -> OnWorkers:
        """Set up the solvers of these boxes of A. vectors: the boxes.

        Raises InputError for boxes that cannot be factorized, DeviceError once all workers are lost.
        """
        ...
