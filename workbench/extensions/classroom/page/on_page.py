"""The views of a class on the page: a bar on the pages of a server, and all runs on that of the teacher."""

from __future__ import annotations

from workbench.extensions.classroom.page.class_bar import ClassBar, LessonBar
from workbench.extensions.classroom.page.class_page import ClassPage
from workbench.extensions.classroom.page.classroom import Classroom, classroom
from workbench.live.app.app import Workbench
from workbench.live.ui.frontend import in_voila


def class_bar(page: Workbench) -> ClassBar | None:
    """The bar; None on a page that no server has started."""
    room = _room()
    return ClassBar(room, page.runs, lambda: page.configuration, page.show) if room is not None else None


def lesson_bar() -> LessonBar | None:
    """The bar of a lesson; None on a page that belongs to no class, and on the teacher's."""
    room = _room()
    if room is None or not room.facts["collects"] or room.facts["teacher"]:
        return None
    return LessonBar(room)


def class_page(page: Workbench) -> ClassPage:
    """The page of the teacher."""
    room = _room()
    assert room is not None
    return ClassPage(room, lambda: page.share.written("link"), page.folder)


def is_teacher() -> bool:
    """True on the page of a teacher."""
    room = _room()
    return room is not None and room.facts["teacher"]


def _room() -> Classroom | None:
    return classroom() if in_voila() else None
