"""What views have in common whose jobs a controller runs."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from workbench.live.solve.controller import Controller


class ControlledView:
    """Pause, resume and stop of the jobs of a view, and the display of its box."""

    controller: Controller
    box: widgets.Box

    def pause(self) -> None:
        """Hold all jobs."""
        self.controller.pause()

    def resume(self) -> None:
        """Resume all held jobs, one after another."""
        self.controller.resume()

    def stop(self) -> None:
        """End the present job; what was computed stays, and the next in the queue begins."""
        self.controller.stop()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)
