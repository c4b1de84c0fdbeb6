"""Base class of views that extensions add to the page."""

from __future__ import annotations

from collections.abc import Callable

from workbench.live.ui.view import View
from workbench.problems import Problem
from workbench.run import Configuration


def _nothing() -> None:
    """Do nothing, for a view that is on no page."""


class ExtensionView(View):
    """A view on the page that an extension declares by `workbench.registry.extensions.PageView`.

    All that the page asks of it has a default: a view overrides what it has. `box` is displayed.

    Examples:
        >>> import ipywidgets
        >>> from workbench.live import ExtensionView
        >>> class Greeting(ExtensionView):
        ...     box = ipywidgets.VBox([ipywidgets.Label("Hello")])
        >>> Greeting().at
        ''
    """

    changed: Callable[[], object] = staticmethod(_nothing)
    """Set by the page, and called by the view when `problem_shown` or `at` has changed."""

    @property
    def problem_shown(self) -> Problem | None:
        """The problem that the header names while the view is in front; by default None, for that of the page."""
        return None

    @property
    def configuration_shown(self) -> Configuration | None:
        """The configuration that the menu Share hands on while the view is in front; by default None, for that of the
        page. Raises InputError for a wrong value."""
        return None

    @property
    def at(self) -> str:
        """The item in front, for the address of the page; by default empty, for none."""
        return ""

    def take_method(self, configuration: Configuration) -> None:
        """Show a configuration that was suggested, of those that `takes` of the declaration is true for."""

    def renew(self) -> None:
        """Bring it up to date; called when the page is turned to again, in a thread."""

    def hide(self, hidden: bool) -> None:
        """Send nothing while another view is in front, and all again after that."""
