"""A race: runs side by side in one thread, a few iterations each in turn, so that no clock counts another's work."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable

from workbench.errors import InputError
from workbench.run.configuration import Configuration
from workbench.run.driver import Run
from workbench.run.result import Result
from workbench.run.session import State
from workbench.run.traffic import iteration_bytes

ENDED = (State.DONE, State.FAILED)
TURN_SECONDS = 0.03
"""Long enough for caches to count for little, short enough for eyes that watch all lanes at once."""
STOPPED_EARLY = "stopped before it began"


class Lane:
    """One run of a race. `run` is None until its setup is done, `error` is the sentence when it failed.

    iteration_bytes: what a plain iteration reads and writes, None before the setup and where it cannot be counted.
    """

    def __init__(self, number: int, configuration: Configuration) -> None:
        self.number = number
        self.configuration = configuration
        self.run: Run | None = None
        self.result: Result | None = None
        self.error = ""
        self.iteration_bytes: int | None = None
        self.held = False
        self.stopping = False
        self._state = State.IDLE

    @property
    def method(self) -> str:
        """The blocks, and the device where it is not the CPU."""
        device = self.configuration.device
        return self.configuration.label + (f" on {device}" if device != "cpu" else "")

    @property
    def label(self) -> str:
        """What legends say: the number in the race and the method."""
        return f"{self.number}: {self.method}"

    @property
    def state(self) -> State:
        held = self.held and self._state in (State.IDLE, State.RUNNING)
        return State.PAUSED if held else self._state

    @property
    def ended(self) -> bool:
        return self._state in ENDED

    @property
    def ready(self) -> bool:
        """There is something to do for it now."""
        return not self.ended and (self.stopping or not self.held)

    def turn(self) -> None:
        """Set the run up, make one iteration, or take the result; whatever goes wrong ends this lane alone."""
        try:
            self._advance()
        # The thread is the last place that can report, and the other lanes must go on.
        except Exception as error:
            self._fail(str(error) or type(error).__name__)

    def _advance(self) -> None:
        if self.run is None:
            if self.stopping:
                self._fail(STOPPED_EARLY)
                return
            self._state = State.SETUP
            run = Run(self.configuration)
            self.iteration_bytes = iteration_bytes(run.setting)
            self.run = run
            self._state = State.RUNNING
            return
        if self.stopping:
            self.run.cancel()
        elif self.run.step():
            return
        self.result = self.run.result()
        self._state = State.DONE

    def _fail(self, sentence: str) -> None:
        self.error = sentence
        self._state = State.FAILED


class Race:
    """Any number of runs, a few iterations of each in turn, in a thread that lives as long as a lane has not ended.

    Each lane's own clock is its run's `iteration_seconds` (in s), which counts its own iterations alone. A turn goes on
    for `turn_seconds`, at least one iteration; 0 makes it one (on an accelerator `check_every` of them). Short turns
    are the more even, but lanes share the caches: the first iterations of a turn fetch vectors that the other lanes
    pushed out. A lane's setup is a turn too, and the others wait for it, since work beside them would be on their
    clocks. All methods return at once but `wait`, and may be called while lanes run. Raises InputError for turn_seconds
    below 0.
    """

    def __init__(self, configurations: Iterable[Configuration] = (), *, turn_seconds: float = TURN_SECONDS) -> None:
        if not (math.isfinite(turn_seconds) and turn_seconds >= 0):
            raise InputError(f"turn_seconds must be a finite number of at least 0, got {turn_seconds}")
        self._turn_seconds = turn_seconds
        self._condition = threading.Condition()
        self._lanes: list[Lane] = []
        self._thread: threading.Thread | None = None
        self._started = False
        self._count = 0
        for configuration in configurations:
            self.add(configuration)

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """The lanes in the order in which they were added."""
        return tuple(self._lanes)

    @property
    def alive(self) -> bool:
        """It has been started, and a lane has not ended."""
        return self._thread is not None

    def add(self, configuration: Configuration) -> Lane:
        """One more lane; it begins at once where the race has been started."""
        with self._condition:
            self._count += 1
            lane = Lane(self._count, configuration)
            self._lanes = [*self._lanes, lane]
            self._wake()
        return lane

    def start(self) -> None:
        """Let all lanes begin."""
        with self._condition:
            self._started = True
            self._wake()

    def pause(self, *lanes: Lane) -> None:
        """Hold these lanes, or all; the iteration under way is finished."""
        self._tell(lanes, held=True)

    def resume(self, *lanes: Lane) -> None:
        """Let these lanes go on, or all."""
        self._tell(lanes, held=False)

    def stop(self, *lanes: Lane) -> None:
        """End these lanes, or all; what was computed stays. No further iteration of theirs begins."""
        self._tell(lanes, stopping=True)

    def remove(self, lane: Lane) -> None:
        """End a lane and take it out of the race. Raises InputError for one that is not in it."""
        with self._condition:
            self._check([lane])
            lane.stopping = True
            self._lanes = [other for other in self._lanes if other is not lane]
            self._wake()

    def wait(self, timeout: float | None = None) -> list[Result]:
        """Start, wait until every lane has ended, and return the results of those that did not fail, in order.

        Interrupting the wait stops the race. Raises TimeoutError when it takes longer than `timeout` seconds.
        """
        self.start()
        try:
            with self._condition:
                over = self._condition.wait_for(lambda: self._thread is None, timeout)
        except KeyboardInterrupt:
            self.stop()
            with self._condition:
                over = self._condition.wait_for(lambda: self._thread is None)
        if not over:
            raise TimeoutError(f"the race still goes on after {timeout} s; stop() ends it")
        return [lane.result for lane in self._lanes if lane.result is not None]

    def _tell(self, lanes: tuple[Lane, ...], **marks: bool) -> None:
        with self._condition:
            self._check(lanes)
            for lane in lanes or self._lanes:
                for name, value in marks.items():
                    setattr(lane, name, value)
            # A lane that is stopped before the race begins needs a thread too, which says so.
            self._started = self._started or "stopping" in marks
            self._wake()

    def _check(self, lanes: Iterable[Lane]) -> None:
        for lane in lanes:
            if lane not in self._lanes:
                raise InputError(f"lane {lane.label} is not in this race; add its configuration")

    def _wake(self) -> None:
        """Called with the lock held."""
        if self._started and self._thread is None and any(not lane.ended for lane in self._lanes):
            self._thread = threading.Thread(target=self._work, name="workbench-race", daemon=True)
            self._thread.start()
        self._condition.notify_all()

    def _work(self) -> None:
        while turns := self._next_turns():
            for lane in turns:
                until = time.monotonic() + self._turn_seconds
                # It may be held or removed at any time.
                while lane.ready and lane in self._lanes:
                    lane.turn()
                    if time.monotonic() >= until:
                        break

    def _next_turns(self) -> list[Lane]:
        """The lanes that can go on, waited for while all are held; none when all have ended."""
        with self._condition:
            while any(not lane.ended for lane in self._lanes):
                turns = [lane for lane in self._lanes if lane.ready]
                if turns:
                    return turns
                self._condition.wait()
            self._thread = None
            self._condition.notify_all()
            return []
