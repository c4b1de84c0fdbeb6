"""A program ready to run, with its counts: what programs of vectors and of block vectors have in common, and protocols
between a workspace and its device.

Steps may end with sums which the host reads; a trace records their parts separately.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from workbench.devices.clock import Clock, Work
from workbench.lines.schedule import Apply, Step
from workbench.lines.types import Line, Shapes

if TYPE_CHECKING:
    from workbench.devices.clock import Returned
    from workbench.devices.operator_protocols import DeviceVector


class Program:
    """Paper lines bound to a workspace; calling it runs all its steps once. lines: as planned. calls: so far."""

    def __init__(self, workspace: Any, lines: tuple[Line, ...], shapes: Shapes) -> None:
        self.lines, self.calls = lines, 0
        self._workspace, self._shapes = workspace, shapes
        self._runs: list[Callable[[], None]] = []
        self._works: list[Work] = []

    def __call__(self) -> None:
        self.calls += 1
        for run in self._runs:
            run()

    @property
    def runs(self) -> tuple[Callable[[], None], ...]:
        """The functions that a call runs, in order."""
        return tuple(self._runs)

    @property
    def passes(self) -> int:
        """Passes over memory in one call; an operator application, a reduction and a sum of block vectors are one."""
        return len(self._works)

    @property
    def bytes(self) -> int:
        """Bytes read and written by one call, each vector once a pass."""
        return sum(work()[0] for work in self._works)

    @property
    def flops(self) -> int:
        """Floating-point operations of one call, counted as real ones."""
        return sum(work()[1] for work in self._works)


@dataclasses.dataclass(frozen=True)
class HostRead:
    """Kernels, a copy of sums to the host, and what follows: `after(add(read(launch())))`.

    add: adds partial sums on the host; None where the device added them. after: takes the sums; relaunches says whether
    it launches a kernel. label: of the sums.
    """

    launch: Callable[..., Any]
    read: Callable[[Any], Any]
    label: str = "sums"
    add: Callable[[Any], Any] | None = None
    after: Callable[[Any], Any] = lambda sums: sums
    relaunches: bool = False

    def __call__(self, *arguments: object) -> Any:
        found = self.read(self.launch(*arguments))
        return self.after(self.add(found) if self.add else found)

    def timed(self, clock: Clock, name: str, work: Work) -> HostRead:
        """A copy whose parts a clock records one by one."""
        add, after = self.add, self.after
        return dataclasses.replace(
            self,
            launch=clock.timed(self.launch, name, work),
            read=clock.reading(self.read, f"copy {self.label}"),
            add=add and clock.timed(add, f"add {self.label}", _nothing_counted),
            after=clock.timed(after, f"scalars after {self.label}", _nothing_counted) if self.relaunches else after,
        )


def _nothing_counted() -> tuple[int, int]:
    return 0, 0


def timed(clock: Clock, run: Callable[[], Returned], name: str, work: Work) -> Callable[[], Returned]:
    """A step that the clock records: its parts, where the host reads sums in it."""
    return run.timed(clock, name, work) if isinstance(run, HostRead) else clock.timed(run, name, work)


def followed(
    compute: Callable[..., Any], label: str, use: Callable[[Any], None], *arguments: object
) -> Callable[[], Any]:
    """A call of `compute` with these arguments whose result `use` takes, in the same parts. label: of the sums."""
    if not isinstance(compute, HostRead):
        return lambda: use(compute(*arguments))
    label, after = f"{compute.label} of {label}", compute.after
    launch = partial(compute.launch, *arguments)
    return dataclasses.replace(compute, launch=launch, label=label, after=lambda sums: use(after(sums)))


class Storage(Protocol):
    """The vectors, scalars and operators of one solve by name, to which programs are bound; see `Workspace`."""

    device: ProgramDevice
    clock: Clock | None
    size: int
    dtype: np.dtype
    scalars: DeviceVector
    slots: dict[str, int]
    operators: dict[str, Any]

    def vector(self, name: str) -> DeviceVector:
        """The vector or block vector of that name."""
        ...

    def operator(self, step: Apply) -> Any:
        """The operator that a step applies."""
        ...

    def itemsize(self, name: str) -> int:
        """Bytes of an entry of a vector."""
        ...


class ProgramDevice(Protocol):
    """Memory for vectors and scalars, and programs compiled for them; also a device that only plans."""

    def zeros(self, size: int, dtype: np.dtype) -> DeviceVector:
        """A new vector of zeros, shape (size,)."""
        ...

    def zero_block(self, size: int, columns: int, dtype: np.dtype) -> DeviceVector:
        """An N x columns block vector of zeros, row-major."""
        ...

    def scalars(self, count: int, dtype: np.dtype) -> DeviceVector:
        """Room for the scalars and small matrices of a workspace, zero."""
        ...

    def to_host(self, vector: DeviceVector, /) -> np.ndarray:
        """The numbers of a vector, or the scalars, as a NumPy array; waits for the device."""
        ...

    def clear(self, array: DeviceVector) -> None:
        """Set a vector, or all scalars, to zero."""
        ...

    def write_scalar(self, scalars: DeviceVector, slot: int, value: complex) -> None:
        """Set one of the scalars."""
        ...

    def bind_steps(
        self, steps: Sequence[Step], workspace: Storage, shapes: Shapes, kernels: dict[Any, Any]
    ) -> list[Callable[[], None]]:
        """One call for each step of a program, on the arrays that the workspace holds now.

        kernels: those compiled before, by whatever key the device gives them; new ones are added.
        """
        ...

    def batched(self, runs: list[Callable[[], None]], workspace: Storage) -> list[Callable[[], None]]:
        """The calls, merged into fewer where the device can."""
        ...

    def settle(self) -> None:
        """Wait for kernels that are still being compiled."""
        ...
