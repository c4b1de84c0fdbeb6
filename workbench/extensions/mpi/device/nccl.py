"""Sums and ghost planes between the GPUs of ranks by NCCL, in the stream of the kernels."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workbench.devices.accelerator.runtime import Vector
from workbench.devices.cuda.runtime import Cuda
from workbench.errors import DeviceError
from workbench.extensions.mpi.device.links import Piece

if TYPE_CHECKING:
    from mpi4py import MPI

_made: dict[tuple[int, int], Nccl] = {}
"""Links by GPU and MPI communicator. They stay for the life of the process: destroying one waits for every graph with
its work to be destroyed first, which at the end of Python may never be."""


class Nccl:
    """Links of the GPUs of an mpi4py communicator, one for each rank. A recorded graph repeats their work."""

    waits = False

    def __init__(self, runtime: Cuda, communicator: MPI.Intracomm) -> None:
        from cupy.cuda import nccl  # pyright: ignore[reportMissingImports]

        self._runtime, self._nccl = runtime, nccl
        name = communicator.bcast(nccl.get_unique_id() if communicator.rank == 0 else None)
        with runtime.alone():
            self._all = nccl.NcclCommunicator(communicator.size, name, communicator.rank)
        version = nccl.get_version()
        self.title = f"NCCL {version // 10000}.{version // 100 % 100}.{version % 100} in the stream of the kernels"
        self._kinds = {np.dtype(np.float32): nccl.NCCL_FLOAT32, np.dtype(np.float64): nccl.NCCL_FLOAT64}

    def exchange(self, sent: Sequence[Piece], received: Sequence[Piece]) -> None:
        """See `Link.exchange`."""
        nccl, everyone = self._nccl, self._all

        def work(stream: int) -> None:
            nccl.groupStart()
            for piece in sent:
                address = self._runtime.address(piece.handle) + piece.first
                everyone.send(address, piece.nbytes, nccl.NCCL_CHAR, piece.rank, stream)
            for piece in received:
                address = self._runtime.address(piece.handle) + piece.first
                everyone.recv(address, piece.nbytes, nccl.NCCL_CHAR, piece.rank, stream)
            nccl.groupEnd()

        self._enqueue(work)

    def total(self, source: Vector, target: Vector) -> None:
        """See `Link.total`."""
        # A complex number is a pair of real ones, which are added one by one.
        words = source.size * (2 if source.dtype.kind == "c" else 1)
        kind = self._kinds[np.finfo(source.dtype).dtype]
        addresses = self._runtime.address(source.handle), self._runtime.address(target.handle)
        self._enqueue(lambda stream: self._all.allReduce(*addresses, words, kind, self._nccl.NCCL_SUM, stream))

    def _enqueue(self, work: Callable[[int], None]) -> None:
        try:
            self._runtime.enqueue(work)
        except self._nccl.NcclError as error:
            raise DeviceError(
                f"NCCL failed between the GPUs of the ranks ({str(error).splitlines()[0]}); run without ranks"
            ) from None


def between(runtime: Cuda, communicator: MPI.Intracomm) -> Nccl | None:
    """NCCL between the GPUs of all ranks, which have one each; None, on every rank, where one lacks it.

    communicator: of mpi4py; all ranks call this together.
    """
    try:
        from cupy.cuda import nccl  # pyright: ignore[reportMissingImports]

        available = bool(nccl.available)
    except ImportError:
        available = False
    if not all(communicator.allgather(available)):
        return None
    key = runtime.number, communicator.py2f()
    if key not in _made:
        _made[key] = Nccl(runtime, communicator)
    # A traced run replaces methods of its own.
    return copy.copy(_made[key])
