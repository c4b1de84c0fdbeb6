"""Measurement of this machine's profile for `retime`."""

from __future__ import annotations

import math
import re
import statistics
import time

import numpy as np

from workbench import devices
from workbench.devices.accelerator import measure
from workbench.devices.accelerator.device import Accelerator, as_accelerator
from workbench.devices.host.triad import LAUNCHES, launch_latency, update_bandwidth
from workbench.errors import InputError
from workbench.machines import processor
from workbench.machines.doctor import triad_array_bytes
from workbench.machines.profile import Number, Profile
from workbench.process import limits

ELEMENTS = 1 << 25
"""Length of each vector of an accelerator's triad: 256 MiB, larger than caches."""
COPIED = 1 << 28
"""Bytes of a copy between host and accelerator."""
PRODUCTS = 200
"""Repetitions of the matrix-vector product that measures the operation rate."""


def calibrate(name: str = "this", device: str = "cpu", seconds: float = 1.0) -> Profile:
    """Measure a device of this machine.

    Cost: for the processor about `seconds` and a quarter of the free memory; for an accelerator a few seconds and 1 GB
    of its memory. The operation rate of the processor is that of a stencil product with vectors in cache, not the peak
    that vendors state; for an accelerator it is not measured.

    Raises InputError for an invalid name and for a device that is not available.
    """
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]*", name):
        raise InputError(f"a machine's name consists of lower-case letters, digits, dots and dashes, got {name!r}")
    made = devices.device(device)
    return _processor(name, seconds) if made.name == "cpu" else _accelerator(name, as_accelerator(made))


def _accelerator(name: str, device: Accelerator) -> Profile:
    to_device, to_host = measure.copy_to_device(device, COPIED), measure.copy_to_host(device, COPIED)
    source = (
        f"{COPIED >> 20} MiB from and to page-locked memory, and {measure.SMALL} bytes; medians of {measure.ROUNDS}"
    )
    launch = Number(measure.launch_latency(device), "measured", f"{measure.LAUNCHES} consecutive tiny kernels")
    triad = measure.triad_bandwidth(device, ELEMENTS)
    return Profile(
        name=name,
        title=device.runtime.title,
        kind="gpu",
        bandwidth_measured=Number(
            triad,
            "measured",
            f"triad a = b + 3 c, median of {measure.ROUNDS}, {8 * ELEMENTS} bytes each, 24 per element",
        ),
        launch_latency=launch,
        to_device_bandwidth=Number(to_device[0], "measured", source),
        to_device_latency=Number(to_device[1], "measured", source),
        to_host_bandwidth=Number(to_host[0], "measured", source),
        to_host_latency=Number(to_host[1], "measured", source),
    )


def _operations(cache: int | None) -> Number | None:
    """Operations per second of a 5-point product whose five vectors take a quarter of the last-level cache."""
    if not cache:
        return None
    device = devices.device("cpu")
    n = max(64, math.isqrt(cache // (5 * 4 * 8)))
    west, south = -np.ones((n, n)), -np.ones((n, n))
    west[:, 0] = south[0] = 0
    diagonal = 4 + np.random.default_rng(0).random(n * n)
    product = device.stencil(diagonal, (west.ravel(), south.ravel()), (1, n))
    x, out = (device.array(np.ones(n * n), np.dtype(np.float64)) for _ in range(2))
    product.apply(x, out)
    times = []
    for _ in range(PRODUCTS):
        started = time.perf_counter()
        product.apply(x, out)
        times.append(time.perf_counter() - started)
    rate = product.flops / statistics.median(times)
    return Number(rate, "measured", f"5-point products of {n} x {n} unknowns in cache, median of {PRODUCTS}")


def _processor(name: str, seconds: float) -> Profile:
    total, free = limits.memory()
    cache = processor.last_level_cache()
    update = update_bandwidth(seconds, triad_array_bytes(cache, free))
    source = "the operating system, container limits included"
    return Profile(
        name=name,
        title=f"{processor.model()}, {update.threads} cores",
        kind="cpu",
        bandwidth_measured=Number(
            update.median,
            "measured",
            f"update a = a + s b on {update.threads} threads, median of {update.repeats}, {update.array_bytes} bytes "
            f"each, 24 bytes an element; best {update.best:.4g}",
        ),
        launch_latency=Number(
            launch_latency(), "measured", f"a kernel on all cores that accesses one word each, median of {LAUNCHES}"
        ),
        flops=_operations(cache),
        memory_bytes=Number(total, "nominal", source),
        cache_bytes=Number(cache, "nominal", source) if cache else None,
    )
