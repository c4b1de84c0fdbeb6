"""The machines of the hybrid PIPECG papers as pairs of profiles, with the assumptions made, machines defined by seven
numbers, and modelled times as functions of the number of unknowns.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from workbench.devices.dry_run import Sizes
from workbench.extensions.models.schedules import METHODS, all_expected
from workbench.machines.profile import Number, Profile, profile
from workbench.machines.retime import Machine

COPY = Number(
    6e-6,
    "assumed",
    "assumed as on newer GPUs: 5 to 7 microseconds per cudaMemcpyAsync (Wu et al. 2026, arXiv 2602.21548, section 5.2)",
)
LAUNCH = Number(9.27e-6, "assumed", "assumed as on the K40, the GPU of the same generation")
PRINTED_MEMORY = Number(5e9, "nominal", "Tiwari, Vadhiyar 2022, section 5, as printed; NVIDIA's K40 has 12 GB")
HOSTS = {"k20m": "xeon-16", "k40": "xeon-16", "v100": "xeon-32", "h200": "xeon-32"}

REACHED = 0.7
"""Share of the nominal bandwidth of a host that its cores may reach together: assumed, to see what depends on it."""

NOTES = (
    "Hosts: the papers print '16 core' and '32 core Intel CPU' and no model; two Xeon E5-2670 and two Xeon Gold 6130 "
    "are assumed, with nominal bandwidths. The H200 is not in the papers; the V100's host is assumed for it.",
    "Also assumed: 6 microseconds per copy, the K40's launch latency for the K20m, and no latency for loops on the "
    "cores, so times for a few thousand rows are unreliable.",
    "The K40 has the 5 GB that the paper prints; NVIDIA's has 12 GB, which would hold all of its Poisson problems.",
)


def machine(name: str) -> Machine:
    """A GPU of HOSTS with its host. Raises InputError for an unknown name."""
    return Machine(profile(HOSTS.get(name, "xeon-16")), _completed(profile(name)))


def with_slower_cores(where: Machine) -> Machine:
    """The machine with cores that reach `REACHED` of the bandwidth of their profile."""
    bandwidth = where.cores.bandwidth
    reached = Number(REACHED * bandwidth.value, "assumed", f"assumed: {REACHED:g} of {bandwidth.source}")
    return dataclasses.replace(where, cores=dataclasses.replace(where.cores, bandwidth_measured=reached))


def _completed(found: Profile) -> Profile:
    """The profile with assumed values in place of missing ones."""
    return dataclasses.replace(
        found,
        launch_latency=found.launch_latency or LAUNCH,
        to_host_latency=found.to_host_latency or COPY,
        to_device_latency=found.to_device_latency or COPY,
        memory_bytes=PRINTED_MEMORY if found.name == "k40" else found.memory_bytes,
    )


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
