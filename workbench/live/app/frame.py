"""The views of the page and the rail that leads to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import ipywidgets as widgets

from workbench.errors import InputError
from workbench.live.app.page import Page
from workbench.live.app.problem_words import problem_words
from workbench.live.app.shell import Shell
from workbench.problems import Problem
from workbench.registry import unknown_name

VIEWS = {
    "build": "Build",
    "solve": "Solve",
    "compare": "Compare",
    "flow": "Flow",
    "inspect": "Inspect",
    "learn": "Learn",
    "papers": "Papers",
    "runs": "Runs",
    "class": "Class",
}
"""The views of the rail by key, in order. One without a page is not listed."""


class Frame:
    """Rail, header and views. A room registers a page by `add`; a view of several pages has a switch in the header.

    acts, link: see `Shell`.
    """

    def __init__(self, acts: Mapping[str, Callable[[], object]], link: Callable[[], tuple[str, str]]) -> None:
        self.pages: dict[str, Page] = {}
        """Pages by title."""
        self.shell = Shell(acts, link)
        self._places: dict[str, str] = {}
        self._views = {key: widgets.VBox().add_class("wb-page").add_class(f"wb-page-{key}") for key in VIEWS}
        self._shown = widgets.VBox(list(self._views.values())).add_class("wb-pages")
        frame = widgets.HBox([self.shell, self._shown])
        self.box = widgets.VBox([frame.add_class("wb-frame")]).add_class("wb").add_class("wb-workbench")

    @property
    def in_front(self) -> Page:
        """The page that is shown."""
        return next(page for title, page in self.pages.items() if self._places[title] == self.shell.shown)

    @property
    def places(self) -> list[str]:
        """The places of the pages, such as "compare.race"."""
        return list(self._places.values())

    def add(self, view: str, title: str, page: Page, *, flush: bool = False) -> None:
        """Put a page into a view of the rail. flush: without space around it. Raises InputError for no such view."""
        if view not in VIEWS:
            raise InputError(unknown_name("view", view, VIEWS))
        key = title.lower().replace(" ", "-")
        self.pages[title] = page
        self._places[title] = f"{view}.{key}"
        page.box.add_class("wb-pane").add_class(f"wb-pane-{view}-{key}")
        if flush:
            page.box.add_class("wb-flush")
        self._views[view].children = (*self._views[view].children, page.box)
        self.shell.views = [
            {"key": name, "title": words, "parts": parts}
            for name, words in VIEWS.items()
            if (parts := self._parts(name))
        ]

    def add_above(self, line: widgets.Widget) -> None:
        """Put a line above all views."""
        self._shown.children = (line, *self._shown.children)

    def turn_to(self, title: str) -> None:
        """Show a page."""
        self.shell.shown = self._places[title]

    def name(self, problem: Problem, *, can_undo: bool) -> None:
        """Name the present problem in the header."""
        name, facts = problem_words(problem)
        self.shell.problem = {"name": name, "facts": facts}
        self.shell.can_undo = can_undo

    def _parts(self, view: str) -> list[dict[str, str]]:
        places = {title: place.split(".") for title, place in self._places.items()}
        return [{"key": key, "title": title} for title, (name, key) in places.items() if name == view]
