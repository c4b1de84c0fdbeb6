"""This process as a rank: one of several processes of MPI that make its runs together, each with some of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from workbench.devices.protocol import Device
    from workbench.run.choices.configuration import Configuration


class Rank(Protocol):
    """A rank as the setup of a run knows it, by the extension that has entered it. All ranks call the same methods."""

    def device(self, configuration: Configuration, unknowns: int = 0) -> Device:
        """The device of this rank, with its slab of rows. unknowns: of a system given in memory.

        Raises InputError for what does not run on that number of ranks.
        """
        ...

    def notes(self) -> list[str]:
        """Sentences on the ranks, for the provenance."""
        ...


_entered: list[Rank] = []


def enter(rank: Rank | None) -> None:
    """Let the setups of this process be those of a rank; None: those of a process of its own, as at first."""
    _entered[:] = [] if rank is None else [rank]


def this_rank() -> Rank | None:
    """The rank that was entered; None in a process of its own."""
    return _entered[0] if _entered else None
