"""Steps of a program that end with sums which the host reads; a trace records their parts separately."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.devices.clock import Clock
from workbench.devices.programs.program import Work

if TYPE_CHECKING:
    from workbench.devices.clock import Returned


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
