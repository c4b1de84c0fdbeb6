"""The controls that add an entry to a race: a form of its method, and a button for each variation of the first one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.live.compare.race_opening import VARIATIONS, variations
from workbench.live.solve.controller import Controller
from workbench.live.solve.form import method_form
from workbench.live.ui.controls import button, column, folds, row
from workbench.run import Configuration

ADD = "one more entry, with these blocks"


class EntryAdding:
    """Display `chips`, and `box` below it.

    controller: says what goes wrong. base: returns the configuration whose system an entry solves. add: adds an entry
    with the method of a configuration; raises InputError.
    """

    def __init__(
        self,
        controller: Controller,
        base: Callable[[], Configuration],
        add: Callable[[Configuration], object],
    ) -> None:
        self._controller, self._add = controller, add
        self.button = button("Add entry", ADD, self._press)
        self._correct = button("", "make these changes in the form above", lambda: self.form.correct(), width="auto")
        self.form = method_form(base(), base, self._offer)
        self._offer()
        self.variations = {
            words: button(f"+ {words}", "", controller.attempt(self._adding(words), "adding an entry"))
            for words in VARIATIONS
        }
        """A button for each variation of the first entry; those that the race has, or that do not fit, are hidden."""
        for chip in self.variations.values():
            chip.layout.display = "none"
        self.chips = row("wb-buttons", *self.variations.values())
        self._entries: tuple[Configuration, ...] | None = None
        """The entries that the variations are of."""
        form = column("", self.form.box, row("wb-buttons", self.button, self._correct))
        self.box = folds(("Add a method", form))

    def fold(self, *, folded: bool) -> None:
        """Fold the form away, or show it."""
        self.box.selected_index = None if folded else 0

    def offer_variations(self, entries: Sequence[Configuration]) -> None:
        """Show the buttons of the variations that these entries leave, where entries have changed."""
        if tuple(entries) == self._entries:
            return
        self._entries = tuple(entries)
        offered = variations(self._entries)
        for words, chip in self.variations.items():
            chip.layout.display = None if words in offered else "none"
            chip.tooltip = f"add {offered[words].label}" if words in offered else ""

    def _adding(self, words: str) -> Callable[[], object]:
        return lambda: self._add(variations(self._entries or ())[words])

    def _offer(self) -> None:
        """Disable adding an entry while system or device refuse it, and offer changes that allow it."""
        self.button.disabled = bool(self.form.conflicts)
        self.button.tooltip = self.form.conflict or ADD
        self._correct.description = self.form.correction
        self._correct.layout.display = None if self.form.correction else "none"

    def _press(self) -> None:
        self._controller.complain("")
        self._controller.attempt(lambda: self._add(self.form.configuration()), "adding an entry")()
