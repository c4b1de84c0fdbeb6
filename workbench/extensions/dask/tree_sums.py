"""The sums of multipreconditioned CG, inner products and step, computed by the workers that hold the terms.

Workers keep the terms of their boxes. Once in an iteration the root of a binary tree of them is asked for the sums, and
returns those of all (see `tree_node`): to this process that is one message each way, in place of all terms. Then it is
sent the weights of all terms in the step, and returns their sum. Sent are

    here to the root                 a request, passed on along the tree
    a worker to its neighbours       its newest terms where A couples them with the neighbour's boxes: the overlap, and
                                     the unknowns next to it
    along the tree                   a number for each stored term and each box that A couples with its own; a number
                                     for each stored term; the step on the unknowns of all boxes of a node and below it

Between the two, line 10 is arithmetic with small matrices, here; A times the step is one product, here too. Terms come
with the solves, for their sum M r; after the loss of a worker they are what its successor is sent.

Source: Chen 2022, section 2.2, which proposes the tree; Bridson and Greif 2006.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.devices.clock import WAITING
from workbench.devices.operator_protocols import DeviceVector, PieceVectors
from workbench.devices.protocol import Device
from workbench.errors import DeviceError
from workbench.extensions.dask.cluster_solver import ClusterSolver, Share, workers_in_words
from workbench.extensions.dask.part_sums import Part, edge_of, part_of
from workbench.extensions.dask.tree_node import Marks, Neighbour, Place, Rows, Sum, Unreached
from workbench.extensions.dask.worker_lanes import TRANSFER, Exchange, Work
from workbench.operators import Operator

if TYPE_CHECKING:
    from workbench.extensions.dask.workers import Holder

ATTEMPTS = 2
"""Failures in a row, with all workers there, after which they are said not to reach one another."""


class TreeSums:
    """The terms of all boxes and their inner products, from the workers of a cluster; `solvers.multi` calls it.

    solver: the solvers of the boxes. vectors: the boxes. operator: A.

    Raises DeviceError once all workers are lost, and where they cannot reach one another.
    """

    def __init__(self, solver: ClusterSolver, vectors: PieceVectors, operator: Operator, device: Device) -> None:
        self._solver, self._workers, self._vectors = solver, solver.workers, vectors
        self._operator, self._device = operator, device
        self._dtype, self._pieces = operator.dtype, vectors.pieces
        self._r = device.zeros(self._pieces.local_size, self._dtype)
        self._covered = np.zeros(0, int)
        self._linked: list[Share] = []
        self._pairs: list[tuple[np.ndarray, np.ndarray]] = []
        self._fetched = self._step_words = 0
        self._workers.reports.append(self.report)

    def begin(self) -> None:
        """Forget all terms; a method begins."""
        self._linked = []
        self._connect([])

    def terms(self, r: DeviceVector, terms: Sequence[DeviceVector], /) -> None:
        """terms[0] = A_i^-1 R_i r of all boxes i; the workers keep them."""
        self._vectors.gather(r, self._r)
        self._solver.apply_and_keep(self._r, terms[0])

    def multiply(self, newest: Sequence[DeviceVector], r: DeviceVector) -> None:
        """Nothing: the workers have both."""

    def columns(self, terms: Sequence[Sequence[DeviceVector]]) -> np.ndarray:
        """(z, A z') of all terms z with the newest ones z', and (z, r) in the last column, shape (m, count + 1)."""
        found: list[Rows] = self._asked("rows", len(terms), terms)
        return self._joined(found, len(terms))

    def combine(self, terms: Sequence[Sequence[DeviceVector]], weights: np.ndarray, target: DeviceVector) -> None:
        """target = the sum of all terms times weights, shape (iterations, boxes); after `columns` for these terms."""
        found: Sum = self._asked("step", weights, terms)
        step = np.zeros(self._pieces.size, self._dtype)
        step[self._covered] = found.values
        self._device.assign(target, self._device.array(step, self._dtype))

    def sent_for_step(self, iterations: int) -> tuple[int, int]:
        """Messages of a step, and their bytes, with the terms of `iterations` iterations."""
        nodes = len(self._linked)
        wide = np.result_type(self._dtype, np.float64).itemsize
        weights = nodes * iterations * self._pieces.count * wide
        return 2 * nodes, weights + self._step_words * self._dtype.itemsize

    def traffic(self, iterations: int) -> int:
        """Bytes of the terms on all workers."""
        return iterations * self._r.nbytes

    def flops(self, iterations: int) -> int:
        return 4 * iterations * self._pieces.local_size

    def report(self) -> list[str]:
        """A sentence on the workers that compute the sums, and on the messages."""
        if not self._linked:
            return []
        return [
            f"inner products and step: {workers_in_words(self._linked)} of cluster {self._workers.cluster} compute "
            f"them, and send one another {1e-3 * self._fetched:.4g} kB of terms in an iteration; "
            f"{1e-3 * self._step_words * self._dtype.itemsize:.4g} kB of the step travel along their tree"
        ]

    def _asked(self, method: str, argument: object, terms: Sequence[Sequence[DeviceVector]]) -> Any:
        """The reply of the root of the tree, for these terms; it is asked again where a worker is lost."""
        self._connect(terms)
        failures = 0
        while isinstance(found := self._reply(method, argument), Unreached):
            if not self._replaced(self._absent()):
                failures += 1
            if failures == ATTEMPTS:
                raise DeviceError(
                    f"worker {found.address} of cluster {self._workers.cluster} does not answer the other workers, "
                    "which need its terms; choose sums=here"
                )
            self._connect(terms)
        return found

    def _reply(self, method: str, argument: object) -> Any:
        addresses = [share.holder.address for share in self._linked]
        (reply,) = self._workers.call(method, [(self._linked[0].holder, (argument,))], through=addresses)
        if reply.lost:
            return Unreached(addresses[0])
        match reply.value:
            case Sum(marks=marks):
                self._note("sum of the step", marks, reply.sent, reply.received)
            case list() as rows:
                self._note("inner products", {row.number: row.marks for row in rows}, reply.sent, reply.received)
        return reply.value

    def _note(self, name: str, found: Mapping[int, Marks], sent: float, received: float) -> None:
        """Note the work of the nodes for the trace; the root's reply is the one that came here."""
        exchanges = []
        for number, (begun, ready, computed, joined) in found.items():
            parts = [(TRANSFER, begun, ready), (name, ready, computed), (WAITING, computed, joined)]
            replied = None if number else received
            exchanges.append(Exchange(self._linked[number].holder, sent, replied, [Work(*part) for part in parts]))
        self._workers.note(exchanges)

    def _joined(self, found: Sequence[Rows], count: int) -> np.ndarray:
        """One matrix of the rows of all nodes, for `count` iterations."""
        boxes = self._pieces.count
        made = np.zeros((count, boxes, boxes + 1), np.result_type(self._dtype, np.float64))
        for number, values, _ in found:
            rows, columns = self._pairs[number]
            made[:, rows, columns] = values.T
        return made.reshape(count * boxes, boxes + 1)

    def _absent(self) -> list[Share]:
        """The shares whose workers do not answer."""
        replies = self._workers.call("clock", [(share.holder, ()) for share in self._linked])
        return [share for share, reply in zip(self._linked, replies, strict=True) if reply.lost]

    def _replaced(self, absent: Sequence[Share]) -> bool:
        """Move these shares to other workers; False for none."""
        if absent:
            self._solver.move(absent, "the inner products after application", "and were sent their terms again")
        return bool(absent)

    def _connect(self, terms: Sequence[Sequence[DeviceVector]]) -> None:
        """Join all present shares in a tree, and send those that are new these terms."""
        while self._linked != self._solver.shares:
            shares = self._solver.shares
            new = [share for share in shares if share not in self._linked]
            lost = self._link(shares) or self._restore(new, terms)
            # What was sent to a share before another one was lost counts for nothing: it is sent again.
            self._linked = [share for share in self._linked if share in shares] if lost else list(shares)
            self._replaced(lost)

    def _link(self, shares: Sequence[Share]) -> list[Share]:
        """Give each share its place in the tree; returns those that are lost."""
        matrix = self._operator.to_csr()
        made = [part_of(matrix, self._pieces, share.boxes) for share in shares]
        parts = [part for part, *_ in made]
        edges = [
            {
                other: edge_of(around, self._pieces, share.boxes)
                for other, (_, around, _) in enumerate(made)
                if other != k
            }
            for k, share in enumerate(shares)
        ]
        self._fetched = self._dtype.itemsize * sum(edge.size for of_one in edges for edge in of_one.values())
        insides = [inside for *_, inside in made]
        covered = _covered(insides)
        self._covered, self._step_words = covered[0], sum(each.size for each in covered)
        places = [_place(k, shares, parts[k], edges[k], insides[k], covered) for k in range(len(shares))]
        calls: list[tuple[Holder, tuple[object, ...]]] = [
            (share.holder, (part, place)) for share, part, place in zip(shares, parts, places, strict=True)
        ]
        replies = self._workers.call("link", calls)
        lost = [share for share, reply in zip(shares, replies, strict=True) if reply.lost]
        if not lost:
            self._pairs = [
                (share.boxes.start + reply.value[:, 0], np.append(part.numbers, self._pieces.count)[reply.value[:, 1]])
                for share, part, reply in zip(shares, parts, replies, strict=True)
            ]
        return lost

    def _restore(self, new: Sequence[Share], terms: Sequence[Sequence[DeviceVector]]) -> list[Share]:
        """Send shares their terms; returns those that are lost."""
        vectors, r = [self._device.to_host(each[0]) for each in terms], self._device.to_host(self._r)
        calls = [(share.holder, ([vector[share.part] for vector in vectors], r[share.part])) for share in new]
        replies = self._workers.call("restore", calls)
        return [share for share, reply in zip(new, replies, strict=True) if reply.lost]


def _children(number: int, nodes: int) -> list[int]:
    """The children of a node of the tree."""
    return [k for k in (2 * number + 1, 2 * number + 2) if k < nodes]


def _covered(insides: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The unknowns of each node and of all below it, sorted. insides: of each node alone."""
    made = list(insides)
    for number in reversed(range(len(made))):
        for child in _children(number, len(made)):
            made[number] = np.union1d(made[number], made[child])
    return made


def _place(
    number: int,
    shares: Sequence[Share],
    part: Part,
    edges: dict[int, np.ndarray],
    inside: np.ndarray,
    covered: Sequence[np.ndarray],
) -> Place:
    """The place of a share in the tree. inside, covered: its unknowns, and those of each node as of `_covered`."""
    below = _children(number, len(shares))
    children = [shares[k].holder.peer for k in below]
    ends = np.cumsum([0, *map(len, part.near)])

    def among_near(boxes: range) -> slice:
        first, last = np.searchsorted(part.numbers, [boxes.start, boxes.stop])
        return slice(int(ends[first]), int(ends[last]))

    places = [among_near(share.boxes) for share in shares]
    neighbours = [
        Neighbour(share.holder.peer, place)
        for k, (share, place) in enumerate(zip(shares, places, strict=True))
        if k != number and place.start < place.stop
    ]
    asked = {other: edge for other, edge in edges.items() if edge.size}
    among = covered[number]
    return Place(
        number,
        children,
        neighbours,
        places[number],
        asked,
        shares[number].boxes,
        among.size,
        np.searchsorted(among, inside),
        [np.searchsorted(among, covered[k]) for k in below],
    )
