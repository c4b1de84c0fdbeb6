"""Selection of the fastest schedule for a machine and a matrix."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

from workbench import devices
from workbench.devices.accelerator.device import as_accelerator
from workbench.devices.dry_run import Sizes
from workbench.devices.pair import Rates, measure, measured_rates, product_seconds, profile_rates
from workbench.devices.protocol import Device
from workbench.devices.traffic import product_bytes
from workbench.errors import InputError
from workbench.operators import Operator, Size, stored_bytes
from workbench.registry import parameter, register
from workbench.solvers.base import MethodTraits, Solver, SolverSelection
from workbench.solvers.hybrid.base import HybridSolver
from workbench.solvers.hybrid.cost import iteration_seconds
from workbench.solvers.hybrid.hybrid1 import Hybrid1
from workbench.solvers.hybrid.hybrid2 import Hybrid2
from workbench.solvers.hybrid.hybrid3 import Hybrid3
from workbench.solvers.pipecg import PipelinedCG

ALONE = "pipecg"
CORES = "pipecg-cpu"


@register
@dataclasses.dataclass(frozen=True)
class HybridAuto(HybridSolver):
    """Hybrid 1, 2 or 3, or pipelined CG on one device: the fastest by a performance model.

    The model (`cost`) divides the bytes of passes, products and copies by the bandwidths of two machine profiles, or of
    a short measurement, and overlaps what the schedule runs concurrently. The notes of the run contain the selection
    and the predicted times of the alternatives. With a slow link, one device alone is the fastest.

    Cost of the measurement: some dozen passes, copies and products.
    """

    name: ClassVar[str] = "hybrid"
    title: ClassVar[str] = "hybrid pipelined CG: the schedule that suits the machine"
    not_stepped: ClassVar[str] = "selects a schedule for a machine; step through hybrid1, hybrid2 or hybrid3"

    cpu: str = parameter("", "profile of the cores, a name or a .toml file; empty measures")
    accelerator: str = parameter("", "profile of the accelerator and its link; empty measures")

    def check_memory(self, device: Device, operator: Operator | Size) -> None:
        """No bound: a system that does not fit the device can run on the cores, in part or entirely."""

    def select(
        self, device: Device, operator: Operator, traits: MethodTraits, profile: Callable[[str], Any]
    ) -> SolverSelection:
        if bool(self.cpu) != bool(self.accelerator):
            raise InputError("solver hybrid needs two profiles, cpu and accelerator, or neither; then it measures")
        possible, refused = self._possible(device, operator, traits)
        if self.cpu:
            rates = profile_rates(profile(self.cpu), profile(self.accelerator), _traffic(operator))
        else:
            try:
                rates = self._measured(device, operator, fits=ALONE in possible)
            except InputError as sentence:
                why = f"solver hybrid chose {_described(CORES, device)}, as nothing else can run here"
                return SolverSelection(possible[CORES], devices.device("cpu"), (why, *refused, str(sentence)))
        if self.cpu or ALONE in possible:
            # A system that does not fit was measured as an assembled matrix.
            rates = dataclasses.replace(rates, assembled=_times_assembled(operator))
        sizes = _sizes(operator)
        expected = {
            name: iteration_seconds(solver, rates, sizes, cores=name == CORES) for name, solver in possible.items()
        }
        best, placed = self._fastest(possible, expected, device, operator, refused)
        others = ", ".join(f"{name} {expected[name]:.3g}" for name in possible if name != best)
        why = [
            f"solver hybrid chose {_described(best, device)}: {expected[best]:.3g} s an iteration by the model, "
            f"against {others} ({rates.basis})",
            *refused,
        ]
        if best in (ALONE, CORES):
            copy = operator.shape[0] * operator.dtype.itemsize / rates.to_host_bandwidth + rates.to_host_latency
            why.append(f"sharing the work does not pay here: a copy of one vector to the host takes {copy:.3g} s")
        return SolverSelection(possible[best], placed, tuple(why))

    def _possible(
        self, device: Device, operator: Operator, traits: MethodTraits
    ) -> tuple[dict[str, Solver], list[str]]:
        """The solvers that can run, by their name in the model, and the reasons why others cannot."""
        switches = {"fused": self.fused, "merged": self.merged}
        possible: dict[str, Solver] = {CORES: PipelinedCG()}
        refused = []
        for name, solver in (
            (ALONE, PipelinedCG()),
            ("hybrid1", Hybrid1(**switches)),
            ("hybrid2", Hybrid2(**switches)),
            ("hybrid3", Hybrid3(**switches, halves=False)),
        ):
            try:
                solver.check(device, traits)
                if name != "hybrid3":
                    solver.device_for(device, operator)
                elif operator.nnz is None:
                    raise InputError("it shares out the entries of A, which a LinearOperator does not show")
                possible[name] = solver
            except InputError as sentence:
                refused.append(f"{name} cannot run: {sentence}")
        return possible, refused

    def _fastest(
        self,
        possible: dict[str, Solver],
        expected: dict[str, float],
        device: Device,
        operator: Operator,
        refused: list[str],
    ) -> tuple[str, Device]:
        """The fastest feasible solver and its device; a decomposition may fail, the cores alone cannot."""
        for name in sorted(possible, key=lambda name: expected[name]):
            try:
                return name, possible[name].device_for(devices.device("cpu") if name == CORES else device, operator)
            except InputError as sentence:
                refused.append(f"{name} cannot run: {sentence}")
        raise AssertionError("the cores have no limit")

    def _measured(self, device: Device, operator: Operator, *, fits: bool) -> Rates:
        """Measured rates. Raises InputError if not even a sample of the rows fits into device memory."""
        size, dtype = operator.shape[0], operator.dtype
        if fits:
            sides = devices.device("cpu"), device
            near, far = (product_seconds(side, operator.bind(side), size, dtype) for side in sides)
        else:
            matrix = operator.to_csr()
            speeds = measure(as_accelerator(device), matrix)
            near, far = matrix.nnz / speeds.cpu, matrix.nnz / speeds.accelerator
        return measured_rates(as_accelerator(device), size, dtype, (near, far))


def _times_assembled(operator: Operator) -> float:
    """Bytes of a product with the assembled matrix over those with the operator."""
    return 1.0 if operator.nnz is None else max(1.0, _sizes(operator).product_bytes / _traffic(operator))


def _traffic(operator: Operator) -> int:
    """Bytes of a product with the operator as it is stored."""
    return product_bytes(stored_bytes(operator), operator.shape[0], operator.dtype.itemsize)


def _sizes(operator: Operator) -> Sizes:
    """N and nnz; where the entries are not known, no schedule that depends on them can run."""
    size = max(operator.shape[0], 2)
    return Sizes(size, max(operator.nnz or 0, size), operator.dtype)


def _described(best: str, device: Device) -> str:
    if best == CORES:
        return "pipecg on the cores alone"
    return f"pipecg on device {device.name} alone" if best == ALONE else best
