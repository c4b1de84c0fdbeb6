"""An exercise in a class: the teacher sees its state, and opens its solution."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Protocol

import ipywidgets as widgets

from workbench.extensions.lessons.progress import Progress
from workbench.live.ui.server_connection import ServerConnection, server_connection

ENOUGH = 3
"""Tries after which a page without a teacher shows the solution."""


class Followed(Protocol):
    """The part of an `ExerciseView` that is followed."""

    @property
    def box(self) -> widgets.Box: ...

    @property
    def progress(self) -> Progress: ...

    def on_progress(self, listener: Callable[[Progress], object]) -> None: ...


def follow_class(view: Followed, solution: Callable[[], str]) -> None:
    """Report the state of an exercise to the teacher of the class that this page belongs to, and show its solution when
    the teacher opens it; without a class after the right answer, or the third wrong one.

    solution: returns it, in Markdown; empty for none. It leaves the kernel only when it is shown.
    """
    shown = widgets.Output().add_class("wb-solution")
    shown.layout.display = "none"
    view.box.children = (*view.box.children, shown)

    def show(visible: bool) -> None:
        if visible and not shown.outputs and (text := solution()):
            data = {"text/markdown": f"**Solution.** {text}", "text/plain": text}
            shown.outputs = ({"output_type": "display_data", "data": data, "metadata": {}},)
        shown.layout.display = "" if visible and shown.outputs else "none"

    room = server_connection()
    if room is None or not room.facts["collects"]:
        view.on_progress(lambda progress: show(progress.solved or progress.tries >= ENOUGH))
        return
    name = view.progress.exercise
    room.on("solutions", lambda message: show(_is_open(name, message)))
    view.on_progress(lambda progress: report(room, progress))
    report(room, view.progress)
    show(_is_open(name, room.facts))


def report(room: ServerConnection, progress: Progress) -> None:
    """Send the state of an exercise; a server that has ended gets none."""
    lesson, _, number = progress.exercise.rpartition(":")
    with contextlib.suppress(OSError):
        room.tell("attempt", lesson=lesson, exercise=int(number), tries=progress.tries, solved=progress.solved)


def _is_open(name: str, message: Mapping[str, object]) -> bool:
    opened = message["solutions"]
    return isinstance(opened, list) and name in opened
