"""A program ready to run, with its counts: what programs of vectors and of block vectors have in common.

Steps may end with sums which the host reads; a trace records their parts separately.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.devices.clock import Clock
from workbench.lines.types import Line, Shapes

if TYPE_CHECKING:
    from workbench.devices.clock import Returned


Work = Callable[[], tuple[int, int]]
"""Bytes and flops of a step."""


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
