"""The search directions of multipreconditioned CG: A-orthonormal blocks that are never formed.

Each block is a combination of the terms of all iterations, Z_j = [M_1^-1 r_j | .. | M_k^-1 r_j]. Terms are zero outside
their pieces, the boxes of a Schwarz method, and are stored there alone; combinations are small matrices (see `basis`).
An iteration reads each old term twice, for inner products and for the step: N words and the overlaps each time, where
block vectors of k columns would take k^2 N multiply-adds for each old block.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import numpy as np

from workbench.devices.host.blas import on_one_thread
from workbench.devices.operator_protocols import DeviceVector, Dots, OperatorTraits
from workbench.devices.pieces import ROWS_AT_ONCE, Couplings, colours
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.solvers.multi.basis import Basis, Limits, Step, above_rounding
from workbench.solvers.multi.kept_terms import PARTS, KeptTerms
from workbench.solvers.multi.members import Member, Members

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceOperator
    from workbench.devices.programs.workspace import Workspace
    from workbench.devices.protocol import Device


class TermSource(Protocol):
    """Who applies the preconditioners."""

    def terms(self, r: DeviceVector, terms: Sequence[DeviceVector], /) -> None:
        """terms = M_1^-1 r, .., M_k^-1 r, the newest terms, a local vector for each member."""
        ...


class Products(TermSource, Protocol):
    """Who computes the inner products and the step of `Directions`, too."""

    def multiply(self, newest: Sequence[DeviceVector], r: DeviceVector) -> None:
        """A times the newest terms, those of r, for `columns`."""
        ...

    def columns(self, terms: Sequence[Sequence[DeviceVector]]) -> np.ndarray:
        """(z, A z') of all terms z with the newest ones z', and (z, r) in the last column, shape (m, count + 1).

        terms: of all iterations that are kept, the newest last.
        """
        ...

    def combine(self, terms: Sequence[Sequence[DeviceVector]], weights: np.ndarray, target: DeviceVector, /) -> None:
        """target = the sum of all terms times their weights, shape (iterations, k)."""
        ...

    def traffic(self, iterations: int) -> int:
        """Bytes of both, with the terms of that number of iterations; those of A are not counted."""
        ...

    def flops(self, iterations: int) -> int: ...


class InnerProducts:
    """A times terms that do not overlap is one product with A; its vectors and r make a panel, which one pass over the
    terms reads.

    several: the preconditioners. product: A on the device.
    """

    def __init__(self, several: Members, product: DeviceOperator, device: Device, dtype: np.dtype) -> None:
        self._several, self._product, self._device = several, product, device
        self.terms, self.combine = several.terms, several.combine
        members = several.members
        size = members[0].vectors.pieces.size
        pattern = _product_pattern(members, size, product.local)
        panel = colours(pattern)
        self._colours = [np.flatnonzero(panel == colour) for colour in range(panel.max() + 1)]
        self._panel = members[0].vectors.panel(len(self._colours) + 1)
        self._couplings = [Couplings(member.vectors.pieces, pattern, panel) for member in members]
        self._products = [
            member.vectors.products(found) for member, found in zip(members, self._couplings, strict=True)
        ]
        self._work = device.zeros(size, dtype)
        self._wide = np.result_type(dtype, np.float64)

    def multiply(self, newest: Sequence[DeviceVector], r: DeviceVector) -> None:
        """Fill the panel: A times the newest terms, those that do not overlap in one vector, and r behind them."""
        for colour, columns in enumerate(self._colours):
            weights = np.zeros((1, self._several.count))
            weights[:, columns] = 1
            self._several.combine([newest], weights, self._work)
            self._product.apply(self._work, self._panel[colour])
        self._device.assign(self._panel[-1], r)

    def columns(self, terms: Sequence[Sequence[DeviceVector]]) -> np.ndarray:
        """The columns of `Products.columns`; after `multiply`."""
        count = self._several.count
        found = np.zeros((len(terms) * count, count + 1), self._wide)
        for place, couplings in enumerate(self._couplings):
            rows = self._several.places[place].start + couplings.pairs[:, 0]
            for first in range(0, len(terms), ROWS_AT_ONCE):
                group = terms[first : first + ROWS_AT_ONCE]
                values = self._products[place]([each[place] for each in group], self._panel)
                for k in range(len(group)):
                    found[(first + k) * count + rows, couplings.pairs[:, 1]] = values[:, k]
        return found

    def traffic(self, iterations: int) -> int:
        """Bytes of both, with the terms of that number of iterations; those of A are not counted."""
        return iterations * self._several.local_bytes + (2 * len(self._colours) + 2) * self._work.nbytes

    def flops(self, iterations: int) -> int:
        return 4 * iterations * self._several.local_entries + len(self._colours) * self._product.flops


def _product_pattern(members: Sequence[Member], size: int, local: bool) -> sparse.csc_array:
    """The pattern of A times each term, an N x k matrix of ones where it may be nonzero. local: A couples neighbours
    alone."""
    parts = [
        sparse.csc_array(np.ones((size, member.vectors.pieces.count), np.int32))
        if member.product_pattern is None or not local
        else member.product_pattern
        for member in members
    ]
    joined = sparse.csc_array(sparse.hstack(parts, format="csc"))
    joined.data[:] = 1
    joined.sort_indices()
    return joined


MOST_COLUMNS = 4096
"""Columns of all terms; their Gram matrix then takes 134 MB."""
INDEFINITE = 1e-12
"""(z, r) of a term counts as negative below minus this times the largest of an iteration."""


Source = TypeVar("Source", bound=TermSource)


class Terms(OperatorTraits, Generic[Source]):
    """The sum of several preconditioners, which leaves its terms for the next block of directions."""

    waits = True

    def __init__(self, several: Members, products: Source, device: Device, dtype: np.dtype) -> None:
        self.several, self.products, self.dtype = several, products, np.dtype(dtype)
        self.traffic, self.flops = several.traffic, several.flops
        self._latest = several.zeros()
        self._dots = device.dots(dtype)
        self.seconds = 0.0
        """The wall-clock time of the preconditioners in the latest application."""

    def apply(self, r: DeviceVector, u: DeviceVector, /, *wanted: str) -> Dots:
        """u = M_1^-1 r + .. + M_k^-1 r, and dot products of r and u."""
        begun = time.perf_counter()
        self.products.terms(r, self._latest)
        self.seconds = time.perf_counter() - begun
        self.several.sum(self._latest, u)
        return self._dots.apply(r, u) if wanted else None

    def take(self) -> list[DeviceVector]:
        """The terms of the latest r, a local vector for each member; the next application makes others."""
        taken, self._latest = self._latest, self.several.zeros()
        return taken


class Directions(KeptTerms):
    """The step d of x as an operator on r: d = sum over all blocks of P_j (P_j^H r), after a block for r was added.

    source: the preconditioners, with their terms for the present r, and who computes inner products. room: bytes that
    terms may take, None for no bound; when they are used up, or there are `MOST_COLUMNS`, all blocks are dropped.
    workspace: its `notes` gain sentences on that and on what else was not as expected, its `steps` what each iteration
    did.

    Raises InputError where the memory does not hold the terms of one iteration.
    """

    letters = "Z has their newest terms, P the directions of all terms"

    def __init__(
        self, source: Terms[Products], device: Device, limits: Limits, room: int | None, workspace: Workspace
    ) -> None:
        super().__init__(source.several, device, source.dtype, workspace)
        self._source, self._products, self._limits = source, source.products, limits
        self._most = self._iterations_that_fit(room)
        self._restart()

    def _iterations_that_fit(self, room: int | None) -> int:
        """Iterations whose terms are kept at most. Raises InputError for none."""
        most = MOST_COLUMNS // self.count
        if room is not None:
            # The terms in the making take as much as those of an iteration.
            most = min(most, room // self._several.local_bytes - 1)
        if most < 1:
            raise InputError(
                f"the {self.count} search directions of one iteration do not fit the memory: they take "
                f"{2 * self._several.local_bytes / 1e6:.4g} MB, or more than {MOST_COLUMNS} columns; take fewer boxes, "
                "or a smaller overlap"
            )
        return most

    def _restart(self) -> None:
        """Drop all blocks."""
        self.terms = []
        self._basis = Basis(self.count, self._limits, self._source.dtype)

    def apply(self, r: DeviceVector, d: DeviceVector, /, *wanted: str) -> Dots:
        """d = the step for r, and dot products of r and d. The terms of r are those of `source`.

        Where A is not positive definite, d is a direction with (d, A d) < 0, which ends the run.
        """
        if self._limits.restart and len(self.terms) >= self._limits.restart:
            self._restart()
        if len(self.terms) >= self._most:
            self._restart()
            self._say(f"the directions of {self._most} iterations fit the memory; they are dropped after as many")
        self.terms.append(self._source.take())
        marks = [time.perf_counter()]
        self._products.multiply(self.terms[-1], r)
        marks.append(time.perf_counter())
        columns = self._products.columns(self.terms)
        marks.append(time.perf_counter())
        with on_one_thread():
            weights, step = self._next_step(columns)
        marks.append(time.perf_counter())
        if self._workspace.stepping:
            self._show(step)
        self._products.combine(self.terms, self._by_term(weights), d)
        marks.append(time.perf_counter())
        seconds = {PARTS[0]: self._source.seconds, **dict(zip(PARTS[1:], np.diff(marks).tolist(), strict=True))}
        self.steps.append(dataclasses.replace(step, seconds=seconds))
        return self._dots.apply(r, d) if wanted else None

    def _next_step(self, columns: np.ndarray) -> tuple[np.ndarray, Step]:
        """The weights of all terms in the step, after a block of the newest, and the record of it. columns: as
        `Products.columns` returns."""
        inner, newest = columns[:, -1], slice(-self.count, None)
        self._basis.grow(columns[:, :-1])
        self._check_signs(inner[newest])
        natural = float(np.real(inner[newest].sum()))
        if self._basis.add_block(natural):
            self._say("search directions that depend on others were dropped")
        if not self._basis.blocks[-1].size and self._basis.downward is None and len(self.terms) > 1:
            # To rounding, the terms before span those of r: what is left of r needs other directions.
            terms, columns, inner = self.terms[-1:], columns[newest], inner[newest]
            self._restart()
            self.terms = terms
            self._basis.grow(columns[:, :-1])
            self._basis.add_block(natural)
            self._say("all new directions depended on old ones, which were dropped")
        weights, step = self._basis.step(inner)
        return (weights if self._basis.downward is None else self._basis.downward), step

    @property
    def traffic(self) -> int:
        """Bytes of one application, with the terms kept now; those of A are not counted."""
        count = max(1, len(self.terms))
        return count * self._several.local_bytes + self._work.nbytes + self._products.traffic(count)

    @property
    def flops(self) -> int:
        count = max(1, len(self.terms))
        return 2 * count * self._several.local_entries + self._products.flops(count)

    def latest_block(self) -> np.ndarray:
        """The directions P of the latest iteration in host memory, shape (N, columns)."""
        return self._vectors(self._basis.blocks[-1])

    def _show(self, step: Step) -> None:
        """Show what the step is made of: the terms, their Gram matrix, and the directions of all blocks."""
        shown, gram = self._workspace.shown, self._basis.gram
        size = gram.shape[0]
        every = np.hstack([np.pad(block, ((0, size - block.shape[0]), (0, 0))) for block in self._basis.blocks])
        shown("Z = [M₁⁻¹ r, …, Mₖ⁻¹ r]", self._vectors(np.eye(size)[:, -self.count :]))
        shown("Z^T A Z = products of all terms", gram)
        shown("P = Z C, A-orthonormal", self.latest_block())
        shown("dropped = dependent directions", step.dropped)
        shown("P^T A P = C^T (Z^T A Z) C", every.conj().T @ gram @ every)

    def _check_signs(self, newest: np.ndarray) -> None:
        """Note preconditioners that are not positive definite. newest: (z, r) of the newest terms."""
        largest = np.abs(newest).max()
        below = -above_rounding(INDEFINITE, self._source.dtype) * largest
        for name, value in zip(self._several.names, newest, strict=True):
            if np.real(value) < below:
                self._say(f"preconditioner {name} is not positive definite: (r, M^-1 r) is negative")
