"""The player's buttons. Each is enabled only where it makes sense."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as widgets

from workbench.run import State

Act = Callable[[], object]
ENDED = (State.IDLE, State.DONE, State.FAILED)
RUN = "run what the form says; while another run is active it is queued"


class Controls:
    """Run, Pause or Resume, Step, Stop, Stop all."""

    def __init__(self, run: Act, pause: Act, step: Act, stop: Act, stop_all: Act) -> None:
        self.run = button("Run", RUN, run, style="primary")
        self.pause = button("Pause", "hold the run and those that are queued; Resume lets them go on", pause)
        self.step = button("Step", "make one iteration and hold; also starts a run", step)
        self.stop = button("Stop", "end the run; what was computed stays", stop, style="danger")
        self.stop_all = button("Stop all", "end the run, and take those that are queued out of the queue", stop_all)
        self.box = widgets.HBox([self.run, self.pause, self.step, self.stop, self.stop_all])
        self.box.add_class("wb-buttons")
        self.show(State.IDLE)

    def show(self, state: State, alive: int = 0, why_not: str = "") -> None:
        """Enable what the state of the present run allows, and the number of those that have not ended.

        why_not: why what the form says cannot be run, which is then the tooltip of Run. Only changes are sent.
        """
        ended = state in ENDED
        paused = state is State.PAUSED
        self.run.disabled = bool(why_not)
        self.run.tooltip = f"cannot run: {why_not}" if why_not else RUN
        self.pause.disabled = not (paused or state is State.RUNNING)
        self.pause.description = "Resume" if paused else "Pause"
        self.step.disabled = not (paused or (ended and not why_not))
        self.stop.disabled = ended
        self.stop_all.disabled = alive < 2


def button(text: str, tooltip: str, act: Act, *, style: str = "", width: str = "84px") -> widgets.Button:
    """A button with words on it, no icon that would have to be loaded from elsewhere."""
    made = widgets.Button(description=text, tooltip=tooltip, button_style=style, layout={"width": width, "margin": "0"})
    made.on_click(lambda _button: act())
    return made
