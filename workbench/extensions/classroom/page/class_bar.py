"""The bar of a served page in a class: limits, the teacher's problem, and a note that the teacher sees the runs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from typing import Any

import traitlets

from workbench.errors import MOST_UNKNOWNS, RUN_SECONDS, error_message
from workbench.extensions.classroom.page.classroom import Classroom
from workbench.live.app.keeper import packed
from workbench.live.transport.worker import InOrder
from workbench.live.ui.assets import script
from workbench.live.ui.run_list import OWN, RACE, SOLVE, ListedRun, RunList
from workbench.live.ui.view import LiveWidget
from workbench.process import limits
from workbench.run import Configuration
from workbench.run.choices.share_link import from_link
from workbench.words.numbers import THIN, chosen, count, counted

RUN_BYTES = 2 << 20
"""Bytes of the file of a run that is sent to the teacher, at most."""
COLLECTED = (SOLVE, RACE, OWN)
"""Origins of the runs that are sent to the teacher: single runs, not those of a sweep."""
SENT = "The teacher has sent this problem."
SEEN = "Your teacher sees which exercises you open and solve, and after how many tries, and not your answers."


class ClassBar(LiveWidget):
    """A line above all views; empty where there is neither a teacher nor a limit.

    room: the connection to the server. runs: of the page; each that has been made here is sent when it has ended. get,
    load: the configuration of the page; both are called in a thread of the bar's own.
    """

    _script = script("classroom/classbar.js")
    words = traitlets.Unicode().tag(sync=True)
    asks = traitlets.Bool(False).tag(sync=True)
    """Set on a student's page, which then asks for a name."""
    said = traitlets.Unicode().tag(sync=True)
    can_return = traitlets.Bool(False).tag(sync=True)
    """Set while the problem before the teacher's can be restored."""

    def __init__(
        self,
        room: Classroom,
        runs: RunList,
        get: Callable[[], Configuration],
        load: Callable[[Configuration], object],
    ) -> None:
        student = room.facts["collects"] and not room.facts["teacher"]
        super().__init__(words=in_words(room.facts), asks=student)
        self._room, self._runs, self._get, self._load = room, runs, get, load
        self._own: Configuration | None = None
        self._seen: set[int] = set()
        """Numbers of runs seen before their end; runs that are opened, or come back from the browser, are not among
        them."""
        self._worker = InOrder("workbench-class-bar")
        self.on_msg(self._receive)
        room.on("refused", self._refuse)
        room.on("problem", lambda message: self._worker.ask(lambda: self._show(message["link"])))
        if room.facts["collects"]:
            runs.on_change(self._changed)

    def wait(self, timeout: float) -> bool:
        """Wait until all is shown and sent; False when that takes longer."""
        return self._worker.wait(timeout)

    def close(self) -> None:
        """Send and show nothing more."""
        self._runs.forget(self._changed)
        self._worker.close()
        super().close()

    def _receive(self, _widget: object, content: Any, _buffers: object) -> None:
        kind = content.get("kind") if isinstance(content, dict) else None
        if kind == "name":
            self._worker.ask(lambda: tell_name(self._room, content))
        elif kind == "return":
            self._worker.ask(self._return)

    def _refuse(self, message: Mapping[str, Any]) -> None:
        self.said = message["sentence"]

    def _show(self, link: str) -> None:
        try:
            sent = from_link(link)
            try:
                self._own = self._get()
            # A wrong value in the form is no reason to show nothing.
            except ValueError:
                self._own = None
            self._load(sent)
        # Nothing else would report it to the user.
        except Exception as error:
            self.said = f"The problem that the teacher has sent cannot be opened: {error_message(error)}"
            return
        with self.hold_sync():
            self.said, self.can_return = SENT, self._own is not None

    def _return(self) -> None:
        if self._own is not None:
            self._load(self._own)
        with self.hold_sync():
            self.said, self.can_return = "", False

    def _changed(self) -> None:
        # Here and not in the thread: a run may have ended by then.
        self._seen |= {run.number for run in self._runs.runs if run.active and run.origin in COLLECTED}
        self._worker.ask(self._send_ended, "send")

    def _send_ended(self) -> None:
        for run in self._runs.runs:
            if run.number in self._seen and not run.active:
                self._seen.discard(run.number)
                if run.record is not None:
                    self._hand_in(run)

    def _hand_in(self, run: ListedRun) -> None:
        file = packed(run)
        if len(file) > RUN_BYTES:
            self.said = f"Run {run.number} has more than {RUN_BYTES >> 20} MB and is not shown to the teacher."
            return
        self._room.tell("run", file=file.hex())


class LessonBar(LiveWidget):
    """The line above a lesson of a class: what the teacher sees, a field for a name, and what the server refuses."""

    _script = script("classroom/classbar.js")
    words = traitlets.Unicode().tag(sync=True)
    asks = traitlets.Bool(True).tag(sync=True)
    said = traitlets.Unicode().tag(sync=True)
    can_return = traitlets.Bool(False).tag(sync=True)

    def __init__(self, room: Classroom) -> None:
        super().__init__(words=SEEN)
        self._room = room
        self.add_class("wb")
        self.on_msg(self._receive)
        room.on("refused", self._refuse)

    def _receive(self, _widget: object, content: object, _buffers: object) -> None:
        if isinstance(content, dict) and content.get("kind") == "name":
            tell_name(self._room, content)

    def _refuse(self, message: Mapping[str, Any]) -> None:
        self.said = message["sentence"]


def tell_name(room: Classroom, content: Mapping[str, object]) -> None:
    """Send the name that a student has chosen, and the key of the browser; a server that has ended gets none."""
    with contextlib.suppress(OSError):
        room.tell("name", name=str(content.get("name", "")), student=str(content.get("student", "")))


def in_words(facts: dict[str, Any]) -> str:
    """The sentence of a page when it is opened: its number in a class, and its limits. Empty without either."""
    seconds, unknowns = (read(os.environ.get(name, "")) for read, name in LIMITS)
    at_once = facts["runs_at_once"]
    bounds = [
        f"{counted(at_once, 'run')} at once on all pages" if at_once else "",
        f"{chosen(seconds)}{THIN}s a run" if seconds < float("inf") else "",
        f"{count(int(unknowns))} unknowns" if unknowns < float("inf") else "",
    ]
    limit = f"Limits: {', '.join(filter(None, bounds))}." if any(bounds) else ""
    if not facts["collects"] or facts["teacher"]:
        return limit
    return f"Page {facts['page']} of a class. The teacher sees runs that have ended. {limit}".strip()


LIMITS = ((limits.page_seconds, RUN_SECONDS), (limits.page_unknowns, MOST_UNKNOWNS))
