"""All that can be seen of one run from inside: its fields, its spectrum, its kernels over time and under the roof."""

from __future__ import annotations

import functools
import html
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.errors import InputError
from workbench.live.field.field_panel import FieldPanel
from workbench.live.plots.roofline import RooflineView
from workbench.live.plots.spectrum import SpectrumView
from workbench.live.plots.timeline import HINT, TimelineView
from workbench.live.transport.closing import close_all
from workbench.live.transport.publisher import Publisher
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.run_handle import RunHandle, RunSource
from workbench.live.ui.run_pictures import RunView
from workbench.live.ui.view import View

TABS = ("Field", "Spectrum", "Timeline", "Roofline")
NOTHING = "There is no run to look into yet."
DRAWING = "Drawing …"


class InsideView(View):
    """The views on one run as tabs: Field, Spectrum, Timeline, Roofline. Display it, or put `box` into a page.

    `follow(run)` switches to another run, which may be an active session, a result, or a run loaded from a file.
    What stands behind another tab is sent nothing and computes nothing. publisher: of the page that it is a part of.
    folder: where figures go, by default exports/ next to the notebook. hint: said of a run without a trace.
    """

    def __init__(
        self,
        run: RunSource | None = None,
        publisher: Publisher | None = None,
        folder: str | Path | None = None,
        hint: str = HINT,
    ) -> None:
        self._alone, self.publisher = publisher is None, publisher or Publisher()
        self._hidden = False
        self.panel = FieldPanel(self.publisher)
        self.field = self.panel.field
        self.timeline = TimelineView(hint=hint, publisher=self.publisher)
        self._run: RunSource | None = None
        self._drawn = {
            "Spectrum": _Drawn(functools.partial(SpectrumView, folder=folder)),
            "Roofline": _Drawn(functools.partial(RooflineView, folder=folder, hint=hint)),
        }
        self._worker = LatestOnly("workbench-inside")
        views = {"Field": self.panel.box, "Timeline": self.timeline}
        views |= {name: drawn.box for name, drawn in self._drawn.items()}
        self.tabs = widgets.Tab([views[name] for name in TABS], titles=TABS, selected_index=0)
        self.tabs.observe(self._turn, "selected_index")
        self.box = widgets.VBox([self.tabs])
        self.box.add_class("wb-inside")
        self._turn()
        if run is not None:
            self.follow(run)

    @property
    def source(self) -> RunSource | None:
        """The run that is shown."""
        return self._run

    @property
    def spectrum(self) -> SpectrumView | None:
        """The view behind its tab, which is made when it is first looked at."""
        view = self._drawn["Spectrum"].view
        return view if isinstance(view, SpectrumView) else None

    @property
    def roofline(self) -> RooflineView | None:
        """The view behind its tab, which is made when it is first looked at."""
        view = self._drawn["Roofline"].view
        return view if isinstance(view, RooflineView) else None

    def follow(self, run: RunSource) -> None:
        """Look into another run; returns at once."""
        self._run = run
        self.panel.follow(run)
        self.timeline.show(run, RunHandle(run).title)
        for drawn in self._drawn.values():
            drawn.forget(run)
        self._turn()

    def hide(self, hidden: bool) -> None:
        """Say whether all of it is out of sight, as on another page: then nothing is sent and nothing computed."""
        self._hidden = hidden
        self._turn()

    def close(self) -> None:
        """Take everything off the page. A publisher that was given stays open, and the run continues."""
        self._worker.close()
        for drawn in self._drawn.values():
            drawn.forget(None)
        if self._alone:
            self.publisher.close()
        super().close()

    def _turn(self, _change: Any = None) -> None:
        """Show one view and hide the others."""
        chosen = "" if self._hidden else TABS[self.tabs.selected_index or 0]
        self.panel.hide(chosen != "Field")
        self.timeline.link.hidden = chosen != "Timeline"
        for name, drawn in self._drawn.items():
            drawn.hide(hidden=name != chosen)
        if chosen in self._drawn and self._run is not None:
            # A spectrum is made of dense algebra and a roof is measured: not in a callback.
            self._worker.ask(lambda: self._drawn[chosen].make(self.publisher))
        self.publisher.wake()


class _Drawn:
    """A view that is made only when it is shown, and again for another run."""

    def __init__(self, kind: Callable[..., RunView]) -> None:
        self.view: RunView | None = None
        self.box = widgets.VBox([widgets.HTML(NOTHING)])
        self._kind = kind
        self._run: RunSource | None = None
        self._hidden = True

    def forget(self, run: RunSource | None) -> None:
        view, self.view, self._run = self.view, None, run
        if view is not None:
            view.close()
        self._fill(widgets.HTML(NOTHING if run is None else DRAWING))

    def hide(self, *, hidden: bool) -> None:
        self._hidden = hidden
        if self.view is not None:
            self.view.hidden = hidden

    def make(self, publisher: Publisher) -> None:
        """Make the view, if there is none yet; called by a worker."""
        run = self._run
        if run is None or self.view is not None:
            return
        try:
            view = self._kind(run, publisher=publisher)
        except InputError as error:
            self._say(run, str(error))
            return
        except Exception as error:
            logging.getLogger(__name__).exception("a view could not be made")
            self._say(run, f"this view failed: {error}")
            return
        if run is not self._run:
            view.close()
            return
        view.hidden = self._hidden
        self.view = view
        self._fill(view.box)
        publisher.wake()

    def _say(self, run: RunSource, sentence: str) -> None:
        if run is self._run:
            self._fill(widgets.HTML(html.escape(sentence)))

    def _fill(self, content: widgets.Widget) -> None:
        before, self.box.children = self.box.children, [content]
        for child in before:
            close_all(child)
