"""The inside of one run: its fields, its spectrum, and its kernels over time and against the limits of the machine."""

from __future__ import annotations

import functools
import html
import itertools
import logging
from collections.abc import Callable, Sequence
from pathlib import Path

import ipywidgets as widgets

from workbench.errors import InputError
from workbench.live.field.field_panel import FieldPanel
from workbench.live.plots.convergence import ConvergenceView
from workbench.live.plots.curve import Curve
from workbench.live.plots.roofline import RooflineView
from workbench.live.plots.spectrum import SpectrumView
from workbench.live.plots.timeline import HINT, TimelineView
from workbench.live.transport.closing import close_all
from workbench.live.transport.publisher import Publisher
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.controls import row
from workbench.live.ui.run_handle import RunHandle, RunSource
from workbench.live.ui.run_pictures import RunView
from workbench.live.ui.view import View
from workbench.run import Quantity, Result, Run, Session

COLUMNS = (("Convergence", "Spectrum"), ("Field", "Roofline"))
"""The parts below the timeline, column by column."""
DRAWING = "Drawing …"
_GROUPS = itertools.count(1)


class InsideView(View):
    """The views on one run on one page: timeline, convergence, field, spectrum and roofline. Display it, or `box`.

    `follow(run)` switches to another run, which may be an active session, a result, or a run loaded from a file. An
    iteration or a kernel that is pointed at in one of the views is shown in all that know it. publisher: of the page
    that it is a part of. folder: where figures go, by default exports/ next to the notebook. hint: said of a run
    without a trace.

    Examples:
        >>> from workbench.live import InsideView
        >>> from workbench.run import Session, configure
        >>> view = InsideView(Session(configure("two-layer", n=16), trace=True))
        >>> view.close()
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
        self.group = f"inside {next(_GROUPS)}"
        """The name that its views have in common."""
        self.convergence = ConvergenceView(publisher=self.publisher, movable=False, group=self.group)
        self.panel = FieldPanel(self.publisher, group=self.group)
        self.field = self.panel.field
        self.field.quantity = Quantity.SOLUTION.value
        self.timeline = TimelineView(hint=hint, publisher=self.publisher, group=self.group)
        self._run: RunSource | None = None
        self._title = ""
        """The name of the run above its timeline."""
        self._compared: list[tuple[RunSource, str]] = []
        """The runs on the timeline and their names, where there are several."""
        self._curve: Curve | None = None
        self._drawn = {
            "Spectrum": _Drawn(functools.partial(SpectrumView, folder=folder, group=self.group)),
            "Roofline": _Drawn(functools.partial(RooflineView, folder=folder, hint=hint, group=self.group)),
        }
        self._worker = LatestOnly("workbench-inside")
        views = {"Timeline": self.timeline, "Convergence": self.convergence, "Field": self.panel.box}
        views |= {name: drawn.box for name, drawn in self._drawn.items()}
        self.parts = {name: widgets.VBox([widgets.HTML(_heading(name)), view]) for name, view in views.items()}
        """The views with their titles, by name."""
        columns = [widgets.VBox([self.parts[name] for name in column]) for column in COLUMNS]
        self.box = widgets.VBox([self.parts["Timeline"], row("wb-insidecols", *columns)]).add_class("wb-inside")
        self._turn()
        self.timeline.observe(lambda _change: self._worker.ask(self._turn_roofline, "pointed"), "pointed")
        if run is not None:
            self.follow(run)

    @property
    def source(self) -> RunSource | None:
        """The run that is shown."""
        return self._run

    @property
    def spectrum(self) -> SpectrumView | None:
        """The view on Ritz values and errors; None until a worker has made it."""
        view = self._drawn["Spectrum"].view
        return view if isinstance(view, SpectrumView) else None

    @property
    def roofline(self) -> RooflineView | None:
        """The view on kernels under the roof; None until a worker has made it."""
        view = self._drawn["Roofline"].view
        return view if isinstance(view, RooflineView) else None

    def follow(self, run: RunSource, label: str = "", style: int = 0) -> None:
        """Look into another run; returns at once. label, style: of its curve, as `ConvergenceView.add` takes them."""
        handle, before = RunHandle(run), self._curve
        # A damaged run fails here first; the run before then stays.
        self._curve = self._curve_of(run, label or handle.method, style)
        if before is not None:
            self.convergence.drop(before)
        # A run that has a label is named above the view already.
        self._run, self._compared, self._title = run, [], "" if label else handle.title
        self._name_roofline()
        self.panel.follow(run)
        self.timeline.show(run, self._title)
        untraced = handle.trace is None and (handle.over or handle.run is not None)
        for name, missing in (("Convergence", self._curve is None), ("Roofline", untraced)):
            self.parts[name].layout.display = "none" if missing else None
        for drawn in self._drawn.values():
            drawn.forget(run)
        self._turn()

    def compare(self, others: Sequence[RunSource], names: Sequence[str]) -> None:
        """Put other runs below the run on the timeline, or none. names: of the run itself and of each of them."""
        if self._run is not None:
            self._compared = list(zip([self._run, *others], names, strict=True)) if others else []
            self.timeline.show([self._run, *others], names if others else self._title)
            self._worker.ask(self._turn_roofline, "pointed")

    def _turn_roofline(self) -> None:
        """Turn the roofline to the run that the pointer was on last, where there are several."""
        view, place = self.roofline, self.timeline.pointed
        run, name = self._compared[place] if place < len(self._compared) else (self._run, "")
        if view is not None and run is not None and (view.watched is None or view.watched.source is not run):
            view.follow(run)
        self._name_roofline(name)

    def _name_roofline(self, name: str = "") -> None:
        title = self.parts["Roofline"].children[0]
        assert isinstance(title, widgets.HTML)
        title.value = _heading(f"Roofline of {name}" if name else "Roofline")

    def hide(self, hidden: bool) -> None:
        """Send and compute nothing while all of it is out of sight, as on another page."""
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

    def _curve_of(self, run: RunSource, label: str, style: int) -> Curve | None:
        if isinstance(run, Session):
            return self.convergence.watch(run, label, style)
        # A run in memory may be at any of its iterations, and says so to no one; one that failed has no residuals.
        if isinstance(run, Run) or (isinstance(run, Result) and not run.x.shape[0]):
            return None
        return self.convergence.add(run.record() if isinstance(run, Result) else run, label, style)

    def _turn(self) -> None:
        """Let all views work, or rest."""
        self.panel.hide(self._hidden)
        self.timeline.link.hidden = self.convergence.link.hidden = self._hidden
        for name, drawn in self._drawn.items():
            hidden = self._hidden or self._run is None or self.parts[name].layout.display is not None
            drawn.hide(hidden=hidden)
            if not hidden:
                # A spectrum is made of dense algebra and a roof is measured: not in a callback.
                self._worker.ask(functools.partial(drawn.make, self.publisher), name)
        self.publisher.wake()


def _heading(title: str) -> str:
    return f'<h3 class="wb-figure-title">{html.escape(title)}</h3>'


class _Drawn:
    """A view that is made only when it is shown, and again for another run."""

    def __init__(self, kind: Callable[..., RunView]) -> None:
        self.view: RunView | None = None
        self.box = widgets.VBox()
        self._kind = kind
        self._run: RunSource | None = None
        self._hidden = True

    def forget(self, run: RunSource | None) -> None:
        view, self.view, self._run = self.view, None, run
        if view is not None:
            view.close()
        self._fill(*([] if run is None else [widgets.HTML(DRAWING)]))

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
        self.view = view
        # Forgotten while it was made, perhaps just before it could be shown here.
        if run is not self._run:
            self.view = None
            view.close()
            return
        view.hidden = self._hidden
        self._fill(view.box)
        publisher.wake()

    def _say(self, run: RunSource, sentence: str) -> None:
        if run is self._run:
            self._fill(widgets.HTML(html.escape(sentence)))

    def _fill(self, *content: widgets.Widget) -> None:
        before, self.box.children = self.box.children, content
        for child in before:
            close_all(child)
