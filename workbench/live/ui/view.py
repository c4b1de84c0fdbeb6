"""Base classes of all views: they are displayed by their box, and leave nothing when they are closed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import anywidget
import ipywidgets as widgets
import traitlets

from workbench.live.transport import cells
from workbench.live.transport.closing import close_all
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.assets import module, style_sheet

Bundle = Mapping[str, object] | tuple[Mapping[str, object], Mapping[str, object]]
CLOSED = "This view is closed; make another."
SAVED = "{}, a live view of the workbench: run this cell to see it."
"""The text of a view in a notebook that was saved and is opened without its kernel, and where there are no widgets."""


class View:
    """A view of several widgets. Display it, or its `box`."""

    box: widgets.Box
    names_problem: ClassVar[bool] = True
    """False for a view that does not use the problem of its page, whose header then names none."""

    def open_at(self, at: str) -> None:
        """Show the item of an address, which anybody may have written; by default there is none."""

    def close(self) -> None:
        """Close all widgets that the view refers to. Subclasses end runs and threads before."""
        for part in list(vars(self).values()):
            close_all(part)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        cells.displayed(self)
        show = self.box._repr_mimebundle_
        return _named(self, show(**options)) if show else _closed()


class WorkingView(View):
    """A view whose answers are computed one after another, the latest question only."""

    _worker: LatestOnly

    def wait(self, timeout: float) -> bool:
        """Wait until all that was asked for is shown; False when that takes longer, in s."""
        return self._worker.wait(timeout)

    def close(self) -> None:
        """End the computation and take it off the page."""
        self._worker.close()
        super().close()


class StyleSheet(anywidget.AnyWidget):
    """The style sheet of all views, which a page has once for all of a kernel; it has no view."""

    _esm = "export default {};"
    _css = traitlets.Unicode().tag(sync=True)

    @traitlets.default("_css")
    def _joined(self) -> str:
        return style_sheet()


_SHEETS: list[StyleSheet] = []


def sheet() -> StyleSheet:
    """The style sheet of this kernel; another where the last one was closed with all widgets."""
    if not _SHEETS or _SHEETS[-1].comm is None:
        _SHEETS[:] = [StyleSheet()]
    return _SHEETS[-1]


class LiveWidget(anywidget.AnyWidget):
    """A widget of the workbench's own. One that is closed leaves nothing, and says so where it is displayed."""

    _esm = module("transport/once.js")
    _sheet = traitlets.Instance(StyleSheet).tag(sync=True, **widgets.widget_serialization)
    """By this reference the sheet is in a page saved with the widget; made before the widget, it is there first."""
    _script = traitlets.Unicode("").tag(sync=True)
    """Its module, by `script`; the page makes each once, for all widgets that hold it. What works before that has its
    module in `_esm`."""

    @traitlets.default("_sheet")
    def _of_kernel(self) -> StyleSheet:
        return sheet()

    def close(self) -> None:
        """Take it off the page."""
        # ipywidgets closes what Python frees, also a widget whose making failed.
        if self.comm is not None:
            self.layout.close()
        super().close()
        # ipywidgets puts None here, which a notebook would call.
        self._repr_mimebundle_ = _closed

    def _repr_mimebundle_(self, **options: Any) -> Any:
        cells.displayed(self)
        return _named(self, super()._repr_mimebundle_(**options))


def _named(view: object, bundle: Bundle | None) -> Bundle:
    """The bundle of a view with a text that names it. bundle: data by MIME type, or these and metadata."""
    data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, None)
    said = {**data, "text/plain": SAVED.format(type(view).__name__)}
    return said if metadata is None else (said, metadata)


def _closed(**_options: object) -> dict[str, str]:
    return {"text/plain": CLOSED}
