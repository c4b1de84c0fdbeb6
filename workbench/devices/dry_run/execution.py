"""Dry execution of a recurrence, and the time of an iteration in the steady state of what it records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Protocol

import numpy as np

from workbench.devices.accelerator.device import Accelerator
from workbench.devices.clock import Recorder
from workbench.devices.constant import constant
from workbench.devices.cpu import Cpu
from workbench.devices.dry_run.device import Cores, Pair, Split, whole
from workbench.devices.dry_run.runtime import ShapeOnlyRuntime
from workbench.devices.dry_run.sizes import Cut, Sizes
from workbench.devices.element_wise import ElementWise
from workbench.devices.programs.workspace import Workspace

ITERATIONS = 8
"""Enough for the overlap of copies and kernels of neighbouring iterations to become periodic."""


class Method(Protocol):
    """The part of a solver that a dry run calls."""

    needs_accelerator: ClassVar[bool]

    def iterates(self, workspace: Workspace, /) -> Iterator[None]: ...


def execute(
    method: Method,
    sizes: Sizes,
    recorder: Recorder,
    *,
    cores: bool = False,
    cut: Cut | None = None,
    iterations: int = ITERATIONS,
    fuse: bool = True,
) -> Workspace:
    """Record the start and `iterations` of a method with Jacobi; returns the workspace, for its vectors.

    cores: where a method for one device runs. cut: the row split of hybrid 3. An event on the accelerator lasts a
    second for each of its launches; other times mean nothing.
    """
    device = _device(method, sizes, cores, cut)
    accelerator = device if isinstance(device, Accelerator) else None
    clock = device.clock(recorder)
    workspace = device.workspace(
        sizes.size,
        sizes.dtype,
        vectors={name: device.zeros(sizes.size, sizes.dtype) for name in ("b", "x")},
        operators={"A": whole(sizes, accelerator), "M": _jacobi(sizes, device)},
        fuse=fuse,
        clock=clock,
    )
    recurrence = method.iterates(workspace)
    for iteration in range(iterations + 1):
        clock.iteration = iteration
        next(recurrence)
    clock.resolve()
    return workspace


def steady_seconds(iterations: np.ndarray, ends: np.ndarray) -> float:
    """Mean seconds between the ends of consecutive iterations, over the second half of at most ITERATIONS.

    iterations, ends: of every event. The number of iterations is even, since hybrid 2 alternates between two vectors.
    """
    last = int(iterations.max())
    middle = last - max(1, min(ITERATIONS, last) // 2)
    return float(ends[iterations <= last].max() - ends[iterations <= middle].max()) / (last - middle)


def _device(method: Method, sizes: Sizes, cores: bool, cut: Cut | None) -> Accelerator | Cpu:
    if not method.needs_accelerator:
        return Cores() if cores else Accelerator(ShapeOnlyRuntime())
    return Split(sizes, cut) if cut else Pair()


def _jacobi(sizes: Sizes, device: Accelerator | Cpu) -> ElementWise:
    if sizes.constant_diagonal:
        return ElementWise("0.5*v", {})
    return ElementWise("d*v", {"d": device.array(constant(1, sizes.size, sizes.dtype), sizes.dtype)})
