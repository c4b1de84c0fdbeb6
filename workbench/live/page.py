"""A page of the workbench: a view that is made when it is first turned to, and told when it is turned to again."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from workbench.errors import sentence_of

OPENING = '<p class="wb-empty">opening …</p>'


class Page:
    """make: returns the view. renew: is given it whenever the page is turned to again. Both may take their time."""

    def __init__(self, make: Callable[[], Any], renew: Callable[[Any], object] = lambda _view: None) -> None:
        self.view: Any = None
        self.box = widgets.VBox([widgets.HTML(OPENING)])
        self._make, self._renew = make, renew
        self._told = widgets.HTML()

    def turn_to(self) -> None:
        """Make the view or bring it up to date; what goes wrong is told on the page."""
        try:
            if self.view is None:
                self.view = self._make()
            else:
                self._renew(self.view)
            self._told.value = ""
        # Nobody else would tell the user.
        except Exception as error:
            self._told.value = f'<p class="wb-status wb-bad" role="status">{html.escape(sentence_of(error))}</p>'
        shown = [getattr(self.view, "box", self.view)] if self.view is not None else []
        self.box.children = [*([self._told] if self._told.value else []), *shown]

    def close(self) -> None:
        """Take the view off the page."""
        if self.view is not None:
            self.view.close()
