"""Rates of cores, accelerator and the link between them, measured in a tenth of a second or read from profiles."""

from __future__ import annotations

import dataclasses
import statistics
import time
from collections.abc import Callable
from typing import Protocol

import numpy as np

from workbench.devices.accelerator.device import Accelerator
from workbench.devices.accelerator.measure import SMALL
from workbench.devices.cpu import Cpu
from workbench.devices.host.triad import launch_latency
from workbench.devices.operator_protocols import DeviceOperator
from workbench.devices.protocol import Device

ROUNDS = 5
REPEATS = 5
"""Passes or products between two readings of the clock, so that the synchronization counts little."""
LAUNCHES = 100
VECTORS = 8
"""Vectors of the measured length that must fit the accelerator; half of them are allocated."""
LARGEST = 1 << 22
"""Elements of a timed pass or copy: more than caches hold, and few enough for a short measurement."""


@dataclasses.dataclass(frozen=True)
class Rates:
    """Bandwidths in bytes per second, latencies in seconds; product_*: seconds of one
    matrix-vector product; basis: in words.

    cpu_launch and accelerator_launch: the latency of a kernel. repeated: the launches of iterations on the
    accelerator alone are recorded and cost the host nothing. assembled: how many times as long products
    take with the assembled matrix, which hybrid 3 needs.
    """

    cpu_bandwidth: float
    cpu_launch: float
    accelerator_bandwidth: float
    accelerator_launch: float
    to_host_bandwidth: float
    to_host_latency: float
    to_device_bandwidth: float
    to_device_latency: float
    product_cpu: float
    product_accelerator: float
    basis: str
    repeated: bool = False
    assembled: float = 1.0


def measured_rates(accelerator: Accelerator, size: int, dtype: np.dtype, products: tuple[float, float]) -> Rates:
    """Measured rates of passes and copies as long as the vectors; products: seconds on either side.

    Cost: some dozen passes and copies, and a few hundred launches: a tenth of a second or so.
    """
    cpu, runtime = Cpu(), accelerator.runtime
    elements = max(1, min(size, LARGEST, accelerator.budget.room // (VECTORS * dtype.itemsize)))
    near, far = _triad_bandwidth(cpu, elements, dtype), _triad_bandwidth(accelerator, elements, dtype)
    stream, vector = runtime.stream(), accelerator.zeros(elements, dtype)
    large = runtime.pinned(vector.nbytes)
    small = large[: min(SMALL, large.size)]

    def there(values: np.ndarray) -> None:
        stream.to_device(vector.handle, values).wait()

    def back(values: np.ndarray) -> None:
        stream.to_host(values, vector.handle).wait()

    to_device, to_host = _link(there, large, small), _link(back, large, small)
    scalars = accelerator.scalars(1, dtype)

    def launches() -> None:
        for _ in range(LAUNCHES):
            accelerator.write_scalar(scalars, 0, 1.0)
        runtime.synchronize()

    return Rates(
        near,
        launch_latency(LAUNCHES),
        far,
        _seconds(launches) / LAUNCHES,
        *to_host,
        *to_device,
        *products,
        basis="measured just now",
        repeated=accelerator.layout.language == "cuda",
    )


class Quantity(Protocol):
    """A number of a machine profile."""

    @property
    def value(self) -> float: ...


class MachineProfile(Protocol):
    """A machine profile, see `workbench.machines`."""

    @property
    def name(self) -> str: ...

    @property
    def bandwidth(self) -> Quantity: ...

    def required(self, quantity: str, /) -> Quantity:
        """A number of the profile; raises InputError where it lacks it."""
        ...


def profile_rates(cpu: MachineProfile, accelerator: MachineProfile, traffic: int) -> Rates:
    """The rates of two machine profiles; traffic: bytes of a product. Raises InputError for what a profile lacks."""

    def latency(profile: object, name: str) -> float:
        number = getattr(profile, name)
        return number.value if number else 0.0

    return Rates(
        cpu.bandwidth.value,
        latency(cpu, "launch_latency"),
        accelerator.bandwidth.value,
        latency(accelerator, "launch_latency"),
        accelerator.required("to_host_bandwidth").value,
        latency(accelerator, "to_host_latency"),
        accelerator.required("to_device_bandwidth").value,
        latency(accelerator, "to_device_latency"),
        traffic / cpu.bandwidth.value,
        traffic / accelerator.bandwidth.value,
        basis=f"of the profiles {cpu.name} and {accelerator.name}",
    )


def product_seconds(device: Device, bound: DeviceOperator, size: int, dtype: np.dtype) -> float:
    """Seconds of one product of an operator bound to a device."""
    x, out = device.copy(device.array(np.ones(size, dtype), dtype)), device.zeros(size, dtype)

    def products() -> None:
        for _ in range(REPEATS):
            bound.apply(x, out)
        device.synchronize()

    return _seconds(products) / REPEATS


def _triad_bandwidth(device: Device, elements: int, dtype: np.dtype) -> float:
    space = device.workspace(elements, dtype, vectors={name: device.zeros(elements, dtype) for name in "abc"})
    (triad,) = space.lines("a = b + 3*c")

    def passes() -> None:
        for _ in range(REPEATS):
            triad()
        device.synchronize()

    return REPEATS * triad.bytes / _seconds(passes)


def _link(copy: Callable[[np.ndarray], None], large: np.ndarray, small: np.ndarray) -> tuple[float, float]:
    """Bytes per second of a large copy, and seconds of a tiny one."""
    latency = _seconds(lambda: copy(small))
    return large.nbytes / max(_seconds(lambda: copy(large)) - latency, 1e-9), latency


def _seconds(work: Callable[[], None]) -> float:
    """Seconds of one call: the median of rounds, after one to warm up."""
    work()
    found = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        work()
        found.append(time.perf_counter() - begun)
    return statistics.median(found)
