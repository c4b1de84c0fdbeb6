"""The buttons that run a race, and the line that says how far it has come."""

from __future__ import annotations

from collections.abc import Callable

from workbench.live.compare.race_text import finer
from workbench.live.kit.controls import button
from workbench.live.kit.form_fields import as_text
from workbench.live.kit.status import StatusLine
from workbench.run import Race, State

STARTS = {"Start": "let all lanes begin", "Start again": "run all lanes once more, from the start"}


class RacePlayer:
    """Start, Pause and Stop, each enabled while it has an effect, and `again`, a start to a finer tolerance.

    start, pause, stop: called by the buttons; Pause is also Resume. complaint: a sentence on a wrong value, shown
    before all else. notice: what has happened to the lanes since they were last started.
    """

    def __init__(self, start: Callable[[], None], pause: Callable[[], None], stop: Callable[[], None]) -> None:
        self.start = button("Start", STARTS["Start"], start, style="primary", width="92px")
        self.again = button("", "run all lanes from the start, to this tolerance", start, width="auto")
        self.pause = button("Pause", "hold all lanes; Resume lets them continue", pause)
        self.stop = button("Stop", "end all lanes; what was computed stays", stop, style="danger")
        self.status = StatusLine()
        self.complaint = self.notice = ""

    def show(self, race: Race, system: str, tolerance: float, stops_at: float) -> None:
        """Bring line and buttons up to date. system: label of the problem. stops_at: where the lanes stop."""
        # The line first: it is what answers a button.
        self.status.say(*self._words(race, system))
        over = race.begun and not race.alive
        self.start.disabled = race.alive or not race.entries
        self.start.description = "Start again" if over else "Start"
        self.start.tooltip = STARTS[self.start.description]
        self.again.description = f"Run again to {as_text(tolerance)}"
        self.again.layout.display = None if over and finer(tolerance, stops_at) else "none"
        self.pause.disabled = self.stop.disabled = not race.alive
        self.pause.description = "Resume" if race.held else "Pause"

    def _words(self, race: Race, system: str) -> tuple[str, str, str]:
        """The sentence, its tone and the state that it stands for."""
        lanes = race.entries
        state = race.state
        if self.complaint:
            return self.complaint, "bad", "running" if state in (State.QUEUED, State.RUNNING) else "idle"
        over = sum(lane.ended for lane in lanes)
        about = f"{system}, {len(lanes)} lane{'s' * (len(lanes) != 1)}"
        if state is State.QUEUED:
            return f"{about}: queued behind {race.ahead}", "busy", "queued"
        if state is State.RUNNING:
            return f"{about}: running, {over} ended", "busy", "running"
        if race.lingering:
            return f"{about}: stopped; what was under way ends in the background", "plain", "done"
        if state is State.DONE:
            return f"{about}: all have ended", "good", "done"
        if state is State.PAUSED:
            return f"{about}: held; press Resume", "plain", "paused"
        if self.notice:
            return f"{about} {self.notice}; press Start", "plain", "idle"
        return f"{about}: press Start" if lanes else f"{about}; choose blocks and press Add lane", "plain", "idle"
