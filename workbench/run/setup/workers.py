"""The workers of a cluster, as runs and sweeps use them; an extension connects to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from workbench.preconditioners.schwarz.workers import BoxWorkers
from workbench.registry.extensions import service

if TYPE_CHECKING:
    from workbench.devices.clock import Clock, Recorder


class Done(NamedTuple):
    """A task that has ended: its place, its result, or the reason for none, its worker, and the number of times that it
    was begun again because that one was lost."""

    place: int
    value: Any
    failure: str
    worker: str
    repeats: int


class Workers(BoxWorkers, Protocol):
    """The connected workers of a cluster, until `close`."""

    @property
    def notes(self) -> list[str]:
        """Sentences on what the workers did."""
        ...

    def each(
        self, function: Callable[..., object], tasks: Sequence[tuple[object, ...]], stopped: Callable[[], bool]
    ) -> Iterator[Done]:
        """A function of each of these arguments, on whichever worker is free, in the order in which they end; behind
        them it is given a function that returns True once its task is cancelled. Ends early once `stopped` returns
        True. Raises DeviceError once all workers are lost."""
        ...

    def start_lanes(self, clock: Clock, recorder: Recorder) -> list[str]:
        """Note what workers do from now on, for a trace. Returns sentences on its lanes."""
        ...

    def resolve(self) -> None:
        """Add what was noted to the trace, if there is one."""
        ...

    def close(self) -> None:
        """Disconnect, and end the workers that were started here."""
        ...


def connected(cluster: str) -> Workers:
    """The workers of a cluster: `local:<processes>`, or the address of a scheduler.

    Raises InputError where no extension connects to any, where what it needs is not installed, and for a cluster that
    has no worker of these versions.
    """
    return service("workers")(cluster)
