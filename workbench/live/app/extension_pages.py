"""Views and bars that extensions add to the page. One that fails is left out, and its extension is `broken`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import ipywidgets as widgets

from workbench.errors import InputError
from workbench.live.app.frame import Frame
from workbench.live.app.page import Page
from workbench.live.ui.extension_view import ExtensionView
from workbench.live.ui.view import View
from workbench.registry.extensions import Extension, PageView, extensions
from workbench.run import Configuration


class ExtensionPages:
    """The pages of extensions. workbench: the page, which their functions get. changed: see `ExtensionView`."""

    def __init__(self, frame: Frame, workbench: View, changed: Callable[[], object]) -> None:
        self._workbench, self._changed = workbench, changed
        self._added: list[tuple[Extension, PageView]] = []
        for extension in extensions().values():
            for view in extension.views:
                with contextlib.suppress(InputError):
                    if view.offered and not extension.called(view.offered):
                        continue
                    self._add(frame, extension, view)

    def bars(self) -> list[widgets.Widget]:
        """The lines above all views, made now."""
        found: list[widgets.Widget] = []
        for extension in extensions().values():
            for reference in extension.bars:
                with contextlib.suppress(InputError):
                    made = extension.called(reference, self._workbench)
                    if isinstance(made, widgets.Widget):
                        found.append(made)
                    elif made is not None:
                        raise extension.failure(f"{reference} returns a {type(made).__name__}, not a widget")
        return found

    def taker(self, configuration: Configuration) -> str:
        """The title of the first view that takes a suggested configuration; empty without one."""
        for extension, view in self._added:
            with contextlib.suppress(InputError):
                if view.takes and extension.called(view.takes, configuration):
                    return view.title
        return ""

    def _add(self, frame: Frame, extension: Extension, view: PageView) -> None:
        page = Page(lambda: self._made(extension, view), _renew)
        try:
            frame.add(view.place, view.title, page, flush=view.flush, view_title=view.place_title)
            frame.formerly |= dict.fromkeys(view.formerly, view.title)
        except InputError as error:
            raise extension.failure(f"its view {view.title}: {error}") from None
        self._added.append((extension, view))

    def _made(self, extension: Extension, view: PageView) -> View | widgets.Widget:
        made = extension.resolved(view.make)(self._workbench)
        if not isinstance(made, View | widgets.Widget):
            raise extension.failure(f"{view.make} returns a {type(made).__name__}, not a view")
        if isinstance(made, ExtensionView):
            made.changed = self._changed
        return made


def _renew(made: object) -> None:
    if isinstance(made, ExtensionView):
        made.renew()
