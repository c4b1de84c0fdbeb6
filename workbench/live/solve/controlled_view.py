"""Base classes of views whose jobs a controller runs."""

from __future__ import annotations

import ipywidgets as widgets

from workbench.live.solve.controller import Controller
from workbench.live.ui.view import View


class ControlledView(View):
    """Stop of the jobs of a view, and the display of its box."""

    controller: Controller
    box: widgets.Box

    def stop(self) -> None:
        """End the present job; its results so far stay. A job that cannot be interrupted ends in the background."""
        self.controller.stop()


class PausableView(ControlledView):
    """A view whose jobs can be held too."""

    def pause(self) -> None:
        """Hold all jobs."""
        self.controller.pause()

    def resume(self) -> None:
        """Resume all held jobs, one after another."""
        self.controller.resume()
