"""The bar above the form: buttons of a run, its state in words, and its progress with an estimate of what is left."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import traitlets

from workbench.live.plots.curve import Curve
from workbench.live.ui.assets import script
from workbench.live.ui.status import StatusLine
from workbench.run import Reason, Session, State
from workbench.run.jobs.job import ENDED
from workbench.spectra.iterations_left import Estimate, iterations_left
from workbench.words.numbers import count, duration

Act = Callable[[], object]
RUN = "run what the form says; while another run is active it is queued"
EVERY = 1.9
"""Seconds between two estimates of an active run, just below those between two sentences."""


class Press(traitlets.HasTraits):
    """One button: whether it can be pressed, its words, and why."""

    disabled = traitlets.Bool(False)
    description = traitlets.Unicode()
    tooltip = traitlets.Unicode()

    def __init__(self, description: str, tooltip: str, act: Act) -> None:
        super().__init__(description=description, tooltip=tooltip)
        self._act = act

    def click(self) -> None:
        """Press it, as the page does."""
        self._act()


class RunBar(StatusLine):
    """Run, Stop, Pause or Resume, +1, Stop all, enabled as the run's state allows; one without an act is left out.

    `say` sets the sentence; a button next to it makes changes that correct it. progress: phases of the setup [name,
    seconds, done], iterations, those left by estimate, its basis, seconds spent and left, the position in the queue,
    and when the run ended; of work that is no run a word for it, the amounts done and left, in any unit. starting,
    about: words and tooltip of the first button. renew: calls `show` with the present state before a press is judged,
    since a change just before may have made it possible.
    """

    _script = script("solve/runbar.js")

    buttons = traitlets.Dict().tag(sync=True)
    progress = traitlets.Dict().tag(sync=True)
    wrong = traitlets.Bool(False).tag(sync=True)
    """Set while the sentence is about a field, to which the page then offers a link."""
    shown_elsewhere = traitlets.Bool(False).tag(sync=True)
    """Set while the view shows the sentence on an ended run elsewhere, so that here it is for screen readers alone."""

    def __init__(
        self,
        run: Act,
        pause: Act | None,
        step: Act | None,
        stop: Act,
        stop_all: Act | None,
        correct: Act | None = None,
        *,
        starting: str = "Run",
        about: str = "",
        renew: Act | None = None,
    ) -> None:
        super().__init__()
        self._about = about or RUN
        self._renew = renew or _nothing
        self.run = Press(starting, self._about, run)
        self.pause = Press("Pause", "pause the run and those in the queue; Resume continues them", pause or _nothing)
        self.step = Press("+1", "make one iteration and pause; also starts a run", step or _nothing)
        self.stop = Press("Stop", "end the run; what was computed stays", stop)
        self.stop_all = Press(
            "Stop all", "end the run, and take those that are queued out of the queue", stop_all or _nothing
        )
        self.correct = Press("", "make these changes in the form", correct or _nothing)
        acts = {"run": run, "stop": stop, "pause": pause, "step": step, "stop_all": stop_all, "correct": correct}
        self._presses = {name: getattr(self, name) for name, act in acts.items() if act is not None}
        self.on_msg(self._pressed)
        self.show(State.IDLE)

    def show(
        self, state: State, alive: int = 0, why_not: str = "", *, wrong: bool = False, correction: str = ""
    ) -> None:
        """Enable what the state of the present run allows, and the number of those that have not ended.

        why_not: why nothing can be started, which is then the tooltip of Run. wrong: because of a field. correction:
        the words of the button that corrects that; empty for none.
        """
        inactive = state in (State.IDLE, *ENDED)
        paused = state is State.PAUSED
        self.run.disabled = bool(why_not)
        self.run.tooltip = f"cannot run: {why_not}" if why_not else self._about
        self.pause.disabled = not (paused or state is State.RUNNING)
        self.pause.description = "Resume" if paused else "Pause"
        self.step.disabled = not (paused or (inactive and not why_not))
        self.stop.disabled = inactive
        self.stop_all.disabled = alive < 2
        self.correct.description, self.correct.disabled = correction, not correction
        self.wrong = wrong
        self.buttons = {
            name: {"off": press.disabled, "words": press.description, "tip": press.tooltip}
            for name, press in self._presses.items()
        }

    def _pressed(self, _widget: object, content: object, _buffers: object) -> None:
        press = self._presses.get(content.get("press", "")) if isinstance(content, dict) else None
        if press is None:
            return
        self._renew()
        if not press.disabled:
            press.click()


def _nothing() -> None:
    """Do nothing: the act of a button that is left out."""


class Progress:
    """The progress of one run, as the run bar shows it."""

    def __init__(self, session: Session, curve: Curve | None) -> None:
        self.session, self.curve = session, curve
        self._shown: dict[str, Any] = {}
        self._when = 0.0
        self._ended_at = ""
        self._over = False
        self.estimate: Estimate | None = None

    def read(self) -> dict[str, Any]:
        """The progress to show now; the same object while nothing changes."""
        state, now = self.session.state, time.monotonic()
        # A run that counts as ended may still make an iteration.
        over, self._over = self._over, self.session.over
        same = over == self._over and self._shown.get("state") == state.value
        same = same and self._shown.get("phase") == self.session.phases.present
        rests = state in ENDED or (state is State.PAUSED and self._shown.get("iterations") == self._iterations)
        if same and (rests or (state is not State.PAUSED and now - self._when < EVERY)):
            return self._shown
        self._when, self._shown = now, self._made(state)
        return self._shown

    @property
    def words(self) -> str:
        """The progress as a clause: iterations and those left; the basis of the estimate is always given."""
        shown = self._shown
        if not shown.get("iterations"):
            return ""
        done = f"iteration {count(shown['iterations'])}"
        if not (self.estimate and shown["left"]):
            return done
        whole, left = count(shown["iterations"] + shown["left"]), duration(shown["secondsLeft"])
        return f"{done} of about {whole}, {left} left (estimate from the {self.estimate.basis})"

    @property
    def _iterations(self) -> int:
        run = self.session.run
        return run.iterations if run else 0

    def _made(self, state: State) -> dict[str, Any]:
        session, run = self.session, self.session.run
        done = self._iterations
        if state is State.RUNNING and self.curve is not None and self.curve.history is not None:
            target = self.curve.tolerance * self.curve.norm_of_b
            self.estimate = iterations_left(self.curve.history, target)
        phases = session.phases.shown()
        ended = state in ENDED
        if ended and not self._ended_at:
            self._ended_at = time.strftime("%H:%M")
        spent = run.iteration_seconds if run else 0.0
        left = self.estimate.iterations if self.estimate and not ended else None
        return {
            "state": state.value,
            "phase": session.phases.present,
            "phases": phases,
            "iterations": done,
            "left": left,
            "spent": spent,
            "secondsLeft": self._seconds_left(done, spent) if left is not None else None,
            "endedAt": self._ended_at if ended else "",
            "when": self._ending(done, sum(seconds for _, seconds, _ in phases) + spent) if ended else "",
        }

    def _ending(self, iterations: int, seconds: float) -> str:
        """When it ended, and the time of setup and iterations together, which is that of the result."""
        if not iterations:
            return f"ended {self._ended_at}, without an iteration"
        result = self.session.result
        stopped = result is not None and result.reason is Reason.CANCELLED
        return f"{'stopped' if stopped else 'finished'} {self._ended_at}, {duration(seconds)}"

    def _seconds_left(self, done: int, spent: float) -> float | None:
        return self.estimate.iterations * spent / done if self.estimate and done else None
