"""The page of the papers: the shelf, and the item that is taken from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import ipywidgets as widgets

from workbench.errors import InputError
from workbench.extensions.papers.page.paper_view import PaperView
from workbench.extensions.papers.page.shelf import Shelf
from workbench.live.ui.controls import button, row
from workbench.live.ui.extension_view import ExtensionView
from workbench.live.ui.run_list import RunList
from workbench.live.ui.status import StatusLine


class PapersPage(ExtensionView):
    """All papers, one item at a time. Display it, or `box`.

    runs, show_runs, folder: see `PaperView`. Views that were opened are kept as they are turned; only the one in front
    computes.
    """

    names_problem = False

    def __init__(
        self,
        runs: RunList | None = None,
        show_runs: Callable[[Sequence[int]], object] | None = None,
        folder: str | Path | None = None,
    ) -> None:
        self._options = {"runs": runs if runs is not None else RunList(), "show_runs": show_runs, "folder": folder}
        self.views: dict[tuple[str, str], PaperView] = {}
        self.shown: tuple[str, str] | None = None
        """The names of paper and item in front; None for the shelf."""
        self.message = StatusLine()
        self.message.layout.display = "none"
        self.shelf = Shelf(self._press)
        self.all_papers = button("All papers", "back to the papers and their items", self.back)
        self._head = row("wb-buttons", self.all_papers)
        self.box = widgets.VBox().add_class("wb").add_class("wb-papers")
        self._show(self.shelf)

    @property
    def at(self) -> str:
        """The item in front as "two-level.table2", for an address; empty for the shelf."""
        return ".".join(self.shown) if self.shown else ""

    def open(self, paper: str, item: str) -> PaperView:
        """Show an item. Raises InputError for an unknown one."""
        if (paper, item) not in self.views:
            self.views[paper, item] = PaperView(paper, item, **self._options)
        self._leave()
        self.shown = paper, item
        view = self.views[paper, item]
        view.go_on()
        self._show(view.box)
        self.all_papers.focus()
        self.changed()
        return view

    def open_at(self, at: str) -> None:
        """Show the item of an address; of a paper, or where there is no such item, the shelf."""
        try:
            if "." in at:
                self.open(*at.split(".", 1))
            else:
                self.back()
                if at:
                    self.shelf.last = self.shelf.first_of(at)
        except InputError as error:
            self.back()
            self._say(str(error))

    def back(self) -> None:
        """Show the shelf."""
        self._leave()
        self.shelf.last, self.shown = self.at, None
        self._say("")
        self.shelf.renew()
        self._show(self.shelf)
        self.changed()

    def close(self) -> None:
        """End the computation, and take everything off the page."""
        for view in self.views.values():
            view.close()
        super().close()

    def _press(self, paper: str, item: str) -> None:
        self.open_at(f"{paper}.{item}")

    def _leave(self) -> None:
        """Stop the computation of the item in front, which goes out of sight."""
        if self.shown is not None:
            self.views[self.shown].stop()

    def _show(self, part: widgets.Widget) -> None:
        self._head.layout.display = None if self.shown else "none"
        self.box.children = (self._head, self.message, part)

    def _say(self, words: str) -> None:
        self.message.layout.display = None if words else "none"
        self.message.say(words, "bad" if words else "plain")
