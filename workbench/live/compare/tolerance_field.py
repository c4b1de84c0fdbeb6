"""A tolerance to type."""

from __future__ import annotations

import math
from collections.abc import Callable

import ipywidgets as widgets

from workbench.live.ui.form_fields import as_text


class ToleranceField:
    """A field for a relative residual. Display `box`.

    changed: called with every new value. complain: with a sentence for a text that is no tolerance, for which the field
    shows the present one again, and "" after a good one.
    """

    def __init__(self, value: float, changed: Callable[[float], None], complain: Callable[[str], None]) -> None:
        self.value = value
        self.own = False
        """Set where the value was chosen here, not taken over by `reset`."""
        self._changed, self._complain = changed, complain
        self._quiet = False
        self.box = widgets.Text(description="tolerance", continuous_update=False, layout={"width": "auto"})
        self.box.tooltip = "any relative residual ‖r‖ / ‖b‖ above 0; the line on the plot can be dragged too"
        self._show()
        self.box.observe(lambda change: self._quiet or self._read(change["new"]), "value")

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
        self.box.value = as_text(self.value)
        self._quiet = False
