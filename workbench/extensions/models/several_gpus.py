"""Modelled iterations of CG and pipelined CG on 2 to 4,096 GPUs of several nodes, rows shared in slabs.

Nothing here was measured. Each GPU runs the solver's own steps on its rows, timed as on one GPU; `shared_rows` has the
order of the work, and the messages.
"""

from __future__ import annotations

import dataclasses
import functools
import math

from workbench.devices.clock import ACCELERATOR, GPU
from workbench.devices.dry_run import Sizes
from workbench.errors import InputError
from workbench.extensions.models.schedules import (
    METHODS,
    Expected,
    Method,
    cached_dry_run,
    steps_of,
    usable_memory,
)
from workbench.extensions.models.shared_rows import Fabric, SharedRows, Steps, Work, launches
from workbench.lines.schedule import Apply, Step
from workbench.machines.retime import Machine, retime

MOST = 4096
"""GPUs."""
ON_SEVERAL = ("cg gpu", "pipecg gpu")
"""The methods that are modelled, as in `METHODS`."""
NOTES = (
    "modelled, nothing was measured: slabs of rows, an exchange of rows in front of each product and not hidden by it",
    "shown are the first GPU, one in the middle and the last; all between are as the one in the middle",
    "kernels take as long as on one GPU, launch latency included; the host and its convergence checks take nothing",
)


def expected_on(method: str | Method, sizes: Sizes, machine: Machine, fabric: Fabric, gpus: int) -> Expected:
    """The modelled time of one iteration on several GPUs of a machine; see `schedules.expected`.

    method: its name, or one for one device, such as a user-defined one on the accelerator. The trace has a lane for
    the first GPU, one in the middle and the last, and one for the network. Raises InputError for an unknown method and
    a number of GPUs that is not modelled.
    """
    if isinstance(method, str) and method not in METHODS:
        raise InputError(f"a method is one of {', '.join(METHODS)}, got {method!r}")
    if not 1 <= gpus <= MOST:
        raise InputError(f"the model has 1 to {MOST} GPUs, got {gpus}")
    if 2 * gpus > sizes.size:
        return Expected(None, f"{sizes.size} rows leave fewer than two to each of {gpus} GPUs")
    if isinstance(method, str) and method not in ON_SEVERAL:
        return Expected(None, "it is modelled with one GPU alone")
    method = METHODS[method] if isinstance(method, str) else method
    shown = sorted({0, gpus // 2, gpus - 1})
    slabs = {place: _slab(sizes, gpus, place) for place in shown}
    largest = max(slabs.values(), key=lambda slab: slab.size)
    received = 2 * _border(sizes) * sizes.dtype.itemsize if gpus > 1 else 0
    needs = cached_dry_run(method, largest, None).device_bytes + received
    if needs > (memory := usable_memory(machine)):
        return Expected(
            None, f"needs {needs / 1e9:.3g} GB on each of {gpus} GPUs, which have {memory / 1e9:.3g} GB usable"
        )
    border = _border(sizes)
    halos = {place: _halo(fabric, sizes, gpus, place, border) if gpus > 1 else None for place in shown}
    shared = SharedRows(
        [f"{GPU}{place + 1}" for place in shown],
        [_timed(method, slabs[place], machine, halos[place]) for place in shown],
        functools.partial(fabric.all_reduce, gpus) if gpus > 1 else None,
        sizes.dtype.itemsize,
    )
    return shared.expected(f"{gpus} x {machine.accelerator.title}, {fabric.per_node} per node", NOTES)


def all_expected_on(sizes: Sizes, machine: Machine, fabric: Fabric, gpus: int) -> dict[str, Expected]:
    """Modelled times of every method in METHODS, by name."""
    return {name: expected_on(name, sizes, machine, fabric, gpus) for name in METHODS}


def scaling(method: str, sizes: Sizes, machine: Machine, fabric: Fabric, counts: list[int]) -> list[float | None]:
    """Modelled seconds per iteration on each of these numbers of GPUs; None where the system does not fit."""
    return [expected_on(method, sizes, machine, fabric, gpus).seconds for gpus in counts]


def _slab(sizes: Sizes, gpus: int, place: int) -> Sizes:
    """The rows of one of the GPUs, of equal length."""
    rows = sizes.size * (place + 1) // gpus - sizes.size * place // gpus
    return dataclasses.replace(sizes, size=rows, entries=max(rows, round(sizes.entries * rows / sizes.size)))


def _border(sizes: Sizes) -> int:
    """Rows next to a slab that its product reads, on either side: whole planes of a cube, as many as a box stencil with
    as many entries a row reaches."""
    width = (sizes.entries / sizes.size) ** (1 / 3)
    return max(1, math.ceil((width - 1) / 2 - 1e-9)) * round(sizes.size ** (2 / 3))


def _halo(fabric: Fabric, sizes: Sizes, gpus: int, place: int, border: int) -> tuple[float, int]:
    """Seconds and bytes of the rows that a GPU receives; from several on a side where slabs are thinner."""
    others, nbytes = [], []
    for step in (-1, 1):
        left, other = border, place + step
        while left > 0 and 0 <= other < gpus:
            rows = min(left, _slab(sizes, gpus, other).size)
            others.append(other)
            nbytes.append(rows * sizes.dtype.itemsize)
            left, other = left - rows, other + step
    return fabric.exchange(place, others, nbytes), sum(nbytes)


def _timed(method: Method, slab: Sizes, machine: Machine, halo: tuple[float, int] | None) -> Steps:
    """The steps of an iteration on one GPU. halo: seconds and bytes of the exchange in front of a product."""
    trace = retime(cached_dry_run(method, slab, None).trace, machine.cores, machine.accelerator)
    launched = iter([event for event in trace if event.iteration == 1 and event.lane == ACCELERATOR])
    made: list[tuple[Step, list[Work]]] = []
    for step in steps_of(method.solver):
        of_a = isinstance(step, Apply) and step.operator == "A"
        events = [next(launched)] if launches(step) else []
        works = [Work(each.name, each.seconds, each.bytes, each.flops, halo if of_a else None) for each in events]
        made.append((step, works))
    return made
