"""The schedule that suits machine and matrix."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

from workbench import devices
from workbench.devices.accelerator import as_accelerator
from workbench.devices.pair import Rates, iteration_seconds, measure, measured_rates, product_seconds, profile_rates
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.operators import Operator, Size, stored_bytes
from workbench.registry import parameter, register
from workbench.solvers.base import Choice, MethodTraits
from workbench.solvers.hybrid.base import HybridSolver
from workbench.solvers.hybrid.hybrid1 import Hybrid1
from workbench.solvers.hybrid.hybrid2 import Hybrid2
from workbench.solvers.hybrid.hybrid3 import Hybrid3
from workbench.solvers.pipecg import PipelinedCG

ALONE = "pipecg"
CORES = "pipecg-cpu"


@register
@dataclasses.dataclass(frozen=True)
class HybridAuto(HybridSolver):
    """Hybrid 1, 2 or 3, or pipelined CG on the accelerator or the cores alone: whichever a model finds fastest.

    The model counts the bytes of sweeps, products and copies over the bandwidths of two machine profiles, or of a short
    measurement of these here, and lets what the schedule runs at the same time overlap. The notes of the run say what
    was chosen and what the model expects of the others. A link too slow to be hidden leaves one side alone.
    Cost of the measurement: some dozen sweeps, copies and products.
    """

    name: ClassVar[str] = "hybrid"
    title: ClassVar[str] = "hybrid pipelined CG: the schedule that suits the machine"

    cpu: str = parameter("", "profile of the cores, a name or a .toml file; empty measures")
    accelerator: str = parameter("", "profile of the accelerator and its link; empty measures")

    def check_room(self, device: Device, operator: Operator | Size) -> None:
        """What does not fit the device can run on the cores, or partly so."""

    def chosen(self, device: Device, operator: Operator, suits: MethodTraits, profile: Callable[[str], Any]) -> Choice:
        if bool(self.cpu) != bool(self.accelerator):
            raise InputError("solver hybrid needs two profiles, cpu and accelerator, or neither; then it measures")
        possible, refused = self._possible(device, operator, suits)
        if self.cpu:
            traffic = stored_bytes(operator) + 2 * operator.shape[0] * operator.dtype.itemsize
            rates = profile_rates(profile(self.cpu), profile(self.accelerator), traffic)
        else:
            try:
                rates = self._measured(device, operator, fits=ALONE in possible)
            except InputError as sentence:
                why = f"solver hybrid chose {_described(CORES, device)}, as nothing else can run here"
                return Choice(possible[CORES], devices.device("cpu"), (why, *refused, str(sentence)))
        if self.cpu or ALONE in possible:
            # What does not fit was measured as the assembled matrix.
            rates = dataclasses.replace(rates, assembled=_times_assembled(operator))
        expected = iteration_seconds(rates, operator.shape[0], operator.dtype)
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
        return Choice(possible[best], placed, tuple(why))

    def _possible(self, device: Device, operator: Operator, suits: MethodTraits) -> tuple[dict[str, Any], list[str]]:
        """The methods that can run, by the name of the model, and why others cannot."""
        switches = {"fused": self.fused, "merged": self.merged}
        possible: dict[str, Any] = {CORES: PipelinedCG()}
        refused = []
        for name, solver in (
            (ALONE, PipelinedCG()),
            ("hybrid1", Hybrid1(**switches)),
            ("hybrid2", Hybrid2(**switches)),
            ("hybrid3", Hybrid3(**switches, halves=False)),
        ):
            try:
                solver.check(device, suits)
                if name != "hybrid3":
                    solver.placed(device, operator)
                elif operator.nnz is None:
                    raise InputError("it shares out the entries of A, which a LinearOperator does not show")
                possible[name] = solver
            except InputError as sentence:
                refused.append(f"{name} cannot run: {sentence}")
        return possible, refused

    def _fastest(
        self,
        possible: dict[str, Any],
        expected: dict[str, float],
        device: Device,
        operator: Operator,
        refused: list[str],
    ) -> tuple[str, Any]:
        """The fastest that can be placed: a decomposition may leave a side empty. The cores alone always can."""
        for name in sorted(possible, key=lambda name: expected[name]):
            try:
                return name, possible[name].placed(devices.device("cpu") if name == CORES else device, operator)
            except InputError as sentence:
                refused.append(f"{name} cannot run: {sentence}")
        raise AssertionError("the cores have no limit")

    def _measured(self, device: Device, operator: Operator, *, fits: bool) -> Rates:
        """Raises InputError where not even rows that stand for the matrix have room."""
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
    """Bytes of a product with the assembled matrix over those of the operator as it is."""
    if operator.nnz is None:
        return 1.0
    vectors = 2 * operator.shape[0] * operator.dtype.itemsize
    assembled = operator.nnz * (operator.dtype.itemsize + 4) + 4 * operator.shape[0]
    return max(1.0, (assembled + vectors) / (stored_bytes(operator) + vectors))


def _described(best: str, device: Device) -> str:
    if best == CORES:
        return "pipecg on the cores alone"
    return f"pipecg on device {device.name} alone" if best == ALONE else best
