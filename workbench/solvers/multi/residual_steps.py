"""The steps of multipreconditioned GMRES: in each, x takes the best of all terms for the residual."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING

import numpy as np

from workbench.devices.host.blas import on_one_thread
from workbench.devices.operator_protocols import DeviceVector, Dots
from workbench.errors import InputError
from workbench.solvers.multi.arnoldi import FLAT, ArnoldiBasis, LeastSquares
from workbench.solvers.multi.basis import Step, above_rounding
from workbench.solvers.multi.directions import Terms
from workbench.solvers.multi.kept_terms import PARTS, KeptTerms
from workbench.solvers.multi.members import Members

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceOperator
    from workbench.devices.programs.workspace import Workspace
    from workbench.devices.protocol import Device

RESIDUAL, SUM, FULL = "residual", "sum", "full"
MOST_COLUMNS = 2048
"""Terms that are kept at most; the two factors of H then take 67 MB, and of complex numbers 134 MB."""


@dataclasses.dataclass(frozen=True)
class Growth:
    """space: the vectors that preconditioners are applied to after the first iteration, `residual` the present r,
    `sum` the sum of the newest vectors of V, `full` each of these. restart: iterations after which all is dropped, 0
    for those that fit."""

    space: str = RESIDUAL
    restart: int = 0

    def iterations(self, most: int, count: int) -> int:
        """Iterations for which `most` applications of all `count` preconditioners suffice."""
        if self.space != FULL:
            return most
        found, newest = 0, 1
        while newest <= most:
            found, most, newest = found + 1, most - newest, newest * count
        return found


class ResidualSteps(KeptTerms):
    """The step d of x as an operator on r: Z y with the least ||r - A Z y||, after terms for r were added to Z.

    source: the preconditioners, with their terms for the present r. product: A on the device. room: bytes that terms
    and the vectors of V may take, None for no bound; when they are used up, or there are `MOST_COLUMNS`, all are
    dropped.

    Raises InputError where they do not hold the vectors of one iteration, or of the `restart` ones of a full space.
    """

    letters = "Z has their newest terms, of r or of vectors of V; V has an orthonormal basis of r and A times all terms"

    def __init__(
        self,
        source: Terms[Members],
        product: DeviceOperator,
        device: Device,
        growth: Growth,
        room: int | None,
        workspace: Workspace,
    ) -> None:
        super().__init__(source.several, device, source.dtype, workspace)
        self._source, self._product, self._growth = source, product, growth
        self._most = self._groups_that_fit(room)
        self._basis = ArnoldiBasis(device, self._work.size, source.dtype)
        self._least = LeastSquares(source.dtype)
        self._done = self._newest = 0
        self._stagnant = False
        # A step that removes less of ||r||^2 leaves r as it is, and terms of r that depend on those before.
        self._least_gain = above_rounding(FLAT, source.dtype) ** 2
        self._inner = np.zeros(0)

    def _groups_that_fit(self, room: int | None) -> int:
        """Applications of all preconditioners whose vectors are kept at most. Raises InputError for too few."""
        most, growth, count = MOST_COLUMNS // self.count, self._growth, self.count
        group = self._several.local_bytes + count * self._work.nbytes
        if room is not None:
            most = min(most, room // group - 1)
        wanted, fits = max(1, growth.restart) if growth.space == FULL else 1, growth.iterations(most, count)
        if wanted > fits:
            way = f"take restart={fits} or less, or space=residual" if fits > 0 else "take fewer preconditioners"
            raise InputError(
                f"{wanted} iteration(s) of mpgmres with space={growth.space} keep more terms of {count} "
                f"preconditioners than the {max(0, most) * count} that fit, {group / 1e6:.4g} MB for {count} of them "
                f"with the basis; {way}"
            )
        return most

    def _restart(self, r: DeviceVector) -> None:
        """Drop all terms and vectors but r."""
        self.terms = []
        self._basis.begin(r)
        self._least = LeastSquares(self._source.dtype)
        self._done, self._newest = 0, 1

    def _sources(self) -> list[DeviceVector]:
        """The vectors whose terms are added, none where those of r are."""
        newest = self._basis.vectors[-self._newest :] if self._newest else []
        if self._done == 0 or (self._growth.space == RESIDUAL and not self._stagnant):
            return []
        if self._growth.space == FULL:
            return newest
        return [self._basis.sum(newest, np.full(len(newest), 1 / np.sqrt(len(newest))))]

    def _needs_restart(self) -> bool:
        """True if the iteration begins with r alone; a note says so where the method does not."""
        growth = self._growth
        if not self._done or (growth.restart and self._done >= growth.restart):
            return True
        spanned = not self._newest and (growth.space != RESIDUAL or self._stagnant)
        if spanned or not self._least.newest:
            self._say("all new directions depended on old ones, which were dropped")
            return True
        more = self._newest if growth.space == FULL else 1
        if len(self.terms) + more > self._most:
            self._say(f"the directions of {self._done} iterations fit the memory; they are dropped after as many")
            return True
        return False

    def apply(self, r: DeviceVector, d: DeviceVector, /, *wanted: str) -> Dots:
        """d = the step for r, and dot products of r and d. The terms of r are those of `source`."""
        if self._needs_restart():
            self._restart(r)
        seconds, before = dict.fromkeys(PARTS, 0.0), len(self._basis.vectors)
        sources, first = self._sources(), len(self.terms)
        for place in range(max(1, len(sources))):
            begun = time.perf_counter()
            if sources:
                self.terms.append(self._several.zeros())
                self._several.terms(sources[place], self.terms[-1])
                seconds[PARTS[0]] += time.perf_counter() - begun
            else:
                self.terms.append(self._source.take())
                seconds[PARTS[0]] += self._source.seconds
            self._add_group(seconds)
        self._done, self._newest = self._done + 1, len(self._basis.vectors) - before
        marks = [time.perf_counter()]
        self._inner = self._basis.inner(r)
        marks.append(time.perf_counter())
        with on_one_thread():
            y, gain = self._least.solve(self._inner)
        self._stagnant = gain < self._least_gain
        marks.append(time.perf_counter())
        for part, took in zip(PARTS[2:4], np.diff(marks).tolist(), strict=True):
            seconds[part] += took
        weights, begun = self._by_term(y), time.perf_counter()
        self._several.combine(self.terms, weights, d)
        seconds[PARTS[4]] = time.perf_counter() - begun
        dropped = self.count * (len(self.terms) - first) - self._newest
        if dropped:
            self._say("search directions that depend on others were dropped")
        self.steps.append(
            Step(self._newest, dropped, self._least.condition, weights[first:].sum(axis=0), seconds=seconds)
        )
        if self._workspace.stepping:
            self._show()
        return self._dots.apply(r, d) if wanted else None

    def _add_group(self, seconds: dict[str, float]) -> None:
        """Add the images of the newest terms to V, and their columns to H."""
        columns = []
        for weights in np.eye(self.count):
            marks = [time.perf_counter()]
            self._several.combine(self.terms[-1:], weights[np.newaxis], self._work)
            self._product.apply(self._work, self._basis.image)
            marks.append(time.perf_counter())
            columns.append(self._basis.add())
            marks.append(time.perf_counter())
            for part, took in zip(PARTS[1:3], np.diff(marks).tolist(), strict=True):
                seconds[part] += took
        begun, rows = time.perf_counter(), len(self._basis.vectors)
        with on_one_thread():
            self._least.grow(np.column_stack([np.pad(column, (0, rows - column.size)) for column in columns]))
        seconds[PARTS[3]] += time.perf_counter() - begun

    @property
    def traffic(self) -> int:
        """Bytes of an application with the vectors kept now and one new group; those of A are not counted."""
        basis, kept = len(self._basis.vectors), max(1, len(self.terms))
        return (4 * self.count + 1) * basis * self._work.nbytes + kept * self._several.local_bytes

    @property
    def flops(self) -> int:
        basis, kept = len(self._basis.vectors), max(1, len(self.terms))
        sums = (8 * self.count + 2) * basis * self._work.size
        return sums + 2 * kept * self._several.local_entries + self.count * self._product.flops

    def latest_block(self) -> np.ndarray:
        """The directions of the latest terms whose images are orthonormal to all before, in host memory, shape (N,
        columns)."""
        kept = self._least.weights.shape[1]
        return self._vectors(self._least.combinations(np.eye(kept)[:, kept - self._least.newest :]))

    def _show(self) -> None:
        """Show what the step is made of."""
        shown, to_host = self._workspace.shown, self._device.to_host
        shown("Z = [M₁⁻¹ v, …, Mₖ⁻¹ v]", self._vectors(np.eye(self.count * len(self.terms))[:, -self.count :]))
        shown("V = orthonormal, A Z = V H", np.stack([np.array(to_host(v)) for v in self._basis.vectors], axis=1))
        shown("g = V^T r", self._inner)
        shown("dropped = dependent directions", self.steps[-1].dropped)
