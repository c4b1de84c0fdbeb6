"""Measurements on the vectors of a run with one right-hand side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from workbench.arrays.scaling import in_range
from workbench.devices.interchange import array_of
from workbench.devices.operator_protocols import DeviceVector
from workbench.errors import InputError
from workbench.run.loop.diagnostics import Diagnostics
from workbench.run.loop.energy import energy_norm
from workbench.run.loop.stopping import Norm
from workbench.run.setup.solve_setup import SolveSetup
from workbench.words.numbers import relative


class SingleDiagnostics(Diagnostics):
    """Measurements at the present x. residual: b - A x as last computed, shape (N,), on the device; the only memory."""

    stored_residual: ClassVar[str] = "r"

    def __init__(self, setup: SolveSetup) -> None:
        super().__init__(setup, setup.b, setup.x, setup.projection, [setup.exponent], [setup.removed])
        self.residual: DeviceVector = setup.device.zeros(setup.b.size, setup.b.dtype)
        self.verified: tuple[DeviceVector, np.ndarray] | None = None
        """The result of `_verified`, until x is changed."""

    def release(self) -> None:
        super().release()
        self.residual = self.verified = None

    @property
    def solver_b(self) -> DeviceVector:
        return self._setup.solver_b

    def _norms_of_b(self) -> np.ndarray:
        return np.array([self._setup.device.norm(self._setup.b)])

    def begin_at(self, x: DeviceVector) -> None:
        """Let x be the start of another recurrence: the solution of this iterate, projected as at the first start.

        Its component in the null space of A is removed, whose rounding error in A x has the size of A.
        """
        setup, self.verified = self._setup, None
        # The last reference to the x before, whose memory may be needed.
        self.x = setup.x = x
        solution = self.solution()
        x, _ = setup.null_space.complement(self._copy(x) if solution is x else solution, setup.device)
        # In mixed precision the recurrence does it.
        if setup.projection and setup.variant.projects_start and setup.product is setup.bound:
            setup.projection.recover_solution(x, setup.b)
        self.x = setup.x = x

    def norms_of_residuals(self, norm: Norm, sizes: Sequence[float]) -> Sequence[float]:
        """A norm of the vector in `residual`, whose length is `sizes`. Cost: one product with M, unless the norm is its
        length; for the error nothing is known, and the result is 0."""
        if norm is Norm.RESIDUAL or not math.isfinite(sizes[0]):
            return sizes
        return [0.0 if norm is Norm.ERROR else self._norm_with_m(self.residual, norm)]

    def error_norm(self) -> float:
        """sqrt((e, A e)) for e = x* - x. Cost: one application of A; leaves A e = b - A x in `residual`."""
        setup = self._setup
        assert setup.exact is not None
        self.true_residuals()
        error = setup.device.copy(self.solution())
        setup.device.subtract_from(setup.exact, error)
        return energy_norm(error, self.residual, setup.device)

    def _copy(self, x: DeviceVector) -> DeviceVector:
        return self._setup.device.copy(x)

    def make_product(self) -> None:
        """Leave A x in `residual`."""
        self._setup.bound.apply(self.solution(), self.residual)

    def _residuals(self, solution: DeviceVector) -> np.ndarray:
        """||b - A x||; leaves b - A x in `residual`."""
        setup = self._setup
        setup.bound.apply(solution, self.residual)
        setup.device.subtract_from(setup.b, self.residual)
        return np.array([setup.device.norm(self.residual)])

    def _verified(self) -> tuple[DeviceVector, np.ndarray]:
        if self.verified is None:
            self.verified = super()._verified()
        return self.verified

    def _as_given(self, solution: DeviceVector) -> DeviceVector:
        """x in host memory; a CuPy array where b is a vector of the user in the memory of the device."""
        setup = self._setup
        if setup.exponent or not setup.device.holds(setup.system.given_b):
            return self._in_host_memory(solution)
        x = array_of(setup.device.copy(solution))
        setup.device.synchronize()
        return x

    def _starts(self) -> DeviceVector:
        return None if self._setup.start is None else self._setup.device.to_device(self._setup.start)

    def _choose(self, chosen: np.ndarray, best: DeviceVector, starts: DeviceVector) -> None:
        self.verified = None
        super()._choose(chosen, best, starts)

    def _reference(self, norm: Norm, length: float) -> float:
        if norm is Norm.RESIDUAL:
            return length
        if norm is Norm.ERROR:
            return self.error_norm()
        reference = self._norm_with_m(self._setup.b, norm)
        # The recurrence has its square.
        if length > 0 and not 0 < reference * reference < math.inf:
            raise InputError(
                f"the {norm.value} norm of b is {relative(reference)}, whose square under- or overflows, though "
                f"||b|| = {relative(length)}; measure with norm residual, or scale A by a power of two"
            )
        return reference

    def _norm_with_m(self, vector: DeviceVector, norm: Norm) -> float:
        """The preconditioned or the natural norm of a vector."""
        setup = self._setup
        space = setup.device.workspace(setup.b.size, setup.b.dtype, vectors={"b": vector}, operators={"M": setup.M})
        (measure,) = space.lines("u = M(b)\nbu = (b, u)\nuu = (u, u)")
        measure()
        square = abs(space.scalar("uu" if norm is Norm.PRECONDITIONED else "bu"))
        if in_range(square):
            return math.sqrt(square)
        # u is kept where another program reads it.
        make, _ = space.lines("u = M(b)", "uu = (u, u)")
        make()
        u = space.vector("u")
        return setup.device.norm(u) if norm is Norm.PRECONDITIONED else energy_norm(vector, u, setup.device)
