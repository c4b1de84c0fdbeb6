"""The teacher's view: exercises, the runs of all pages in one table and one plot, and a problem for all pages."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import ipywidgets as widgets
import traitlets

from workbench.errors import InputError, error_message
from workbench.extensions.classroom.page.classroom import Classroom
from workbench.live.runs.runs_page import RunsPage, open_bytes
from workbench.live.transport.worker import InOrder, LatestOnly
from workbench.live.ui.assets import script
from workbench.live.ui.controls import button, menu, row
from workbench.live.ui.download import Download
from workbench.live.ui.files import File
from workbench.live.ui.run_list import RunList
from workbench.live.ui.share_bar import HERE, LONGEST_PAGE, ONLY_HERE
from workbench.live.ui.sort_table import SortTable
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import LiveWidget, View
from workbench.words.numbers import counted

EMPTY = "No run yet. Runs of Solve, Race and Your method of all pages appear here at their end."
NO_STUDENT = "No student yet. A student appears here when a page of this class is open."
REMOVE = {"name": "remove", "title": "Remove", "tip": "erase this student, whose page is not counted any more"}
FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""First characters by which a spreadsheet takes a text for a formula."""
Done = Mapping[str, Mapping[str, Sequence[int]]]
"""Tries, and 1 for a right answer, by lesson and number."""


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
        return counted(self._open, "page")

    def _take(self, message: Mapping[str, Any]) -> None:
        try:
            for run in open_bytes(self.runs, "a run of a page", bytes.fromhex(message["file"])):
                run.origin = message["where"]
                self.runs.rename(run, f"{message['who']}: {run.name}")
        # Nothing else would report it to the user.
        except Exception as error:
            said = error_message(error, "opening it")
            self.page.status.say(f"A run of {message['where']} is not shown: {said}", "bad")


class ClassCounts(LiveWidget):
    """How many students have each exercise, next to the QR code of the lesson, which a button shows large.

    lines: for each exercise its words, and the share of students who have solved it.
    """

    _script = script("classroom/classcounts.js")
    title = traitlets.Unicode().tag(sync=True)
    lines = traitlets.List().tag(sync=True)
    address = traitlets.Unicode().tag(sync=True)
    svg = traitlets.Unicode().tag(sync=True)
    note = traitlets.Unicode().tag(sync=True)

    def __init__(self, room: Classroom) -> None:
        super().__init__()
        self._room = room
        self._page = self._path = ""
        self.on_msg(self._receive)

    def lead_to(self, lesson: str) -> None:
        """Show the address of a lesson, and its code."""
        self._path = f"lesson/{lesson}"
        self._show()

    def _receive(self, _widget: object, content: object, _buffers: object) -> None:
        page = str(content.get("page")) if isinstance(content, dict) else ""
        if re.fullmatch(r"https?://[!-~]+/", page) and len(page) <= LONGEST_PAGE:
            self._page = page
            self._show()

    def _show(self) -> None:
        if not self._page or not self._path:
            return
        here = urlsplit(self._page).hostname in HERE
        base = str(self._room.facts["address"]) or self._page if here else self._page
        # No other view of the teacher's needs it before.
        import segno

        address = f"{base}{self._path}"
        with self.hold_sync():
            self.address, self.note = address, ONLY_HERE if here and base == self._page else ""
            self.svg = segno.make_qr(address, error="m").svg_inline(dark="#000", light="#fff", border=4, omitsize=True)


class ClassExercises(View):
    """Display it. The list comes from the server when the teacher's page collects."""

    def __init__(self, room: Classroom) -> None:
        self._room = room
        self._students: list[Mapping[str, Any]] = []
        self._lessons: dict[str, tuple[str, int]] = {}
        """Titles and numbers of exercises, by name; 0 for a number that is not known."""
        self._opened: set[str] = set()
        self.counts = ClassCounts(room)
        self.lesson = menu("Lesson", [])
        self.table = SortTable(self._act, empty=NO_STUDENT, verbs=[REMOVE], filtered="names")
        self.solutions = row("wb-buttons wb-solutions")
        self.status = StatusLine()
        self.download = Download()
        self.save = button("Save as CSV", "all lessons of all students, for a spreadsheet", self._save)
        self.erase = button("Erase the list", "all students, on this server and in its file", self._erase)
        self._sure = False
        self.box = widgets.VBox(
            [
                row("wb-buttons", self.lesson, self.save, self.erase, self.status),
                self.counts,
                self.solutions,
                self.table,
                self.download,
            ]
        ).add_class("wb-classexercises")
        self._worker = LatestOnly("workbench-class-exercises")
        self.lesson.observe(lambda _change: self._show(), "value")
        room.on("students", lambda message: self._worker.ask(lambda: self._take(message)))

    def wait(self, timeout: float) -> bool:
        """Wait until what has come is shown; False when that takes longer."""
        return self._worker.wait(timeout)

    def close(self) -> None:
        """Take everything off the page."""
        self._worker.close()
        super().close()

    def text(self) -> str:
        """The whole list as CSV: a row for each student, and for each exercise its tries, and 1 if it is solved."""
        columns = [
            (lesson, number)
            for lesson in self._lessons
            for number in range(1, self._most(lesson) + 1)
            if any(lesson in student["done"] for student in self._students)
        ]
        written = io.StringIO()
        writer = csv.writer(written)
        heads = [f"{lesson} {number} {what}" for lesson, number in columns for what in ("tries", "solved")]
        writer.writerow(["student", *heads])
        for student in self._students:
            found = [self._state(student, lesson, number) for lesson, number in columns]
            values = [value for state in found for value in (state if state is not None else ("", ""))]
            name = student["name"]
            writer.writerow([f"'{name}" if name.startswith(FORMULAS) else name, *values])
        return written.getvalue()

    def _take(self, message: Mapping[str, Any]) -> None:
        self._sure = False
        self._students, self._opened = message["students"], set(message["solutions"])
        lessons = {name: (title, count) for name, title, count in message["lessons"]}
        if lessons != self._lessons:
            self._lessons = lessons
            chosen = self.lesson.value or max(lessons, key=self._readers, default=None)
            self.lesson.options = [(title, name) for name, (title, _) in lessons.items()]
            self.lesson.value = chosen if chosen in lessons else next(iter(lessons), None)
        self._show()

    def _readers(self, lesson: str) -> int:
        return sum(lesson in student["done"] for student in self._students)

    def _most(self, lesson: str) -> int:
        """The number of exercises; of a lesson of the teacher the largest that a page has shown."""
        seen = [int(number) for student in self._students for number in student["done"].get(lesson, {})]
        return max([self._lessons[lesson][1], *seen])

    def _state(self, student: Mapping[str, Any], lesson: str, number: int) -> tuple[int, int] | None:
        done: Done = student["done"]
        found = done.get(lesson, {}).get(str(number))
        return (found[0], found[1]) if found is not None else None

    def _show(self) -> None:
        lesson = self.lesson.value
        if lesson is None:
            return
        numbers = range(1, self._most(lesson) + 1)
        states = {each["number"]: [self._state(each, lesson, number) for number in numbers] for each in self._students}
        self.table.show(
            ["student", *(f"exercise {number}" for number in numbers)],
            [[each["name"], *map(_cell, states[each["number"]])] for each in self._students],
            facts=[{"id": each["number"], "title": each["name"], "acts": [REMOVE["name"]]} for each in self._students],
        )
        of = self._readers(lesson)
        solved = [sum(bool(state and state[1]) for state in column) for column in zip(*states.values(), strict=True)]
        with self.counts.hold_sync():
            self.counts.title = self._lessons[lesson][0]
            self.counts.lines = [
                {"text": f"{count} of {of} have exercise {number}", "share": count / max(1, of)}
                for number, count in zip(numbers, solved, strict=False)
            ]
        self.counts.lead_to(lesson)
        self._show_solutions(lesson, numbers)

    def _show_solutions(self, lesson: str, numbers: Sequence[int]) -> None:
        words = [f"Show solution {number}" for number in numbers]
        presses = self.solutions.children
        if [each.description for each in presses if isinstance(each, widgets.ToggleButton)] != words:
            tip = "students see it below the exercise while this is pressed"
            presses = tuple(widgets.ToggleButton(description=each, tooltip=tip) for each in words)
            for number, press in zip(numbers, presses, strict=True):
                press.observe(lambda change, number=number: self._open(number, change["new"]), "value")
            self.solutions.children = presses
        for number, press in zip(numbers, presses, strict=True):
            press.value = f"{lesson}:{number}" in self._opened

    def _open(self, number: int, shown: bool) -> None:
        lesson = self.lesson.value
        if lesson is not None and (f"{lesson}:{number}" in self._opened) != shown:
            self._room.tell("solution", lesson=lesson, exercise=number, shown=shown)

    def _act(self, verb: str, rows: list[int], _value: str) -> None:
        if verb == REMOVE["name"]:
            for number in rows:
                self._room.tell("erase", student=int(number))

    def _save(self) -> None:
        if not self._students:
            self.status.say("There is no student to save yet.", "bad")
            return
        # With the mark by which spreadsheets know UTF-8.
        self.download.offer(File("class.csv", self.text().encode("utf-8-sig")))
        self.status.say(f"Saved {counted(len(self._students), 'student')}.", "good")

    def _erase(self) -> None:
        if not self._sure:
            self._sure = True
            self.status.say(f"Press once more to erase all {len(self._students)} students.", "bad")
            return
        self._sure = False
        self._room.tell("erase", student=0)
        self.status.say("The list is erased, here and in the file of the server.", "good")


def _cell(state: tuple[int, int] | None) -> dict[str, Any]:
    """A cell of the table; few tries come first, then those who have not solved it, then those who have not tried."""
    if state is None:
        return {"key": None, "text": "–"}
    tries, solved = state
    words = counted(tries, "try", "tries")
    if solved:
        return {"key": tries, "text": f"✓ {words}"}
    return {"key": 10_000 - tries, "text": words if tries else "opened"}
