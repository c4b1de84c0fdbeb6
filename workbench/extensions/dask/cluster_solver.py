"""The solvers of the boxes of a Schwarz method on the workers of a cluster.

A worker solves in its boxes; only the restriction of r to them and the solutions travel. Source: Chen 2022, section
2.2.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from workbench.devices.operator_protocols import DeviceVector, OperatorTraits
from workbench.devices.protocol import Device
from workbench.extensions.dask.subdomain_holder import Cost, Solved
from workbench.extensions.dask.worker_lanes import Exchange, Work
from workbench.extensions.dask.workers import Holder, Workers
from workbench.preconditioners.schwarz.subdomain_factors import Subdomain
from workbench.preconditioners.schwarz.subdomain_method import SubdomainMethod


class Times(NamedTuple):
    """Seconds of an application, each the mean over the workers of a request.

    compute: of solves. transfer: between request and reply, in addition to the solves. waiting: from the reply to the
    slowest one.
    """

    compute: float
    transfer: float
    waiting: float


class Assignment(NamedTuple):
    """Consecutive boxes, and the address of the worker that they are to be set up on."""

    boxes: range
    address: str


@dataclasses.dataclass(frozen=True)
class Share:
    """Consecutive boxes on one worker. part: of the local vector. cost: of a solve in all of them."""

    boxes: range
    part: slice
    holder: Holder
    cost: Cost


class ClusterSolver(OperatorTraits):
    """The solvers of all boxes, spread over workers, on the local vector of all boxes.

    Every worker sets up its boxes once. An application sends to each worker its part of r, all messages at once, and
    waits for all solutions. The boxes of a lost worker are set up on the others, and its part of the application is
    repeated. For that, the matrices of all boxes stay in the memory of this process.

    Raises InputError for boxes that cannot be factorized, DeviceError once all workers are lost.
    """

    def __init__(
        self, workers: Workers, method: SubdomainMethod, boxes: Sequence[Subdomain], device: Device, dtype: np.dtype
    ) -> None:
        self.workers, self._method, self._boxes, self._device = workers, method, boxes, device
        self._ends = np.cumsum([0, *(box.matrix.shape[0] for box in boxes)])
        self._result = np.zeros(self._ends[-1], dtype)
        self.times: list[Times] = []
        """The times of every application."""
        self._losses: list[str] = []
        self.shares = self._set_up([range(len(boxes))], [])
        solved = "1 box is" if len(boxes) == 1 else f"{len(boxes)} boxes are"
        page = f", whose dashboard is {workers.dashboard}" if workers.dashboard else ""
        self.notes = (
            f"schwarz: {solved} solved by {workers_in_words(self.shares)} of cluster {workers.cluster}{page}",
        )
        self.waits = device.name != "cpu"
        workers.reports.append(self.report)

    def apply(self, r: DeviceVector, z: DeviceVector) -> None:
        """z = the solutions for r, box by box."""
        self._apply("solve", r, z)

    def apply_and_keep(self, r: DeviceVector, z: DeviceVector) -> None:
        """z = the solutions for r, which the workers keep as their newest terms."""
        self._apply("solve_and_keep", r, z)

    def _apply(self, method: str, r: DeviceVector, z: DeviceVector) -> None:
        """Call a method of all workers with their parts of r; z is made of the solutions."""
        right = self._device.to_host(r)
        target = z if isinstance(z, np.ndarray) else self._result
        asked = self.shares
        while asked:
            replies = self.workers.call(method, [(share.holder, (right[share.part],)) for share in asked])
            lost: list[Share] = []
            solving: list[float] = []
            calling: list[float] = []
            exchanges: list[Exchange] = []
            for share, reply in zip(asked, replies, strict=True):
                if reply.lost:
                    lost.append(share)
                    continue
                solved: Solved = reply.value
                target[share.part] = solved.z
                solving.append(solved.done - solved.begun)
                calling.append(reply.seconds)
                work = Work("box solves", solved.begun, solved.done, share.cost.traffic, share.cost.flops)
                exchanges.append(Exchange(share.holder, reply.sent, reply.received, [work]))
            self._record(np.array(solving), np.array(calling))
            self.workers.note(exchanges)
            asked = self.move(lost, "application", "and their solves were repeated") if lost else []
        if target is not z:
            self._device.assign(z, self._device.array(target, target.dtype))

    @property
    def traffic(self) -> int:
        """Bytes of the factors, each as often as it is used, and of both local vectors, on all workers."""
        return sum(share.cost.traffic for share in self.shares)

    @property
    def flops(self) -> int:
        return sum(share.cost.flops for share in self.shares)

    def report(self) -> list[str]:
        """Sentences on lost workers and on the seconds of the applications."""
        if not self.times:
            return self._losses
        compute, transfer, waiting = (1e3 * statistics.median(column) for column in zip(*self.times, strict=True))
        return [
            *self._losses,
            f"cluster {self.workers.cluster}: in the median of {len(self.times)} applications a worker computed for "
            f"{compute:.3g} ms, its messages took {transfer:.3g} ms, and it waited {waiting:.3g} ms for the slowest",
        ]

    def _record(self, solving: np.ndarray, calling: np.ndarray) -> None:
        """Add the times of an application. solving, calling: seconds of the solves and of the whole calls, by share."""
        if solving.size:
            transfer, waiting = calling - solving, calling.max() - calling
            self.times.append(Times(solving.mean(), transfer.mean(), waiting.mean()))

    def move(self, lost: Sequence[Share], where: str, then: str) -> list[Share]:
        """Set up the boxes of lost workers on others; returns their new shares.

        where, then: the operation during which the workers were lost, and its repetition, for a note in words.
        """
        kept = [share for share in self.shares if share not in lost]
        new = self._set_up([share.boxes for share in lost], kept)
        self.shares = kept + new
        number = len(self.times)
        for share in lost:
            self._losses.append(
                f"worker {share.holder.address} was lost in {where} {number} of schwarz: {_boxes(share.boxes)} "
                f"moved to other workers, {then}"
            )
        return new

    def _set_up(self, waiting: list[range], kept: Sequence[Share]) -> list[Share]:
        """Set up ranges of boxes, each cut into one part for each worker.

        If a worker is lost meanwhile, its boxes are set up on others. kept: shares that are set up already.
        """
        done: list[Share] = []
        while waiting:
            assignments = self._assignments(waiting, [*kept, *done])
            holders = self.workers.holders([assignment.address for assignment in assignments])
            calls = [(each.boxes, holder) for each, holder in zip(assignments, holders, strict=True) if holder]
            waiting = [each.boxes for each, holder in zip(assignments, holders, strict=True) if not holder]
            replies = self.workers.call(
                "factorize", [(holder, (self._method, [self._boxes[k] for k in boxes])) for boxes, holder in calls]
            )
            for (boxes, holder), reply in zip(calls, replies, strict=True):
                if reply.lost:
                    waiting.append(boxes)
                else:
                    part = slice(int(self._ends[boxes.start]), int(self._ends[boxes.stop]))
                    done.append(Share(boxes, part, holder, reply.value))
        return done

    def _assignments(self, waiting: Sequence[range], present: Sequence[Share]) -> list[Assignment]:
        """Parts of ranges of boxes, and a worker for each part: the one with the fewest boxes at that time."""
        load = dict.fromkeys(self.workers.addresses(), 0)
        for share in present:
            if share.holder.address in load:
                load[share.holder.address] += len(share.boxes)
        assigned: list[Assignment] = []
        for boxes in waiting:
            for part in np.array_split(boxes, min(len(boxes), len(load))):
                address = min(load, key=lambda name: load[name])
                load[address] += part.size
                assigned.append(Assignment(range(int(part[0]), int(part[-1]) + 1), address))
        return assigned


def workers_in_words(shares: Sequence[Share]) -> str:
    """The number of workers with these shares, in words."""
    count = len({share.holder.address for share in shares})
    return "1 worker" if count == 1 else f"{count} workers"


def _boxes(boxes: range) -> str:
    return f"box {boxes.start}" if len(boxes) == 1 else f"boxes {boxes.start} to {boxes.stop - 1}"
