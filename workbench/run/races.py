"""A race: runs side by side in one thread, a few iterations each in turn, so that no clock counts another's work."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable

from workbench.errors import InputError, sentence_of
from workbench.run.cancellation import STOPPED_EARLY, STOPPED_IN_SETUP, CancelToken, StoppedError
from workbench.run.configuration import Configuration
from workbench.run.driver import Run
from workbench.run.result import Result
from workbench.run.run_queue import MACHINE, QueueSlot, RunQueue
from workbench.run.session import ENDED, State
from workbench.run.traffic import iteration_bytes

SLICE_SECONDS = 0.03
"""Long enough for caches to count for little, short enough for eyes that watch all lanes at once."""


class Lane:
    """One run of a race. `run` is None until its setup is done, `error` is the sentence when it failed.

    A lane that is stopped has ended within a fifth of a second; what cannot be interrupted, an iteration or a setup,
    ends in the background, as that of a session does.

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
        self._wish = CancelToken()
        self._changing = threading.Lock()
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
        if self._wish.overdue and not self.over:
            return State.DONE if self.run else State.FAILED
        held = self.held and self._state in (State.IDLE, State.RUNNING)
        return State.PAUSED if held else self._state

    @property
    def ended(self) -> bool:
        return self.state in ENDED

    @property
    def over(self) -> bool:
        """It has ended, and nothing of it goes on in the background."""
        return self._state in ENDED

    @property
    def stopping(self) -> bool:
        """Somebody wishes that it ends."""
        return self._wish.made

    @property
    def steady(self) -> bool:
        """It goes on until it has converged or somebody wishes something."""
        return self.state is State.RUNNING and not self.stopping

    @property
    def begun(self) -> bool:
        """Its setup has begun, or it was stopped before."""
        return self._state is not State.IDLE or self.stopping

    @property
    def ready(self) -> bool:
        """There is something to do for it now."""
        return not self.over and (self.stopping or not self.held)

    def stop(self) -> None:
        """Wish that it ends."""
        with self._changing:
            self._wish.make()
            if self.run is None and not self.over:
                self.error = STOPPED_IN_SETUP if self._state is State.SETUP else STOPPED_EARLY

    def turn(self) -> None:
        """Set the run up, make one iteration, or take the result; whatever goes wrong ends this lane alone."""
        try:
            self._advance()
        except StoppedError:
            self._state = State.FAILED
        # The thread is the last place that can report, and the other lanes must go on. What a function of the user's
        # raises may be no Exception.
        except BaseException as error:
            self.error = self.error or sentence_of(error)
            self._state = State.FAILED

    def _advance(self) -> None:
        if self.run is None:
            self._enter(State.SETUP)
            run = Run(self.configuration, stopped=lambda: self.stopping)
            self.iteration_bytes = iteration_bytes(run.setting)
            self._enter(State.RUNNING, run)
            return
        if self.stopping:
            self.run.cancel()
        elif self.run.step():
            return
        self.result = self.run.result()
        self._state = State.DONE

    def _enter(self, state: State, run: Run | None = None) -> None:
        """The next state, unless somebody has wished for the end: then `stop` has said already what was stopped."""
        with self._changing:
            if self.stopping:
                raise StoppedError
            self.run, self._state = run, state


class Race:
    """Any number of runs, a few iterations of each in turn, in a thread that lives as long as a lane has not ended.

    Each lane's own clock is its run's `iteration_seconds` (in s), which counts its own iterations alone. A turn goes on
    for `turn_seconds`, at least one iteration; 0 makes it one (on an accelerator those until the next look). Short
    turns are the more even, but lanes share the caches: the first iterations of a turn fetch vectors that the other
    lanes pushed out. A lane's setup is a turn too, and the others wait for it, since concurrent work would be on their
    clocks. All methods return at once but `wait`, and may be called while lanes run. Raises InputError for turn_seconds
    below 0.

    Among the sessions and races of a process a race takes one turn as a whole, which it gives back while all lanes are
    held. turn: their queue, None to run beside all others.
    """

    def __init__(
        self,
        configurations: Iterable[Configuration] = (),
        *,
        turn_seconds: float = SLICE_SECONDS,
        turn: RunQueue | None = MACHINE,
    ) -> None:
        if not (math.isfinite(turn_seconds) and turn_seconds >= 0):
            raise InputError(f"turn_seconds must be a finite number of at least 0, got {turn_seconds}")
        self._turn_seconds = turn_seconds
        self._turn = QueueSlot(turn if turn is not None else RunQueue())
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
        return self._thread is not None and not all(lane.ended for lane in self._lanes)

    @property
    def begun(self) -> bool:
        """It has been started, or a lane has been stopped; to hold a lane is no start."""
        return self.alive or any(lane.begun for lane in self._lanes)

    @property
    def held(self) -> bool:
        """A lane has not ended, and all of those are held."""
        left = [lane for lane in self._lanes if not lane.ended]
        return bool(left) and all(lane.held for lane in left)

    @property
    def lingering(self) -> bool:
        """All lanes have ended, but what was under way when they were stopped still runs in the background."""
        return self._thread is not None and not self.alive

    @property
    def ahead(self) -> int:
        """How many sessions and races have or get the machine before this one; 0 when it has it or asks for none."""
        return self._turn.ahead

    def add(self, configuration: Configuration, number: int | None = None) -> Lane:
        """One more lane; it begins at once where the race has been started. number: by default the next one."""
        with self._condition:
            number = self._count + 1 if number is None else number
            self._count = max(self._count, number)
            lane = Lane(number, configuration)
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
        self._tell(lanes, lambda lane: setattr(lane, "held", True))

    def resume(self, *lanes: Lane) -> None:
        """Let these lanes go on, or all."""
        self._tell(lanes, lambda lane: setattr(lane, "held", False))

    def stop(self, *lanes: Lane) -> None:
        """End these lanes, or all; what was computed stays. No further iteration of theirs begins."""
        with self._condition:
            self._tell(lanes, Lane.stop)
            # A lane that is stopped before the race begins needs a thread too, which says so.
            self._started = True
            self._wake()

    def remove(self, lane: Lane) -> None:
        """End a lane and take it out of the race. Raises InputError for one that is not in it."""
        with self._condition:
            self._check([lane])
            lane.stop()
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

    def _tell(self, lanes: tuple[Lane, ...], what: Callable[[Lane], object]) -> None:
        with self._condition:
            self._check(lanes)
            for lane in lanes or self._lanes:
                what(lane)
            self._wake()

    def _check(self, lanes: Iterable[Lane]) -> None:
        for lane in lanes:
            if lane not in self._lanes:
                raise InputError(f"lane {lane.label} is not in this race; add its configuration")

    def _wake(self) -> None:
        """Called with the lock held."""
        if self._started and self._thread is None and any(not lane.over for lane in self._lanes):
            # Here and not in the thread: who is started first comes first.
            self._turn.ask()
            self._thread = threading.Thread(target=self._work, name="workbench-race", daemon=True)
            self._thread.start()
        self._condition.notify_all()
        self._turn.poke()

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
        while ready := self._ready():
            # Ending takes no more than a product with A; nobody waits for a turn for that.
            if ending := [lane for lane in ready if lane.stopping]:
                return ending
            if self._turn.held or self._turn.take(unless=self._changed):
                return ready
        return []

    def _changed(self) -> bool:
        """Something else is to be done than to wait for the turn."""
        ready = [lane for lane in self._lanes if lane.ready]
        return not ready or any(lane.stopping for lane in ready)

    def _ready(self) -> list[Lane]:
        with self._condition:
            while any(not lane.over for lane in self._lanes):
                if ready := [lane for lane in self._lanes if lane.ready]:
                    return ready
                self._turn.give_back()
                self._condition.wait()
            self._thread = None
            self._turn.give_back()
            self._condition.notify_all()
            return []
