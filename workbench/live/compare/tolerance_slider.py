"""A tolerance to drag or to type."""

from __future__ import annotations

import math
from collections.abc import Callable

import ipywidgets as widgets

from workbench.live.ui.form_fields import as_text

ABOUT = "any relative residual ‖r‖ / ‖b‖ above 0"
POSITIONS = tuple(float(f"{digit}e-{power}") for power in range(1, 15) for digit in (5, 2, 1))


class ToleranceSlider:
    """A slider over 1, 2 and 5 times powers of ten, and a field for any other number. Display `box`.

    changed: called with every new value. complain: with a sentence for a text that is no
    tolerance, for which the field shows the present one again, and "" after a good one. The slider stands on numbers of
    a list, so that the page has nothing to round, which it would report as a turn.
    """

    def __init__(self, value: float, changed: Callable[[float], None], complain: Callable[[str], None]) -> None:
        self.value = value
        self.own = False
        """Whether the value was set here, and not taken over by `reset`."""
        self._changed, self._complain = changed, complain
        self._quiet = False
        self.slider = widgets.SelectionSlider(
            options=[(as_text(position), position) for position in POSITIONS],
            description="tolerance",
            tooltip=ABOUT,
            readout=False,
            layout={"flex": "1 1 240px", "max_width": "520px"},
        )
        self.number = widgets.Text(continuous_update=False, layout={"width": "100px"})
        self.number.tooltip = ABOUT
        self.box = widgets.HBox([self.slider, self.number])
        self._show()
        self.slider.observe(lambda change: self._quiet or self.set(change["new"]), "value")
        self.number.observe(lambda change: self._quiet or self._read(change["new"]), "value")

    def set(self, value: float) -> None:
        """Take a value, as if it had been typed."""
        self.reset(value)
        self.own = True

    def reset(self, value: float) -> None:
        """Take over the value of another view."""
        self.value, self.own = value, False
        self._show()
        self._complain("")
        self._changed(value)

    def _read(self, text: str) -> None:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if math.isfinite(value) and value > 0:
            self.set(value)
        else:
            self._show()
            self._complain(f"tolerance must be a number above 0, got {text!r}; it stays {as_text(self.value)}")

    def _show(self) -> None:
        self._quiet = True
        self.slider.value = min(POSITIONS, key=lambda position: abs(math.log(position / self.value)))
        self.number.value = as_text(self.value)
        self._quiet = False
