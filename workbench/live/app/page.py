"""A page of the workbench: a view that is made when it is first shown, and refreshed when it is shown again."""

from __future__ import annotations

import html
import threading
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from workbench.errors import error_message
from workbench.live.transport.closing import close_all

OPENING = '<p class="wb-empty">opening …</p>'


class Page:
    """make: returns the view. renew: is given it whenever the page is turned to again. Both may take their time."""

    def __init__(self, make: Callable[[], Any], renew: Callable[[Any], object] = lambda _view: None) -> None:
        self.view: Any = None
        self.message = widgets.HTML(OPENING)
        self.box = widgets.VBox([self.message])
        self._make, self._renew = make, renew
        self._turning = threading.RLock()

    def made(self) -> Any:
        """The view, made now where it has not been shown yet. Raises what making it raises."""
        with self._turning:
            if self.view is None:
                self.view = self._make()
                self._show("")
            return self.view

    def turn_to(self) -> None:
        """Make the view or bring it up to date; an error is shown on the page."""
        with self._turning:
            self.attempt(self._renew if self.view is not None else lambda _view: None)
            self._hide(hidden=False)

    def attempt(self, act: Callable[[Any], object]) -> None:
        """Do something with the view, which is made now where it has not been shown yet; an error is shown on the
        page."""
        with self._turning:
            try:
                if self.view is None:
                    self.view = self._make()
                act(self.view)
                message = ""
            # No one else would report it to the user.
            except Exception as error:
                message = error_message(error)
            self._show(message)

    def leave(self) -> None:
        """Tell the view that another page is in front, so that it can stop painting."""
        self._hide(hidden=True)

    def close(self) -> None:
        """Take the view off the page."""
        with self._turning:
            close = getattr(self.view, "close", None)
            if close is not None:
                close()
            close_all([self.box, self.message])

    def _show(self, message: str) -> None:
        self.message.value = f'<p class="wb-status wb-bad" role="status">{html.escape(message)}</p>' if message else ""
        shown = [getattr(self.view, "box", self.view)] if self.view is not None else []
        self.box.children = [*([self.message] if message else []), *shown]

    def _hide(self, *, hidden: bool) -> None:
        hide = getattr(self.view, "hide", None)
        if hide is not None:
            try:
                hide(hidden)
            # The other pages go on.
            except Exception as error:
                self._show(error_message(error))
