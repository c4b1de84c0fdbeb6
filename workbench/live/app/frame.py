"""The views of the page and the rail that leads to them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import ipywidgets as widgets

from workbench.errors import InputError, quoted
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
"""The views of the rail by key, in order; others that extensions name follow. One without a page is not listed."""
KEY = re.compile(r"[a-z][a-z0-9-]*")
"""Keys are parts of addresses and of the names of style classes."""


class Frame:
    """Rail, header and views. A room registers a page by `add`; a view of several pages has a switch in the header.

    acts: see `Shell`. share: the bar behind the button Share of the header.
    """

    def __init__(self, acts: Mapping[str, Callable[[], object]], share: widgets.Widget) -> None:
        self.pages: dict[str, Page] = {}
        """Pages by title."""
        self.shell = Shell(acts)
        self.formerly: dict[str, str] = {}
        """Titles of pages by places that they had before."""
        self._places: dict[str, str] = {}
        self._titles: dict[str, str] = {}
        self._views: dict[str, widgets.VBox] = {}
        self._shown = widgets.VBox().add_class("wb-pages")
        for view, title in VIEWS.items():
            self._add_view(view, title)
        menu = widgets.VBox([share]).add_class("wb-sharemenu")
        frame = widgets.HBox([self.shell, menu, self._shown])
        self.box = widgets.VBox([frame.add_class("wb-frame")]).add_class("wb").add_class("wb-workbench")

    @property
    def in_front(self) -> Page:
        """The page that is shown."""
        return next(page for title, page in self.pages.items() if self._places[title] == self.shell.shown)

    @property
    def places(self) -> list[str]:
        """The places of the pages, such as "compare.race"."""
        return list(self._places.values())

    def add(self, view: str, title: str, page: Page, *, flush: bool = False, view_title: str = "") -> None:
        """Put a page into a view of the rail. flush: without space around it. view_title: of a view that the rail does
        not have yet.

        Raises InputError for no such view, and for a title that another page has.
        """
        key = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
        place = f"{view}.{key}"
        if title in self.pages or place in self.places or not key:
            raise InputError(
                f"the title of a page has letters or digits, and no other page has it; got {quoted(title)}"
            )
        if view not in self._titles:
            if not view_title:
                raise InputError(unknown_name("view", view, self._titles))
            if not KEY.fullmatch(view):
                raise InputError(f"the key of a view is of small letters, digits and hyphens, got {quoted(view)}")
            self._add_view(view, view_title)
        self.pages[title], self._places[title] = page, place
        page.box.add_class("wb-pane").add_class(f"wb-pane-{view}-{key}")
        if flush:
            page.box.add_class("wb-flush")
        self._views[view].children = (*self._views[view].children, page.box)
        self.shell.views = [
            {"key": name, "title": words, "parts": parts}
            for name, words in self._titles.items()
            if (parts := self._parts(name))
        ]

    def add_above(self, line: widgets.Widget) -> None:
        """Put a line above all views."""
        self._shown.children = (line, *self._shown.children)

    def now_at(self, place: str) -> str:
        """The place of a page; of a page that had it before, the present one."""
        title = self.formerly.get(place)
        return self._places[title] if title is not None and place not in self.places else place

    def turn_to(self, title: str) -> None:
        """Show a page."""
        self.shell.shown = self._places[title]

    def name(self, problem: Problem | None) -> None:
        """Name the present problem in the header; nothing for None."""
        name, facts = problem_words(problem) if problem is not None else ("", "")
        self.shell.problem = {"name": name, "facts": facts}

    def _add_view(self, key: str, title: str) -> None:
        self._titles[key] = title
        self._views[key] = widgets.VBox().add_class("wb-page").add_class(f"wb-page-{key}")
        self._shown.children = (*self._shown.children, self._views[key])

    def _parts(self, view: str) -> list[dict[str, str]]:
        places = {title: place.split(".") for title, place in self._places.items()}
        return [{"key": key, "title": title} for title, (name, key) in places.items() if name == view]
