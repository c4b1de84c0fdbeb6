"""Snapshots of the vectors of one run, active, at rest or loaded from a file, and the levels of its coarse solver."""

from __future__ import annotations

import dataclasses
import functools
import threading
from collections.abc import Callable

import numpy as np

from workbench.deflation.nested import NestedParts
from workbench.errors import InputError
from workbench.live.transport.rate_limit import RateLimit
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.run_handle import ACTIVE, RunHandle, RunSource
from workbench.problems import LinearSystem
from workbench.records import BlockHistory, Record
from workbench.run import Quantity, Result, Run, Session, State
from workbench.run.results.snapshots import Cut, Snapshot, of_result
from workbench.words.numbers import count as grouped
from workbench.words.numbers import extent

NO_SOLUTION = "no solution was kept of this run; run it again to see it"
NO_SYSTEM = "the loaded run does not hold its matrix, so only its solution can be drawn; run it again to see the others"


@dataclasses.dataclass(frozen=True, eq=False)
class Nesting:
    """labels: the subdomain of each cell, shape of the grid, else (N,). names: of the levels, finest first."""

    labels: np.ndarray
    nested: NestedParts
    names: tuple[str, ...]

    @classmethod
    def of(cls, labels: np.ndarray, nested: NestedParts) -> Nesting:
        """The levels over subdomains with these labels. Cost: some passes over the labels."""
        extents = [_unknowns(parts[labels]) for parts in nested.parts]
        if labels.ndim > 1:
            extents = [_box(widest, labels.shape) for widest in nested.widest(labels)]
        levels = enumerate(zip(nested.sizes, extents, strict=True))
        names = [f"level {level}: {grouped(count)} parts{extent}" for level, (count, extent) in levels]
        return cls(labels, nested, (*names[:-1], f"{names[-1]}, the coarsest"))

    def parts(self, level: int) -> np.ndarray:
        """The part of each subdomain on a level, or on the last for numbers beyond it."""
        return self.nested.parts[min(level, len(self.names) - 1)]

    def name(self, level: int) -> str:
        """The name of a level, or of the last for numbers beyond it."""
        return self.names[min(level, len(self.names) - 1)]


def _box(widest: tuple[int, ...], grid: tuple[int, ...]) -> str:
    """The extent of parts on a grid, as in: , boxes of 16 × 16 × 16 cells."""
    even = all(cells % side == 0 for cells, side in zip(grid, widest, strict=True))
    sides = " × ".join(map(str, reversed(widest)))
    return f", boxes of {'' if even else 'up to '}{sides} cells"


def _unknowns(labels: np.ndarray) -> str:
    """The extent of parts without a grid."""
    sizes = np.bincount(labels.ravel())
    return f" of {extent(int(sizes.min()), int(sizes.max()), grouped)} unknowns"


@dataclasses.dataclass(frozen=True, eq=False)
class Place:
    """The place of a run's unknowns. system: None where it is not known. labels: of the grid's shape, or (N,) without a
    grid; None where there are no subdomains."""

    unknowns: int
    system: LinearSystem | None = None
    grid: tuple[int, ...] | None = None
    labels: np.ndarray | None = None


class SnapshotSource:
    """Asks for snapshots and hands them out; `wake` is called when a worker has made one.

    No snapshot is asked for before `poll` is called, so a run that is not shown pays nothing. The thread of a live
    session takes its snapshots. Afterwards, and for a result or a loaded run, x is on the host, and all other
    quantities are computed from it on the cores.
    """

    def __init__(self, given: RunSource, wake: Callable[[], None]) -> None:
        self.watched = RunHandle(given)
        self.place: Place | None = None
        self._wake = wake
        self._worker = LatestOnly("workbench-look")
        self._look: Snapshot | None = None
        self._asked: object = None
        self._from_thread = self._put_off = False
        self._placing = False
        self._nested: Callable[[], NestedParts | None] | None = None
        self._nesting: Nesting | None = None

    @property
    def goes_on(self) -> bool:
        """True while there may be more to see later."""
        given = self.watched.source
        return given.reason is None if isinstance(given, Run) else not self.watched.over

    @property
    def waiting(self) -> bool:
        """True while a snapshot that was asked for is not there, or the next waits to be asked for until it is due."""
        return self._look is not None or self._put_off

    @property
    def unplaced(self) -> bool:
        """True while the place of the unknowns is not known, but may be known later."""
        return self.place is None and (self._placing or (self.goes_on and not self.watched.error))

    @functools.cached_property
    def title(self) -> str:
        """The problem."""
        try:
            return self.watched.described()[0].problem.label
        except InputError:
            return self.watched.title

    @functools.cached_property
    def knows_solution(self) -> bool:
        """True if the exact solution is known by construction."""
        try:
            return self.watched.described()[0].rhs == "ones-scaled"
        except InputError:
            return False

    @property
    def holds_film_only(self) -> bool:
        """True for a loaded run whose file has no solution, but a film, whose last frame is the end."""
        given = self.watched.source
        return isinstance(given, Record) and given.solution is None and given.film is not None

    @property
    def iterations(self) -> int:
        history = self.watched.history
        return max(0, history.count - 1) if history is not None else 0

    @property
    def columns(self) -> int:
        """The number of right-hand sides."""
        history = self.watched.history
        return history.size if isinstance(history, BlockHistory) else 1

    def title_of(self, look: Snapshot) -> str:
        """The problem, and the one of several right-hand sides that was drawn."""
        return self.title if self.columns == 1 else f"{self.title}, column {look.column + 1}"

    def where(self) -> Place | None:
        """The place of the unknowns; None until it is known, which for a loaded run takes assembling the problem."""
        if self.place is None and (run := self.watched.run) is not None and run.setup.x is not None:
            system, labels = run.setup.system, run.setup.labels
            size = system.operator.shape[0]
            self.place = Place(size, system, system.grid, _on_grid(labels, system.grid))
            levels = run.setup.projection.levels if run.setup.projection else None
            self._nested = (lambda: NestedParts.of(levels)) if levels is not None else None
        if self.place is None and isinstance(self.watched.source, (Result, Record)) and not self._placing:
            self._placing = True
            self._worker.ask(self._find_place)
        return self.place

    def poll(self, quantity: Quantity, cut: Cut, column: int, *, due: RateLimit) -> Snapshot | None:
        """The latest snapshot, once; None where there is no new one.

        Asks for the next look when there is something new to see, and one is due. column: of several right-hand sides,
        at most the last of them.
        """
        asked = quantity, cut, min(column, self.columns - 1)
        look, found = self._look, None
        if look is not None and (look.done or (self._from_thread and not self.goes_on)):
            self._look = None
            found = look if look.done and (look.quantity, look.cut, look.column) == asked else None
        goes_on = self.goes_on
        # A run that was stopped counts as ended before its x is there.
        source = self.watched.source
        has_result = isinstance(source, ACTIVE) and source.result is not None
        wanted = (self.iterations, goes_on, has_result, *asked)
        wants = self._look is None and wanted != self._asked
        self._put_off = wants and not due.take()
        if wants and not self._put_off:
            self._asked = wanted
            self._ask(*asked)
        return found

    def _ask(self, quantity: Quantity, cut: Cut, column: int) -> None:
        given, run = self.watched.source, self.watched.run
        alive = isinstance(given, Session) and given.alive
        # What an accelerator holds is touched by the thread that iterates alone, and that has gone, as ranks have.
        near = (
            run is not None
            and (run.configuration.device, run.configuration.ranks) == ("cpu", 1)
            and run.setup.x is not None
        )
        self._from_thread = alive
        if run is not None and (alive or isinstance(given, Run) or near):
            self._look = run.snapshots.request(quantity, cut, column)
            if not alive:
                run.serve_snapshots()
                # It is there already, and need not wait for the next tick.
                self._wake()
            return
        self._look = look = Snapshot(quantity, cut, column)
        self._worker.ask(lambda: self._rest(look))

    def _rest(self, look: Snapshot) -> None:
        """Make a snapshot of a run that has ended, from its x; runs in the worker."""
        look.take(self.iterations, lambda: self._at_rest(look.quantity, look.column))
        self._wake()

    def _at_rest(self, quantity: Quantity, column: int) -> tuple[np.ndarray | None, str]:
        x, system = self._x(), self.place.system if self.place else None
        if x is None:
            return None, NO_SOLUTION
        if system is None:
            return (x if x.ndim == 1 else x[:, column], "") if quantity is Quantity.SOLUTION else (None, NO_SYSTEM)
        return of_result(self.watched.described()[0], system, x, quantity, column)

    def _x(self) -> np.ndarray | None:
        given = self.watched.source
        if isinstance(given, Record):
            return given.solution
        if isinstance(given, ACTIVE):
            return given.result.x if given.result else None
        return given.x

    def _find_place(self) -> None:
        """Assemble the problem of a loaded run again; runs in the worker."""
        unknowns = self.watched.unknowns or 0
        try:
            configuration, _ = self.watched.described()
            system = configuration.problem.assemble(configuration.seed)
            grid = system.grid
            deflation = configuration.deflation
            labels, boxes = deflation.labels_and_boxes(unknowns, grid, system.phase)
            if labels is None:
                labels = deflation.labels_of(system.operator, grid, system.phase)
            self.place = Place(unknowns, system, grid, _on_grid(labels, grid))
            notes = self.watched.provenance.get("notes", ())
            self._nested = lambda: NestedParts.recorded(boxes, notes)
        # The vector can be drawn without its grid.
        except (InputError, MemoryError):
            self.place = Place(unknowns)
        self._wake()

    @property
    def nesting(self) -> Nesting | None:
        """The subdomains on the levels of the coarse solver; None where it has none, and at first, until they are made:
        many cells take a second."""
        if self._nested is not None and self.place is not None and self.place.labels is not None:
            labels, nested, self._nested = self.place.labels, self._nested, None
            threading.Thread(target=self._nest, args=(labels, nested), name="workbench-levels", daemon=True).start()
        return self._nesting

    def _nest(self, labels: np.ndarray, make: Callable[[], NestedParts | None]) -> None:
        nested = make()
        if nested is not None:
            self._nesting = Nesting.of(labels, nested)
            self._wake()


def _on_grid(labels: np.ndarray | None, grid: tuple[int, ...] | None) -> np.ndarray | None:
    return labels.reshape(grid) if labels is not None and grid else labels


def why_nothing(watched: RunHandle) -> str:
    """Why there is nothing to see yet, or at all, before the place of the unknowns is known."""
    given = watched.source
    if watched.error:
        return watched.error
    if isinstance(given, Session) and given.run is None:
        return "the run has not begun" if given.state is State.IDLE else f"the run is {watched.waiting}"
    return "the problem is being assembled again"
