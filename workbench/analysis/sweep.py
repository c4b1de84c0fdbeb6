"""Modelled times over the number of unknowns, and machines of one's own making."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from workbench.analysis.schedules import METHODS, Machine, all_expected
from workbench.devices.dry_run import Sizes
from workbench.machine.profile import Number, Profile

SMALLEST = 1000
POINTS = 19
OWN = "chosen by hand"


def unknowns_up_to(largest: int, points: int = POINTS) -> list[int]:
    """Numbers from 1000 to the largest in equal ratios, each rounded to whole unknowns."""
    return [round(n) for n in np.geomspace(SMALLEST, largest, points)]


def curves(machine: Machine, entries_a_row: float, unknowns: Sequence[int]) -> dict[str, list[float | None]]:
    """Seconds per iteration by method for each number of unknowns, None where the system does not fit.

    Cost: some milliseconds a number, less when they were asked for before.
    """
    found = [all_expected(Sizes(n, round(entries_a_row * n)), machine) for n in unknowns]
    return {name: [each[name].seconds for each in found] for name in METHODS}


@dataclasses.dataclass(frozen=True)
class Numbers:
    """A machine in seven numbers: bytes per second of cores, accelerator and link (each way), seconds, bytes.

    copy and launch: latencies of a copy and of a kernel on the accelerator; loop: of a loop on the cores.
    """

    cores: float
    accelerator: float
    link: float
    copy: float
    launch: float
    loop: float
    memory: float

    def machine(self) -> Machine:
        """The machine as two profiles."""
        near = Profile("cores", "cores", "cpu", bandwidth_nominal=_own(self.cores), launch_latency=_own(self.loop))
        far = Profile(
            "accelerator",
            "an accelerator",
            "gpu",
            bandwidth_nominal=_own(self.accelerator),
            launch_latency=_own(self.launch),
            to_host_bandwidth=_own(self.link),
            to_device_bandwidth=_own(self.link),
            to_host_latency=_own(self.copy),
            to_device_latency=_own(self.copy),
            memory_bytes=_own(self.memory),
        )
        return Machine(near, far)

    @classmethod
    def of(cls, machine: Machine) -> Numbers:
        """Those of two profiles; 0 for latencies that they do not say."""
        near, far = machine.cores, machine.accelerator
        return cls(
            cores=near.bandwidth.value,
            accelerator=far.bandwidth.value,
            link=far.needed("to_host_bandwidth").value,
            copy=far.to_host_latency.value if far.to_host_latency else 0.0,
            launch=far.launch_latency.value if far.launch_latency else 0.0,
            loop=near.launch_latency.value if near.launch_latency else 0.0,
            memory=far.memory_bytes.value if far.memory_bytes else float("inf"),
        )


def _own(value: float) -> Number:
    return Number(value, "assumed", OWN)
