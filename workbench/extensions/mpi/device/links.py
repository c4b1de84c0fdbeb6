"""Links between the accelerators of ranks: sums of device vectors, and pieces of memory sent to other ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from workbench.devices.accelerator.runtime import Handle, Runtime, Vector

if TYPE_CHECKING:
    from mpi4py import MPI


class Piece(NamedTuple):
    """Bytes `first` to first + nbytes - 1 of device memory, and the rank that they go to or come from."""

    handle: Handle
    first: int
    nbytes: int
    rank: int


class Link(Protocol):
    """Sums and exchanges between the accelerators of all ranks, in the order of the kernels.

    waits: whether the host takes part, so that launches cannot be recorded. title: how, for the notes of a run.
    """

    @property
    def waits(self) -> bool: ...

    @property
    def title(self) -> str: ...

    def exchange(self, sent: Sequence[Piece], received: Sequence[Piece]) -> None:
        """Send pieces and receive others; what one rank sends to another has the size of what that one receives."""
        ...

    def total(self, source: Vector, target: Vector) -> None:
        """target = the sum of the sources of all ranks, the same digits on each; they may be one vector."""
        ...


class Communicator(Protocol):
    """A communicator of the ranks, as `watched` makes it of mpi4py, as far as pinned memory needs it."""

    def Irecv(self, buf: np.ndarray, source: int) -> MPI.Request:
        """Begin to receive from a rank."""
        ...

    def Isend(self, buf: np.ndarray, dest: int) -> MPI.Request:
        """Begin to send to a rank."""
        ...

    def Allreduce(self, sendbuf: MPI.InPlaceType, recvbuf: np.ndarray) -> None:
        """The sums over all ranks, in place."""
        ...

    def wait_all(self, requests: Sequence[MPI.Request]) -> None:
        """Wait for messages that have begun."""
        ...


class PinnedMemory:
    """Copies to page-locked host memory and back, and MPI between them. communicator: of mpi4py."""

    waits = True
    title = "copies through pinned host memory"

    def __init__(self, runtime: Runtime, communicator: Communicator) -> None:
        from mpi4py import MPI

        self._runtime, self._communicator, self._mpi = runtime, communicator, MPI
        self._stream = runtime.stream()
        self._rooms: dict[tuple[str, int, int], np.ndarray] = {}

    def exchange(self, sent: Sequence[Piece], received: Sequence[Piece]) -> None:
        """See `Link.exchange`. The stream is in order: when pieces have come, the copies of the last exchange are
        done, and its memory may be overwritten."""
        begun, communicator = self._runtime.mark(), self._communicator
        from_here = [self._room("sent", place, piece.nbytes) for place, piece in enumerate(sent)]
        to_here = [self._room("received", place, piece.nbytes) for place, piece in enumerate(received)]
        signals = [
            self._stream.to_host(room, piece.handle, begun, piece.first)
            for room, piece in zip(from_here, sent, strict=True)
        ]
        for signal in signals:
            signal.wait()
        requests = [communicator.Irecv(room, piece.rank) for room, piece in zip(to_here, received, strict=True)]
        requests += [communicator.Isend(room, piece.rank) for room, piece in zip(from_here, sent, strict=True)]
        communicator.wait_all(requests)
        for room, piece in zip(to_here, received, strict=True):
            self._runtime.hold(self._stream.to_device(piece.handle, room, None, piece.first))

    def total(self, source: Vector, target: Vector) -> None:
        """See `Link.total`."""
        room = self._room("total", 0, source.nbytes)
        self._stream.to_host(room, source.handle, self._runtime.mark()).wait()
        self._communicator.Allreduce(self._mpi.IN_PLACE, room.view(source.dtype))
        self._runtime.hold(self._stream.to_device(target.handle, room))

    def _room(self, use: str, place: int, nbytes: int) -> np.ndarray:
        key = use, place, nbytes
        if key not in self._rooms:
            self._rooms[key] = self._runtime.pinned(nbytes)
        return self._rooms[key]
