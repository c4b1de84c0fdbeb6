"""Looking into any of the runs that an explorer has made: which one, and the views on it."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from workbench.live._closing import close_all
from workbench.live.explorer import Explorer
from workbench.live.inside import Given, InsideView


class InsidePage:
    """Display it. The menu holds the run that goes on and those that have ended; `renew` looks for new ones."""

    def __init__(self, explorer: Explorer) -> None:
        self._explorer = explorer
        self._shown: Given | None = None
        self.choice = widgets.Dropdown(
            description="run", layout={"width": "min(560px, 100%)"}, style={"description_width": "initial"}
        )
        self.inside = InsideView(publisher=explorer.publisher, folder=explorer.folder)
        self.box = widgets.VBox([self.choice, self.inside.box]).add_class("wb-explorer").add_class("wb-insidepage")
        self.choice.observe(lambda change: self._follow(change["new"]), "value")
        self.renew()

    def renew(self) -> None:
        """Offer the runs as they are now, and show the latest where there is a new one."""
        runs = self._explorer.runs
        before = self.choice.options
        newest = bool(runs) and (not before or runs[0][0] != before[0][0])
        kept = self.choice.label
        self.choice.options = runs
        names = [name for name, _ in runs]
        if runs:
            self.choice.index = 0 if newest or kept not in names else names.index(kept)
        self.choice.disabled = not runs

    def hide(self, hidden: bool) -> None:
        """While it stands behind another page nothing is drawn."""
        self.inside.hide(hidden)

    def close(self) -> None:
        """Take it off the page."""
        self.inside.close()
        close_all(self.box)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)

    def _follow(self, run: Given | None) -> None:
        if run is not None and run is not self._shown:
            self._shown = run
            self.inside.follow(run)
