"""The workers of a Dask cluster as the core knows them: they make runs, and solve the boxes of Schwarz methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.extensions.dask.cluster_solver import ClusterSolver
from workbench.extensions.dask.tree_sums import TreeSums
from workbench.extensions.dask.workers import Workers
from workbench.preconditioners.schwarz.workers import OnWorkers

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import PieceVectors
    from workbench.devices.protocol import Device
    from workbench.operators import Operator
    from workbench.preconditioners.schwarz.subdomain_factors import Subdomain
    from workbench.preconditioners.schwarz.subdomain_method import SubdomainMethod


class BoxWorkers(Workers):
    """Connected workers that boxes can be spread over."""

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
        solver = ClusterSolver(self, method, boxes, device, operator.dtype)
        return OnWorkers(solver, TreeSums(solver, vectors, operator, device))
