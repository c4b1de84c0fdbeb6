"""From CG to another method one change at a time: the lines before and after it, to be moved, and their cost."""

from __future__ import annotations

import difflib
import html
import math
import re

import ipywidgets as widgets

from workbench.errors import InputError, error_message
from workbench.extensions.lessons.page.line_order import LineOrder
from workbench.extensions.lessons.waiting import (
    CG_LINES,
    DERIVATIONS,
    MODELLED,
    RANKS,
    SIDE,
    Assessed,
    assessed,
    differing,
)
from workbench.live.plots.timeline import TimelineView
from workbench.live.stepping.step_text import FEWER, label_of
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.controls import button, row
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import View
from workbench.registry import unknown_name
from workbench.stepping.line_by_line import Moment
from workbench.words.names import typeset
from workbench.words.numbers import count, duration, number

SHOWN = MODELLED[0]
"""The iteration whose values stand behind the lines, unless another one shows where x begins to differ."""
HEIGHT = 190


class MoveLines(View):
    """The changes that make another method of CG, by `show(k)`: the lines before at the left, those after at the right.

    to: "pipelined", by way of Chronopoulos and Gear, or "Gropp". The lines at the right are moved by dragging or by
    their buttons; each time both methods run on a small problem, and an iteration is modelled on 4096 GPUs. Behind a
    line is what it gives in the first modelled iteration; where x differs from that of CG, in the iteration of the
    first line that gives another value. change: the one that is shown first. Raises InputError for another method, or
    without this change.

    Examples:
        >>> from workbench.live import MoveLines
        >>> lines = MoveLines("Gropp")
        >>> len(lines.changes)
        5
        >>> lines.close()
    """

    def __init__(self, to: str = "pipelined", change: int = 1) -> None:
        if to not in DERIVATIONS:
            raise InputError(unknown_name("method", to, DERIVATIONS))
        self.changes = DERIVATIONS[to]
        self.number = 0
        self.before, self.after = LineOrder(fixed=True), LineOrder()
        self.title, self.verdict = widgets.HTML(), StatusLine()
        # In a group of its own the table of kernels is closed.
        self.lanes = TimelineView(height=HEIGHT, group=f"lines {id(self)}", hint="Lines that run have lanes here.")
        self._worker = LatestOnly("workbench-lines")
        self.back = button("Back", "the change before", lambda: self.show(self.number - 1))
        self.next = button(
            "Next change", "the change that follows", lambda: self.show(self.number + 1), style="primary"
        )
        self.undo = button("Undo moves", "the lines as they were after this change", lambda: self.show(self.number))
        columns = row("wb-twocolumns", self.before, self.after)
        buttons = row("wb-buttons", self.back, self.next, self.undo)
        self.box = widgets.VBox([buttons, self.title, columns, self.verdict, self.lanes]).add_class("wb-explorer")
        self.box.add_class("wb-movelines")
        self.after.observe(lambda _change: self._assess(), "value")
        self.show(change)

    def show(self, number: int) -> None:
        """Show a change, counted from 1. Raises InputError where there is none."""
        if not 1 <= number <= len(self.changes):
            raise InputError(f"the changes are 1 to {len(self.changes)}, and not {number}")
        self.number = number
        change, before = self.changes[number - 1], self.changes[number - 2] if number > 1 else None
        self.back.disabled, self.next.disabled = number == 1, number == len(self.changes)
        of = f"Change {number} of {len(self.changes)}"
        self.title.value = f"<b>{of}: {html.escape(change.title)}.</b> {html.escape(change.why)}."
        self.before.title = f"Before: {before.title if before else 'CG'}"
        self.before.value = before.lines if before else CG_LINES
        self.after.title = f"After: {change.title}"
        if self.after.value == change.lines:
            self._assess()
        self.after.value = change.lines

    def close(self) -> None:
        """End the computation and take it off the page."""
        self._worker.close()
        super().close()

    def _assess(self) -> None:
        """Assess the lines and show the verdict; it follows in a thread, since it is computed."""
        before, after = self.before.value, self.after.value
        self.undo.disabled = after == self.changes[self.number - 1].lines
        for order in (self.before, self.after):
            order.notes, order.marks = [], []
        self.verdict.say("computing …", "busy")
        self._worker.ask(lambda: self._say(before, after))

    def _say(self, before: str, after: str) -> None:
        try:
            left, right = assessed(before), assessed(after)
        except Exception as error:  # The status line is the only place that the reader sees.
            self.verdict.say(_as_mathematics(error_message(error)), "bad")
            self.lanes.clear()
            return
        if (before, after) != (self.before.value, self.after.value):
            return
        gone, new = _differences(before, after)
        at = right.difference.at if right.difference else SHOWN
        self.before.notes, self.before.marks = _notes(before, left, at), gone
        if right.difference and right.difference.line:
            new[after.split("\n").index(right.difference.line)] = "differs"
        self.after.notes, self.after.marks = _notes(after, right, at), new
        where = f"The values above are of iteration {at} with {SIDE**2} unknowns."
        self.verdict.say(f"{said(right)} {where}", "bad" if right.difference else "good")
        self.lanes.show(right.trace, "iterations {} and {}".format(*MODELLED))


def said(found: Assessed) -> str:
    """The effect of lines, in sentences."""
    if found.difference:
        return differing(found.difference)
    reductions = found.waits.reductions
    follow = f"{reductions} reductions follow one another" if reductions > 1 else "1 reduction, as no sum needs another"
    hidden = [" and ".join(map(typeset, names)) for names in found.waits.hidden if names]
    which = ["could hide it"] if reductions == 1 else ["could hide one", *["another"] * reductions]
    overlap = ", ".join(f"{names} {what}" for names, what in zip(hidden, which, strict=False))
    return (
        f"x is that of CG. In an iteration: {'; '.join(filter(None, (follow, overlap)))}. "
        f"As these lines stand, modelled on {count(RANKS)} GPUs: {duration(found.seconds)}, {found.waiting}."
    )


def _as_mathematics(message: str) -> str:
    """A message with the lines and names that it quotes as the lines above it have them."""
    return re.sub(r"'([^']+)'|(?<=reads )\w+", lambda found: typeset(found[1] or found[0]), message)


def _differences(before: str, after: str) -> tuple[list[str], list[str]]:
    """The marks of the lines before and after a change."""
    one, other = before.split("\n"), after.split("\n")
    gone, new = (["moved" if line in theirs else mark for line in mine] for mine, theirs, mark in (
        (one, other, "gone"), (other, one, "new")
    ))  # fmt: skip
    for first, second, length in difflib.SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks():
        gone[first : first + length] = new[second : second + length] = [""] * length
    return gone, new


def _notes(lines: str, found: Assessed, iteration: int) -> list[str]:
    """The value of each line in an iteration, or in the last one."""
    moments: list[Moment] = list(found.moments)
    values = moments[min(iteration, len(moments) - 1)].values
    notes = []
    for value in values[: lines.count("\n") + 1]:
        name = f"‖{label_of(value.name)}‖" if value.is_vector else label_of(value.name)
        notes.append(f"{name} = {number(value.value, FEWER)}" if math.isfinite(value.value) else "not finite")
    return notes
