"""The inner products of multipreconditioned CG, computed by the workers that hold the terms.

Workers keep the terms of their boxes. Once in an iteration the root of a binary tree of them is asked for the sums, and
returns those of all (see `tree_node`): to this process that is one message each way, in place of all terms. Sent are

    here to the root                 a request, passed on along the tree
    a worker to its neighbours       its newest terms where A couples them with the neighbour's boxes: the overlap, and
                                     the unknowns next to it
    along the tree                   a number for each stored term and each box that A couples with its own

Line 10 is then arithmetic with small matrices, here. The step is summed here too, from the terms that the solves
returned; after the loss of a worker they are what its successor is sent.

Source: Chen 2022, section 2.2, which proposes the tree; Bridson and Greif 2006.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.devices.clock import WAITING
from workbench.devices.operator_protocols import DeviceVector, PieceVectors
from workbench.devices.protocol import Device
from workbench.domain_decomposition.cluster import ClusterSolver, Share, workers_in_words
from workbench.domain_decomposition.part_sums import Part, edge_of, part_of
from workbench.domain_decomposition.tree_node import Neighbour, Place, Rows, Unreached
from workbench.domain_decomposition.worker_lanes import TRANSFER, Exchange, Work
from workbench.errors import DeviceError
from workbench.operators import Operator

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
        self._linked: list[Share] = []
        self._pairs: list[tuple[np.ndarray, np.ndarray]] = []
        self._fetched = 0
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
        self._connect(terms)
        failures = 0
        while isinstance(found := self._asked(len(terms)), Unreached):
            if not self._replaced(self._absent()):
                failures += 1
            if failures == ATTEMPTS:
                raise DeviceError(
                    f"worker {found.address} of cluster {self._workers.cluster} does not answer the other workers, "
                    "which need its terms; choose sums=here"
                )
            self._connect(terms)
        return self._joined(found, len(terms))

    def traffic(self, iterations: int) -> int:
        """Bytes of the terms on all workers."""
        return iterations * self._r.nbytes

    def flops(self, iterations: int) -> int:
        return 4 * iterations * self._pieces.local_size

    def report(self) -> list[str]:
        """A sentence on who computes the sums, and what that sends."""
        if not self._linked:
            return []
        return [
            f"inner products: {workers_in_words(self._linked)} of cluster {self._workers.cluster} compute them, and "
            f"send one another {1e-3 * self._fetched:.4g} kB of terms in an iteration"
        ]

    def _asked(self, count: int) -> list[Rows] | Unreached:
        """The rows of all nodes for so many iterations."""
        addresses = [share.holder.address for share in self._linked]
        (reply,) = self._workers.call("rows", [(self._linked[0].holder, (count,))], through=addresses)
        if reply.lost:
            return Unreached(addresses[0])
        if not isinstance(reply.value, Unreached):
            self._note(reply.value, reply.sent, reply.received)
        return reply.value

    def _note(self, found: Sequence[Rows], sent: float, received: float) -> None:
        """Tell the trace what the nodes did; the root's reply is the one that came here."""
        exchanges = []
        for number, _, (begun, ready, computed, joined) in found:
            parts = [(TRANSFER, begun, ready), ("inner products", ready, computed), (WAITING, computed, joined)]
            replied = None if number else received
            exchanges.append(Exchange(self._linked[number].holder, sent, replied, [Work(*part) for part in parts]))
        self._workers.note(exchanges)

    def _joined(self, found: Sequence[Rows], count: int) -> np.ndarray:
        """One matrix of the rows of all nodes, for so many iterations."""
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
        parts = [part for part, _ in made]
        edges = [
            {other: edge_of(around, self._pieces, share.boxes) for other, (_, around) in enumerate(made) if other != k}
            for k, share in enumerate(shares)
        ]
        self._fetched = self._dtype.itemsize * sum(edge.size for of_one in edges for edge in of_one.values())
        places = [_place(k, shares, parts[k], edges[k]) for k in range(len(shares))]
        calls: list[Any] = [
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


def _place(number: int, shares: Sequence[Share], part: Part, edges: dict[int, np.ndarray]) -> Place:
    """The place of a share in the tree: the children of node k are 2 k + 1 and 2 k + 2."""
    children = [shares[k].holder.peer for k in (2 * number + 1, 2 * number + 2) if k < len(shares)]
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
    return Place(number, children, neighbours, places[number], asked)
