"""One method on one problem, a line at a time: the line that runs, what it gives, and what that does to the vectors."""

from __future__ import annotations

import bisect
import threading
import time
from typing import Any

import numpy as np
import traitlets

from workbench.errors import InputError
from workbench.live.stepping.step_text import Listings, about, curve, pictures, removal, sentence, values
from workbench.live.transport.publisher import Publisher
from workbench.live.ui.assets import script
from workbench.live.ui.stream_view import StreamView
from workbench.run import Configuration, configure
from workbench.solvers import Solver
from workbench.stepping.line_by_line import Walk
from workbench.words.numbers import chosen

PERIOD = 0.5
"""Seconds between lines while it plays."""
ACTS = ("next_line", "next_iteration", "back", "previous_iteration", "toggle", "restart", "toggle_levels")
"""Acts that a button or a key may ask for, by the names of the methods."""


class StepView(StreamView):
    """Steps through a method's lines. Keys: Right and Left a line, Down and Up an iteration, space plays and pauses.

    method: a solver's name, a user-defined solver, or a whole configuration. problem and choices as in `configure`.
    iterations: how many to make at most; fewer where the tolerance is met or the method breaks down. On grids of up to
    64 x 64 cells the vectors are drawn. Where E is solved with on levels, `toggle_levels` shows what each removes from
    the error. Cost: the iterations, line by line in NumPy, and memory for all their vectors. Raises InputError for what
    cannot be stepped, see `line_by_line.Walk`.

    Examples:
        >>> from workbench.live import StepView
        >>> view = StepView("cg", "two-layer", n=8, iterations=3)
        >>> view.next_line()
        >>> view.iteration
        0
        >>> view.close()
    """

    _script = script("stepping/steps.js")

    program = traitlets.Dict().tag(sync=True)
    mathematics = traitlets.Bool(True).tag(sync=True)
    """Set while lines are written as mathematics, else as code has them."""
    pointed = traitlets.Unicode().tag(sync=True)
    """The name that lines and pictures mark, since a text next to them points at it; empty for none."""

    def __init__(
        self,
        method: str | Solver | Configuration = "cg",
        problem: str = "two-layer:24",
        iterations: int = 60,
        *,
        publisher: Publisher | None = None,
        mathematics: bool = True,
        **choices: Any,
    ) -> None:
        if isinstance(iterations, bool) or not 1 <= iterations <= 1000:
            raise InputError(f"iterations must be between 1 and 1000, got {iterations}")
        if not isinstance(method, Configuration):
            method = configure(problem, solver=method, **choices)
        self.walk = Walk(method)
        self.norms, self.ending = _made(self.walk, iterations)
        self._listings = Listings(self.walk)
        self._ends = np.cumsum([len(self.walk.lines(each)) for each in range(self.walk.iterations + 1)]).tolist()
        self.playing = self.shows_levels = False
        self._removal: tuple[np.ndarray, dict[str, Any] | None] = (np.empty(0), None)
        self._place = 0
        self._lock = threading.RLock()
        self._changed = threading.Event()
        self._due = 0.0
        super().__init__(publisher, program=about(self.walk, self._listings, self.ending), mathematics=mathematics)

    @property
    def iteration(self) -> int:
        """The iteration under way; 0 is the start."""
        return self.place[0]

    @property
    def place(self) -> tuple[int, int]:
        """The iteration under way, and how many of its lines have run."""
        return self._at(self._place)

    @property
    def values(self) -> dict[str, Any]:
        """Vectors, scalars and small matrices as they are now, by name; of one side of a schedule as in `cpu.r`."""
        return self.walk.after(*self.place)

    def next_line(self) -> None:
        """Run one more line."""
        self._go(self._place + 1)

    def back(self) -> None:
        """Take the last line back."""
        self._go(self._place - 1)

    def next_iteration(self) -> None:
        """Run to the end of the iteration, or from there to the end of the next."""
        iteration, _ = self.place
        self._go(self._end(iteration) if self._place < self._end(iteration) else self._end(iteration + 1))

    def previous_iteration(self) -> None:
        """Go back to the end of the iteration before; from the start to where nothing has run."""
        iteration, _ = self.place
        self._go(self._end(iteration - 1) if iteration else 0)

    def go(self, iteration: int, lines: int | None = None) -> None:
        """Show an iteration after its first lines, by default all. Raises InputError where there is none."""
        if not 0 <= iteration <= self.walk.iterations:
            raise InputError(f"iteration must be between 0 and {self.walk.iterations}, got {iteration}")
        most = len(self.walk.lines(iteration))
        if lines is not None and not 0 <= lines <= most:
            raise InputError(f"lines must be between 0 and {most}, got {lines}")
        self._go(self._end(iteration) - (0 if lines is None else most - lines))

    def restart(self) -> None:
        """Go back to where nothing has run."""
        self.playing = False
        self._go(0)

    def play(self) -> None:
        """Run a line every half second."""
        self.playing = self._place < self._end(self.walk.iterations)
        self._due = time.monotonic() + PERIOD
        self._touch()

    def pause(self) -> None:
        """Pause."""
        self.playing = False
        self._touch()

    def toggle(self) -> None:
        """Play, or pause."""
        if self.playing:
            self.pause()
        else:
            self.play()

    def toggle_levels(self) -> None:
        """Show or hide the part of the error that each level of the coarse solve removes; see `Walk.removal`."""
        self.shows_levels = self.walk.has_levels and not self.shows_levels
        self._touch()

    def publish(self) -> bool:
        if self.link.restart():
            self._changed.set()
        now = time.monotonic()
        if self.playing and self.link.free and now >= self._due:
            # A page that was away for a while is not overtaken by the lines that it missed.
            self._due = max(self._due + PERIOD, now)
            self.next_line()
        if self._changed.is_set() and self.link.free:
            self._changed.clear()
            self.link.send(*self._message())
        # An acknowledgement wakes the publisher again.
        return self.playing and self.link.free

    def _message(self) -> tuple[dict[str, Any], bytes]:
        with self._lock:
            iteration, lines = self.place
            drawn, pixels = pictures(self.walk, iteration, lines)
            last = self._place == self._end(self.walk.iterations)
            return {
                "iteration": iteration,
                "lines": lines,
                "place": self._place,
                "listing": self._listings.iterate(iteration),
                "last": last,
                "playing": self.playing,
                "values": values(self.walk, iteration, lines),
                "sentence": sentence(self.walk, iteration, lines, self.ending if last else ""),
                "curve": curve(self.walk, self.norms, iteration, lines),
                "pictures": drawn,
                "removal": self._removed(self.values["x"]) if self.shows_levels else None,
            }, pixels

    def _removed(self, x: np.ndarray) -> dict[str, Any] | None:
        """The parts of the error that are removed, kept while x stays: the lines of an iteration change it once."""
        if not np.array_equal(self._removal[0], x):
            self._removal = x, removal(self.walk, x)
        return self._removal[1]

    def _at(self, place: int) -> tuple[int, int]:
        """The iteration and its lines at a place; the last one behind the end."""
        place = min(place, self._ends[-1])
        iteration = bisect.bisect_left(self._ends, place)
        return iteration, place - (self._ends[iteration - 1] if iteration else 0)

    def _end(self, iteration: int) -> int:
        """The place at the end of an iteration, or of the last one."""
        return self._ends[min(iteration, self.walk.iterations)]

    def _go(self, place: int) -> None:
        with self._lock:
            last = self._end(self.walk.iterations)
            self._place = min(max(place, 0), last)
            self.playing = self.playing and self._place < last
        self._touch()

    def _touch(self) -> None:
        self._changed.set()
        self.publisher.wake()

    def _receive(self, _widget: object, content: object, _buffers: object) -> None:
        super()._receive(_widget, content, _buffers)
        if not isinstance(content, dict):
            return
        if content.get("act") in ACTS:
            getattr(self, content["act"])()
        elif isinstance(content.get("iteration"), int):
            self.go(min(max(content["iteration"], 0), self.walk.iterations))


def _made(walk: Walk, most: int) -> tuple[list[tuple[np.ndarray, np.ndarray]], str]:
    """Iterate up to `most` times; ||r_j|| and ||b_j - A x_j|| over ||b_j|| after each, shape (s,), and why there are no
    more."""
    scale = np.where(walk.scale > 0, walk.scale, 1)
    limit = walk.limits / scale
    norms: list[tuple[np.ndarray, np.ndarray]] = []
    while True:
        recurrence, true = (each / scale for each in walk.residuals(walk.iterations))
        norms.append((recurrence, true))
        if (recurrence <= limit).all():
            met = "verified by b − Ax" if (true <= 2 * limit).all() else "but that of b − Ax is not"
            which = "every residual" if walk.columns > 1 else "the residual"
            return norms, f"{which} is below the tolerance of {chosen(float(limit.max()))}, {met}"
        if walk.breakdown:
            return norms, f"the method has broken down: {walk.breakdown}"
        if walk.iterations == most:
            return norms, "as many as were asked for"
        walk.advance()
