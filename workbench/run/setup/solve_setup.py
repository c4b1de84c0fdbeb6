"""The result of a setup: everything that the iterations of a solve need, on a device."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.arrays.scaling import scaled, scaled_scalar
from workbench.deflation import Projection, Subspace, Variant
from workbench.devices.operator_protocols import DeviceVector, Dots, OperatorTraits
from workbench.devices.protocol import Device
from workbench.errors import DeviceError
from workbench.operators import BoundOperator, Operator
from workbench.operators.null_space import NullSpace
from workbench.preconditioners import ElementWise
from workbench.problems import LinearSystem
from workbench.run.choices.memory_need import MemoryNeed
from workbench.run.setup.right_hand_side import RightHandSides, Vectors
from workbench.run.setup.setup_phases import SetupPhases
from workbench.solvers import Solver

if TYPE_CHECKING:
    from workbench.run.setup.workers import Workers

SINGLE = np.dtype(np.float32)


@dataclasses.dataclass(eq=False)
class SolveSetup:
    """Everything that a solver's workspace is made of.

    solver: the method that runs; it differs from the configuration's where that one selects another. A: the solver's
    operator (P A under deflation); solver_b: its right-hand side (P b). bound, b: the system itself. product: A on
    vectors as the solver stores them, bound itself but for precision mixed. M: both levels of the preconditioner;
    first_level: the first alone. b, x and exact, the solution if it is known, are vectors on the device, those of the
    system times 2^-exponent. start: x0, where x is a projection of it, else None. null_space: of A; b is orthogonal to
    it, and so is the x that is returned. removed: the norm of the component removed from b for that, as scaled.
    changes: sentences on what was changed in b or x, for the reason of the end. entries: stored entries of A, None if
    unknown. deflation_vectors: their number, 0 without deflation. notes: sentences on what was changed or chosen, for
    the provenance. phases: of this setup. need: memory as estimated before assembly, None if unknown. workers: those of
    a cluster, connected until `close`. sides: many right-hand sides, in host memory; b and x are then work space.
    """

    system: LinearSystem
    solver: Solver
    device: Device
    bound: BoundOperator
    product: BoundOperator
    first_level: BoundOperator | ElementWise
    M: BoundOperator | ElementWise
    b: DeviceVector
    x: DeviceVector
    exponent: int
    removed: float
    changes: tuple[str, ...]
    space: Subspace | None
    projection: Projection | None
    variant: Variant
    null_space: NullSpace
    exact: DeviceVector | None
    entries: int | None
    deflation_vectors: int
    notes: list[str]
    phases: SetupPhases
    start: np.ndarray | None = None
    need: MemoryNeed | None = None
    workers: Workers | None = None
    sides: RightHandSides | None = None

    @property
    def all_notes(self) -> list[str]:
        """The notes, and what the workers of a cluster report."""
        return [*self.notes, *(self.workers.notes if self.workers else ())]

    @property
    def labels(self) -> np.ndarray | None:
        """The deflation subdomain of each unknown, in host memory; None without subdomains."""
        return self.space.labels if self.space else None

    @property
    def operator(self) -> Operator:
        """A of the system, on the host."""
        return self.system.operator

    @property
    def unknowns(self) -> int:
        """The unknowns of the whole system, of which a rank has some."""
        return self.system.unknowns

    @property
    def A(self) -> BoundOperator:
        """The operator that the solver applies."""
        return self.projection if self.projection and self.variant.projects_system else self.product

    @property
    def stored(self) -> np.dtype:
        """The dtype in which the solver stores its vectors."""
        return SINGLE if self.product is not self.bound else np.dtype(self.b.dtype)

    @property
    def solver_b(self) -> DeviceVector:
        """The right-hand side of the system that the solver iterates on."""
        if self.projection is None or not self.variant.projects_system:
            return self.b
        projected = self.device.copy(self.b)
        self.projection.project(projected)
        return projected

    def returned(self, x: DeviceVector, exponent: int) -> DeviceVector:
        """The solution that is returned for a solution of the scaled system, orthogonal to the null space of A, scaled.

        Scaling back by 2^exponent rounds where it leaves the range of normal numbers. A new vector, or x itself where
        neither changes it.
        """
        x, _ = self.null_space.complement(x, self.device)
        if exponent:
            returned = scaled(scaled(self.device.to_host(x), exponent), -exponent)
            x = self.device.array(returned, returned.dtype)
        return x

    def unscaled_norm(self, norm: Any) -> Any:
        """A norm of the scaled system, or an array of norms, in terms of the original system."""
        if not self.exponent:
            return norm
        with np.errstate(over="ignore", under="ignore"):
            return np.ldexp(norm, self.exponent)

    def scaled_norm(self, norm: float) -> float:
        """A norm of the original system in terms of the scaled one."""
        return scaled_scalar(norm, -self.exponent)

    def close(self) -> None:
        """Disconnect from the workers of a cluster; M can be applied no more. Without one this does nothing."""
        if self.workers:
            self.workers.close()

    @contextlib.contextmanager
    def closed_on_error(self) -> Generator[None]:
        """Close where an error leaves this context."""
        try:
            yield
        except Exception:
            self.close()
            raise

    def take(self, vectors: Vectors) -> None:
        """Put another right-hand side and start into the memory of b and x; x is projected where the variant asks."""
        device = self.device
        device.assign(self.b, vectors.b)
        device.assign(self.x, vectors.x)
        self.exact, self.exponent, self.removed = vectors.exact, vectors.exponent, vectors.removed
        self.changes, self.start = vectors.changes, vectors.start
        if self.projection and self.variant.projects_start and self.product is self.bound:
            self.projection.recover_solution(self.x, self.b)

    def release(self) -> None:
        """Drop all references to memory of the device."""
        self.bound = self.product = self.M = self.first_level = ReleasedOperator()
        self.b = self.x = self.exact = self.projection = None
        self.device.release()


class ReleasedOperator(OperatorTraits):
    """In place of an operator that was lost with its device; an application raises DeviceError."""

    traffic = flops = 0

    def apply(self, x: DeviceVector, out: DeviceVector, /, *wanted: str) -> Dots:
        raise DeviceError("the operator was lost with its device; start another run")
