"""The teacher's view: exercises, the runs of all pages in one table and one plot, and a problem for all pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.errors import InputError, error_message
from workbench.extensions.classroom.page.class_exercises import ClassExercises
from workbench.extensions.classroom.page.classroom import Classroom
from workbench.live.runs.runs_page import RunsPage, open_bytes
from workbench.live.transport.worker import InOrder
from workbench.live.ui.controls import button, row
from workbench.live.ui.run_list import RunList
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import View

EMPTY = "No run yet. Runs of Solve, Race and Your method of all pages appear here at their end."


class ClassPage(View):
    """Display it. runs: of all pages, with the page as origin and the name of the student before that of the run.

    link: returns the share link of the present problem, or raises InputError. folder: as of `RunsPage`.
    """

    def __init__(self, room: Classroom, link: Callable[[], str], folder: str | Path | None = None) -> None:
        self.runs = RunList()
        self.page = RunsPage(self.runs, folder)
        self.page.table.table.empty = EMPTY
        self.status = StatusLine()
        tip = "problem and method, in place of those that the pages show"
        self.send = button("Send this problem to all open pages", tip, self._press, style="primary")
        self.exercises = ClassExercises(room)
        sent = row("wb-buttons", self.send, self.status)
        self.box = widgets.VBox([self.exercises.box, sent, self.page.box]).add_class("wb-classpage")
        self._room, self._link = room, link
        self._open = 0
        self._worker = InOrder("workbench-class-page")
        room.on("run", lambda message: self._worker.ask(lambda: self._take(message)))
        room.on("pages", self._count)
        room.tell("collect")

    def hide(self, hidden: bool) -> None:
        """Send nothing while another page is in front."""
        self.page.hide(hidden)

    def close(self) -> None:
        """Take everything off the page."""
        self._worker.close()
        self.exercises.close()
        self.page.close()
        super().close()

    def _press(self) -> None:
        try:
            if not self._open:
                raise InputError("no other page is open; send the problem when there is one")
            self._room.tell("problem", link=self._link())
            self.status.say(f"Sent to {self._pages()}.", "good")
        # Nothing else would report it to the user.
        except Exception as error:
            self.status.say(error_message(error, "sending"), "bad")

    def _count(self, message: Mapping[str, Any]) -> None:
        self._open = message["pages"]
        self.status.say(f"{self._pages()} of students open.")

    def _pages(self) -> str:
        return f"{self._open} {'page' if self._open == 1 else 'pages'}"

    def _take(self, message: Mapping[str, Any]) -> None:
        try:
            for run in open_bytes(self.runs, "a run of a page", bytes.fromhex(message["file"])):
                run.origin = message["where"]
                self.runs.rename(run, f"{message['who']}: {run.name}")
        # Nothing else would report it to the user.
        except Exception as error:
            said = error_message(error, "opening it")
            self.page.status.say(f"A run of {message['where']} is not shown: {said}", "bad")
