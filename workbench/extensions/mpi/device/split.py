"""The rows of a rank, shared between its cores and its accelerator.

Each side numbers the columns of its rows so that its own unknowns are one range. The order on the cores: their rows,
those of the accelerator, ghosts. On the accelerator: the rows of the cores, ghosts, its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workbench.devices.accelerator.device import Accelerator
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.clock import Clock, Recorder
from workbench.devices.cpu import Cpu
from workbench.devices.host import memory
from workbench.devices.ops.csr import RowBlock
from workbench.devices.pair import RowBlocks, Split, decompose, split_of
from workbench.devices.pair.sides import AcceleratorSide, Copy, CpuSide, Link, Part, Sides
from workbench.devices.pair.split import accelerator_blocks, check_halves, split_rows
from workbench.errors import InputError
from workbench.extensions.mpi.device.accelerated import RankOnAccelerator
from workbench.extensions.mpi.device.clock import HALO, SUM
from workbench.extensions.mpi.device.device import RankOnCores
from workbench.extensions.mpi.device.halo import agreed_ghosts
from workbench.extensions.mpi.device.pair_clock import RankPairClock
from workbench.lazy import sparse
from workbench.operators.matrix_rows import MatrixRows
from workbench.operators.slab_stencil import SlabStencil

if TYPE_CHECKING:
    from mpi4py import MPI

    from workbench.extensions.mpi.device.sums import Sums
    from workbench.extensions.mpi.device.watched import WatchedCommunicator

GHOSTS = "ghosts"
"""The name of the copy of ghosts to the accelerator."""


class Ghosts:
    """The unknowns of other ranks that the rows of both sides read; see `sides.OtherRanks`.

    They come into host memory behind the rows of this rank. The cores send rows of both sides from there.
    """

    def __init__(self, communicator: WatchedCommunicator, rows: MatrixRows) -> None:
        self._communicator, self._size = communicator, rows.slab.size
        self._received, self._sent = agreed_ghosts(communicator, rows.slab, rows.ghosts)
        self._requests: list[MPI.Request] = []
        self._vector, self._link = np.zeros(0), None

    @property
    def sent(self) -> np.ndarray:
        """The rows of this rank that others read; a row may be there several times."""
        return np.concatenate([np.empty(0, np.int64), *(rows for _, rows in self._sent)])

    def between(self, exchanged: np.ndarray, link: Link) -> Ghosts:
        """These ghosts behind the rows in `exchanged`, and copied by a link."""
        self._vector, self._link = exchanged, link
        return self

    def send(self) -> None:
        """See `OtherRanks.send`."""
        behind, communicator = self._vector[self._size :], self._communicator
        self._requests = [communicator.Irecv(behind[place], rank) for rank, place in self._received]
        self._requests += [communicator.Isend(self._vector[rows], rank) for rank, rows in self._sent]

    def receive(self) -> Copy:
        """See `OtherRanks.receive`."""
        assert self._link is not None
        self.exchange()
        return self._link.to_device(GHOSTS)

    def exchange(self) -> None:
        """Wait for the messages."""
        self._communicator.wait_all(self._requests)


class RankLink(Link):
    """The link of a rank's halves, whose partial sums are added up over all ranks. sums: of the ranks."""

    sums: Sums

    def sums_to_host(self, **names: str) -> Copy:
        """As of one process; then the partial sums of the cores become those of both sides of all ranks, and what they
        have of the accelerator becomes zero."""
        made, here = super().sums_to_host(**names), self.cpu.space
        landed = made.landed

        def total() -> None:
            landed()
            values = np.array([here.scalar(own) + here.scalar(there) for own, there in names.items()])
            for (own, there), value in zip(names.items(), self.sums.total(values), strict=True):
                here.set_scalar(own, value)
                here.set_scalar(there, 0)

        made.landed = total
        return made


class RankSplit(Split, RankOnCores):
    """The device of a run in two halves on a rank; see `Split`. All ranks make theirs together."""

    def __init__(self, rank: RankOnAccelerator, blocks: RowBlocks, ghosts: Ghosts, note: str) -> None:
        RankOnCores.__init__(self, rank.communicator, rank.slab)
        Split.__init__(self, rank.alone, blocks, note)
        self.note = f"{rank.hardware}; {note}"
        self._ghosts, self._cores = ghosts, Cpu()

    @property
    def cores(self) -> Cpu:
        """The cores without the other ranks, since a link adds up the dot products."""
        return self._cores

    def clock(self, recorder: Recorder) -> Clock:
        made = RankPairClock(self.runtime, recorder, self.rank)
        made.attach(HALO, self._ghosts.exchange)
        made.attach(SUM, self.sums.total)
        return made

    def linked(
        self, cpu: CpuSide, other: AcceleratorSide, arriving: dict[str, Part], leaving: dict[str, tuple[Part, Vector]]
    ) -> Sides:
        blocks = self.blocks
        assert blocks is not None
        behind = blocks.exchanged[self.slab.size :]
        link = RankLink(cpu, other, arriving, leaving | {GHOSTS: (Part(behind, blocks.rows), blocks.arrived)})
        link.sums = self.sums
        return Sides(cpu, other, link, self._ghosts.between(blocks.exchanged, link))


@split_of.register
def split_of_rank(
    rank: RankOnAccelerator, operator: SlabStencil | MatrixRows, share: float | None, vectors: int
) -> RankSplit:
    """The split of the rows of a rank; see `split_of`. All ranks call this together."""
    rows = operator if isinstance(operator, MatrixRows) else operator.to_rows()
    cores, why = _decomposed(rank, rows, share, vectors)
    ghosts = Ghosts(rank.communicator, rows)
    blocks = blocks_of_rank(rank.alone, rows, cores, ghosts.sent)
    return RankSplit(rank, blocks, ghosts, why)


def _decomposed(rank: RankOnAccelerator, rows: MatrixRows, share: float | None, vectors: int) -> tuple[int, str]:
    """As `decompose`, for the rows of a rank; the sentence has the shares of all ranks.

    Raises InputError on all ranks where one has a side without rows.
    """
    cores, why, refused, size = 0, "", "", rows.slab.size
    try:
        cores, why = decompose(rank.alone, rows.tall, share, vectors)
        check_halves(rank.alone, size, cores, why)
    except InputError as error:
        refused = f"rank {rank.rank}: {error}"
    sentences = [sentence for sentence in rank.gathered(refused) if sentence]
    if sentences:
        raise InputError(sentences[0])
    low, *_, high = sorted(rank.gathered(cores / size))
    return cores, f"on rank {rank.rank} {why}; on all ranks they have {low:.1%} to {high:.1%} of the rows"


def blocks_of_rank(accelerator: Accelerator, rows: MatrixRows, cores: int, sent: np.ndarray) -> RowBlocks:
    """The blocks of the first `cores` rows of a rank and of the others. sent: the rows that other ranks read.

    Cost: two copies of the rows, one of them on the accelerator.
    """
    size, count, below = rows.slab.size, rows.ghosts.size, rows.below
    own, ghosts = np.arange(size), np.arange(count)
    numbers = (
        np.insert(of_ghosts, below, of_own)
        for of_own, of_ghosts in (
            (own, size + ghosts),
            (np.where(own < cores, own, own + count), cores + ghosts),
        )
    )
    near, far = (
        _numbered(part, number) for part, number in zip((rows.tall[:cores], rows.tall[cores:]), numbers, strict=True)
    )
    splits = split_rows(near.indices, near.indptr, cores)
    exchanged = memory.vector(size + count, rows.dtype, accelerator.runtime.pinned)
    arrived = accelerator.zeros(cores + count, rows.dtype)
    read = [sent, near.indices]
    return RowBlocks(
        rows=cores,
        near=(
            RowBlock(Cpu(), near.data, near.indices, near.indptr[:-1], splits),
            RowBlock(
                Cpu(), near.data, near.indices, splits, near.indptr[1:], remote=exchanged, others=size + count - cores
            ),
        ),
        far=accelerator_blocks(
            accelerator,
            (far.data, far.indices, far.indptr),
            split_rows(far.indices, far.indptr, cores + count),
            cores + count,
            arrived,
        ),
        cpu_ghosts=_range(np.concatenate(read), cores, size),
        accelerator_ghosts=_range(far.indices, 0, cores),
        exchanged=exchanged,
        arrived=arrived,
    )


def _numbered(rows: sparse.csr_array, numbers: np.ndarray) -> sparse.csr_array:
    """Rows with other numbers of their columns, sorted."""
    made = sparse.csr_array((rows.data, numbers[rows.indices].astype(rows.indices.dtype), rows.indptr), rows.shape)
    made.sort_indices()
    return made


def _range(numbers: np.ndarray, first: int, end: int) -> tuple[int, int]:
    """The first, and the last + 1, of the numbers from `first` to end - 1; an empty range if none is there."""
    within = numbers[(numbers >= first) & (numbers < end)]
    return (int(within.min()), int(within.max()) + 1) if within.size else (first, first)
