"""The player's buttons. Each is enabled only where it makes sense."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as widgets

from workbench.run import State

Act = Callable[[], object]
ENDED = (State.IDLE, State.DONE, State.FAILED)


class Controls:
    """Run, Pause or Resume, Step, Stop."""

    def __init__(self, run: Act, pause: Act, step: Act, stop: Act) -> None:
        self.run = button("Run", "start a run of what the form says", run, style="primary")
        self.pause = button("Pause", "hold the run; Resume lets it go on", pause)
        self.step = button("Step", "make one iteration and hold; also starts a run", step)
        self.stop = button("Stop", "end the run; what was computed stays", stop, style="danger")
        self.box = widgets.HBox([self.run, self.pause, self.step, self.stop])
        self.box.add_class("wb-buttons")
        self.show(State.IDLE)

    def show(self, state: State) -> None:
        """Enable what the state allows; only changes are sent."""
        ended = state in ENDED
        paused = state is State.PAUSED
        self.run.disabled = not ended
        self.pause.disabled = not (paused or state is State.RUNNING)
        self.pause.description = "Resume" if paused else "Pause"
        self.step.disabled = not (ended or paused)
        self.stop.disabled = ended


def button(text: str, tooltip: str, act: Act, *, style: str = "", width: str = "84px") -> widgets.Button:
    """A button with words on it, no icon that would have to be loaded from elsewhere."""
    made = widgets.Button(description=text, tooltip=tooltip, button_style=style, layout={"width": width, "margin": "0"})
    made.on_click(lambda _button: act())
    return made
