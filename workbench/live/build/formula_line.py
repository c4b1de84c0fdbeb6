"""A line for a formula with a sentence below it, which says what is wrong while one types."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import ipywidgets as widgets
import numpy as np

from workbench.errors import InputError
from workbench.live.kit.block_fields import WIDE
from workbench.problems.formula import Formula

NARROW = {"description_width": "60px"}
"""Builders have short names and long formulas."""


class FormulaLine:
    """One field and its hint. `parts` are what to put on the page.

    changed: called with every key. empty: what an empty field means, or "" where it must not be empty.
    """

    def __init__(self, name: str, about: str, empty: str, changed: Callable[[], None]) -> None:
        self.field = widgets.Text(
            description=name,
            tooltip=about,
            placeholder=empty,
            continuous_update=True,
            style=dict(NARROW),
            layout=dict(WIDE),
        )
        self.hint = hint()
        self.parts = (self.field, self.hint)
        self._empty = empty
        self.field.observe(lambda _change: changed(), "value")

    @property
    def text(self) -> str:
        """What stands in the field."""
        return str(self.field.value)

    def parses(self, axes: tuple[str, ...]) -> bool:
        """Whether it is a formula of these axes; otherwise the hint says where it is not."""
        if self._empty and not self.text.strip():
            self.hint.value = self._empty
            return True
        try:
            Formula.parse(self.text, axes)
        except InputError as error:
            self.complain(str(error))
            return False
        return True

    def complain(self, sentence: str) -> None:
        """Say what is wrong."""
        self.hint.value = f'<span class="wb-wrong" role="alert">{escape(sentence)}</span>'

    def span(self, values: np.ndarray) -> None:
        """Say between which values the formula lies."""
        low, high = values.min(), values.max()
        self.hint.value = f"{low:.4g} everywhere" if low == high else f"{low:.4g} to {high:.4g}"


def hint(text: str = "") -> widgets.HTML:
    """A small line below a field."""
    return widgets.HTML(text).add_class("wb-hint")
