"""Modelled times as functions of the number of unknowns, and machines defined by seven numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from workbench.devices.dry_run import Sizes
from workbench.machines.profile import Number, Profile
from workbench.models.schedules import METHODS, Machine, all_expected

SMALLEST = 1000
POINTS = 19
SOURCE = "chosen by hand"


def unknowns_up_to(largest: int, points: int = POINTS) -> list[int]:
    """Integers from 1000 to `largest` in geometric progression."""
    return [round(n) for n in np.geomspace(SMALLEST, largest, points)]


def curves(machine: Machine, entries_a_row: float, unknowns: Sequence[int]) -> dict[str, list[float | None]]:
    """Modelled seconds per iteration, by method, for each number of unknowns; None if the system does not fit.

    Cost: a few milliseconds per size; less if its dry runs are cached.
    """
    found = [all_expected(Sizes(n, round(entries_a_row * n)), machine) for n in unknowns]
    return {name: [each[name].seconds for each in found] for name in METHODS}


@dataclasses.dataclass(frozen=True)
class MachineParameters:
    """A machine in seven numbers.

    cores, accelerator, link: bandwidths in bytes per second, of the link in each direction. copy, launch, loop:
    latencies in seconds of a copy, of a kernel on the accelerator and of a loop on the cores. memory: bytes on the
    accelerator.
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
        cores = Profile(
            "cores", "cores", "cpu", bandwidth_nominal=_assumed(self.cores), launch_latency=_assumed(self.loop)
        )
        accelerator = Profile(
            "accelerator",
            "an accelerator",
            "gpu",
            bandwidth_nominal=_assumed(self.accelerator),
            launch_latency=_assumed(self.launch),
            to_host_bandwidth=_assumed(self.link),
            to_device_bandwidth=_assumed(self.link),
            to_host_latency=_assumed(self.copy),
            to_device_latency=_assumed(self.copy),
            memory_bytes=_assumed(self.memory),
        )
        return Machine(cores, accelerator)

    @classmethod
    def of(cls, machine: Machine) -> MachineParameters:
        """The parameters of two profiles; unknown latencies become 0, unknown memory infinite."""
        cores, accelerator = machine.cores, machine.accelerator
        return cls(
            cores=cores.bandwidth.value,
            accelerator=accelerator.bandwidth.value,
            link=accelerator.required("to_host_bandwidth").value,
            copy=accelerator.to_host_latency.value if accelerator.to_host_latency else 0.0,
            launch=accelerator.launch_latency.value if accelerator.launch_latency else 0.0,
            loop=cores.launch_latency.value if cores.launch_latency else 0.0,
            memory=accelerator.memory_bytes.value if accelerator.memory_bytes else float("inf"),
        )


def _assumed(value: float) -> Number:
    return Number(value, "assumed", SOURCE)
