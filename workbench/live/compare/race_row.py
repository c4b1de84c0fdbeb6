"""One lane of a race on the page."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as widgets

from workbench.figures import curve_style
from workbench.live.compare.race_text import row
from workbench.live.kit.controls import button
from workbench.live.plots.convergence import Curve
from workbench.live.transport.closing import close_all
from workbench.run import RaceEntry
from workbench.run.ranking import Finish

Act = Callable[[RaceEntry], object]


class LaneRow:
    """A lane's numbers and buttons."""

    def __init__(self, lane: RaceEntry, curve: Curve, toggle: Act, stop: Act, remove: Act) -> None:
        self.lane, self.curve = lane, curve
        self.text = widgets.HTML()
        self.pause = button("Pause", f"hold lane {lane.number}, or let it go on", lambda: toggle(lane), width="68px")
        self.stop = button(
            "Stop", f"end lane {lane.number}; what it has computed stays", lambda: stop(lane), width="60px"
        )
        self.remove = button("Remove", f"take lane {lane.number} away", lambda: remove(lane), width="76px")
        self.box = widgets.HBox([self.text, self.pause, self.stop, self.remove]).add_class("wb-lane")

    def show(self, finish: Finish | None, measure: str) -> None:
        self.text.value = row(self.lane, curve_style(self.curve.style), finish, measure)
        self.pause.disabled = self.stop.disabled = self.lane.ended
        self.pause.description = "Resume" if self.lane.held else "Pause"

    def close(self) -> None:
        close_all(self.box)
