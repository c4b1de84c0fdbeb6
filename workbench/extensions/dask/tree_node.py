"""The part of a worker in sums of terms: it keeps the terms of its boxes, and is a node of a tree.

In an iteration the root is asked for the sums. A node asks its children, fetches from its neighbours the entries of
their newest terms that A couples with its boxes, computes the rows of its own terms, and returns them with those of its
children. A term is on one worker alone, so the sums of two nodes have no row in common, and adding them is putting one
behind the other.

The step is a sum of all terms, each times a number. A node sums its own, and adds what its children return: vectors on
the unknowns of their boxes, which overlap.
"""

from __future__ import annotations

import abc
import asyncio
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.extensions.dask.part_sums import Part, PartSums
from workbench.extensions.dask.subdomain_holder import Solved, SubdomainHolder


class Peer(NamedTuple):
    """A node on another worker: the address of the worker, and the name of the node there."""

    address: str
    key: str


class Neighbour(NamedTuple):
    """A node whose newest terms are needed, and their place in the vector of all that meet the part."""

    peer: Peer
    place: slice


class Place(NamedTuple):
    """A node's place in the tree. number: of the node. children: at most two. neighbours: nodes to fetch from.
    own: where the node's own terms lie among those that meet its part. edges: by number of another node, which entries
    of the terms here it fetches. boxes: of the node. unknowns: of the boxes of the node and of all below it.
    inside: places of the node's own among these. below: of each child, the places of what it returns."""

    number: int
    children: Sequence[Peer]
    neighbours: Sequence[Neighbour]
    own: slice
    edges: dict[int, np.ndarray]
    boxes: range = range(0)
    unknowns: int = 0
    inside: np.ndarray | slice = slice(None)
    below: Sequence[np.ndarray] = ()


Marks = tuple[float, float, float, float]
"""A worker's clock when it began, had what it fetched, had computed, and had the sums of its children."""


class Rows(NamedTuple):
    """The sums of a node. number: of the node. values: shape (pairs, iterations), the pairs as `link` returned them."""

    number: int
    values: np.ndarray
    marks: Marks


class Sum(NamedTuple):
    """The sum of the terms of a node and of all below it, on their unknowns. marks: by number of the node."""

    values: np.ndarray
    marks: dict[int, Marks]


class Unreached(NamedTuple):
    """Takes the place of sums: the address of a worker that did not answer another."""

    address: str


class TreeNode(SubdomainHolder, abc.ABC):
    """The solvers of some boxes, and the inner products of their terms with those of all boxes."""

    def __init__(self) -> None:
        super().__init__()
        self._terms: list[np.ndarray] = []
        self._latest: np.ndarray | None = None
        self._r = np.zeros(0)
        self._place = Place(0, (), (), slice(0), {})
        self._near = np.zeros(0)
        self._sums: Any = None
        self._computing = asyncio.Lock()
        """A request may come again while the first one, of a tree that has lost a node, is still served."""

    def solve_and_keep(self, r: np.ndarray) -> Solved | Exception:
        """The solutions for r, which are the newest terms from now on."""
        solved = self.solve(r)
        if isinstance(solved, Solved):
            self._latest, self._r = solved.z, r
        return solved

    def link(self, part: Part, place: Place) -> np.ndarray | Exception:
        """Take a place in a tree. Returns the pairs of `PartSums`, shape (pairs, 2)."""
        try:
            self._sums, self._place = PartSums(part, self._dtype), place
            self._near = np.zeros(sum(map(len, part.near)), self._dtype)
        except Exception as error:
            return error
        return self._sums.pairs

    def restore(self, terms: Sequence[np.ndarray], r: np.ndarray) -> None:
        """Take over terms, the newest last, and the r that they are of; none for the start of a method."""
        # What arrives cannot be written to, and kernels are compiled for arrays that can.
        self._terms, self._latest, self._r = [np.array(term) for term in terms], None, r

    async def edge(self, number: int) -> np.ndarray:
        """The entries of the newest terms that another node needs."""
        newest = self._terms[-1] if self._latest is None else self._latest
        return newest[self._place.edges[number]]

    async def rows(self, count: int) -> list[Rows] | Unreached | Exception:
        """The sums of this node and of all below it, for the newest terms and those of count - 1 iterations before.

        Repeated, it returns the same.
        """
        begun = time.perf_counter()
        if self._latest is not None:
            self._terms.append(self._latest)
            self._latest = None
        del self._terms[:-count]
        place = self._place
        below = [asyncio.ensure_future(self._asked(child, "rows", count)) for child in place.children]
        fetched = await asyncio.gather(*(self._asked(found.peer, "edge", place.number) for found in place.neighbours))
        ready = time.perf_counter()
        found: Any = _failure(fetched)
        if found is None:
            async with self._computing:
                found = await asyncio.to_thread(self._own_rows, place, fetched)
        computed = time.perf_counter()
        joined = await asyncio.gather(*below)
        failed = _failure([found, *joined])
        if failed is not None:
            return failed
        mine = Rows(place.number, found, (begun, ready, computed, time.perf_counter()))
        return [mine, *(rows for child in joined for rows in child)]

    async def step(self, weights: np.ndarray) -> Sum | Unreached | Exception:
        """The sum of the terms of this node and of all below it times weights, shape (iterations, all boxes).

        Of the latest iterations, those of the last request for rows; repeated, it returns the same.
        """
        begun, place = time.perf_counter(), self._place
        below = [asyncio.ensure_future(self._asked(child, "step", weights)) for child in place.children]
        async with self._computing:
            found: Any = await asyncio.to_thread(self._own_sum, place, weights)
        computed = time.perf_counter()
        joined = await asyncio.gather(*below)
        failed = _failure([found, *joined])
        if failed is not None:
            return failed
        for places, child in zip(place.below, joined, strict=True):
            found[places] += child.values
        marks = {place.number: (begun, begun, computed, time.perf_counter())}
        return Sum(found, marks | {number: each for child in joined for number, each in child.marks.items()})

    def _own_sum(self, place: Place, weights: np.ndarray) -> np.ndarray | Exception:
        """The sum of this node's terms, among the unknowns of all that are below it."""
        try:
            made = np.zeros(place.unknowns, self._dtype)
            own = np.ascontiguousarray(weights[:, place.boxes.start : place.boxes.stop])
            made[place.inside] = self._sums.combined(self._terms[-len(weights) :], own)
            return made
        except Exception as error:
            return error

    def _own_rows(self, place: Place, fetched: Sequence[np.ndarray]) -> np.ndarray | Exception:
        """The sums of this node, from what its neighbours sent."""
        try:
            for neighbour, values in zip(place.neighbours, fetched, strict=True):
                self._near[neighbour.place] = values
            self._near[place.own] = self._terms[-1]
            return self._sums(self._terms, self._near, self._r)
        except Exception as error:
            return error

    async def _asked(self, peer: Peer, method: str, *arguments: object) -> Any:
        """The result of a method of another node; `Unreached` where it does not answer."""
        try:
            return await self.ask(peer, method, *arguments)
        # Whatever is raised here is the loss of the worker: methods return their own errors.
        except Exception:
            return Unreached(peer.address)

    @abc.abstractmethod
    async def ask(self, peer: Peer, method: str, *arguments: object) -> Any:
        """Call a method of another node. Raises errors of many types where that is lost."""


def _failure(results: Sequence[object]) -> Unreached | Exception | None:
    """The first that is no result."""
    return next((found for found in results if isinstance(found, (Unreached, Exception))), None)
