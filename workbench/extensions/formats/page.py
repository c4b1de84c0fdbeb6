"""The view Storage: words, padding and times of a product by format, a picture of each, and the choice."""

from __future__ import annotations

import contextlib
import dataclasses
import html
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from workbench.errors import InputError, error_message
from workbench.extensions.formats.comparison import (
    CONVERSIONS,
    ROUNDS,
    FormatFacts,
    Storage,
    form_title,
    storage_of,
    why_not,
)
from workbench.extensions.formats.measured import medians, products_of
from workbench.extensions.formats.scenes import scenes_of
from workbench.live.field.preview import NotYetError, check_size
from workbench.live.plots.chart import ChartStack
from workbench.live.solve.controller import ControlledView, Controller
from workbench.live.transport.publisher import Publisher
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.controls import row as line
from workbench.live.ui.extension_view import ExtensionView
from workbench.live.ui.sort_table import SortTable
from workbench.problems import Problem
from workbench.run import MACHINE, Configuration, State, Stopping, configure
from workbench.run.jobs.run_queue import QueueSlot
from workbench.run.jobs.thread_job import ThreadJob
from workbench.run.machine_use import MACHINE_USE, sharing
from workbench.settings import COMPACT, GIVEN_FORM
from workbench.words.numbers import amount, count, duration, number, percent

if TYPE_CHECKING:
    from workbench.live import Workbench

CONVERTED, IN_PRODUCTS = "Conversion", "In products"
COLUMNS = (
    "Format", "Words", "Words per row", "Padding", "Bytes per product", "Time here", "GB/s", CONVERTED, IN_PRODUCTS,
    "In a run",
)  # fmt: skip
LOW, LOWER = ["GB/s", IN_PRODUCTS], ["Words per row", "Bytes per product"]
LEGEND = (
    "Press a row for its picture. A word has 8 bytes. Bold: the fewest bytes by the model. Each time is the median of "
    "{} products, made in turns, short ones repeated. Conversion: from CSR, the median of {}, and as how many products "
    "in CSR it counts"
)
MOST_AT_ONCE = 1 << 19
"""Unknowns up to which a matrix is assembled unasked."""
VERBS = (
    {
        "name": "take",
        "title": "Use",
        "tip": "put this format into the form of Solve",
        "one": True,
        "off": "see “In a run”",
    },
)


class StorageView(ExtensionView, ControlledView):
    """A matrix in every format: words, bytes, and the time of a product. Display it; press Measure. `storage` holds the
    facts of the matrix, `seconds` the medians so far.

    base: a configuration, or a problem; by default one that is drawn entry by entry. take: called with the
    configuration that has the format chosen; without it that of the view, `base`, changes. chosen: returns the
    configuration to show when the view is turned to again. Measuring uses the machine in the order of the run queue. A
    matrix of more than 2^19 unknowns, a large file, or one that is downloaded waits until Measure is pressed.

    Examples:
        >>> from workbench.live import StorageView
        >>> view = StorageView("poisson5:8")
        >>> view.wait()
        True
        >>> view.close()
    """

    def __init__(
        self,
        base: Configuration | Problem | str | None = None,
        take: Callable[[Configuration], object] | None = None,
        chosen: Callable[[], Configuration] | None = None,
    ) -> None:
        base = configure("two-layer", n=4, deflation="stripes") if base is None else base
        self.base = base if isinstance(base, Configuration) else configure(base)
        self.publisher = Publisher()
        self.on_take, self._chosen = take, chosen
        self.storage: Storage | None = None
        self.seconds: dict[tuple[str, str], float] = {}
        """Seconds of a product, by setting and value."""
        self.converted: dict[tuple[str, str], float] = {}
        """Seconds of a conversion from CSR."""
        self._error, self._known, self._rounds, self._shared = "", None, 0, ""
        self._of_job: Configuration | None = None
        self._worker = LatestOnly("workbench-storage")
        self._job: ThreadJob | None = None
        self._drawn: Any = None
        self.controller = Controller(
            self.publisher,
            self.measure,
            lambda _job, state: self._words(state),
            refresh=self._refresh,
            pauses=False,
            starting=lambda: "Measure",
            about="time a product in every format, in turns",
        )
        self.status = self.controller.bar
        self.table = SortTable(self._act, empty="Formats are listed here once A is assembled.", low=LOW, lower=LOWER)
        self.table.verbs, self.table.hint = list(VERBS), "Tick a format to use it."
        self.table.observe(lambda _change: self.publisher.wake(), "chosen")
        self.charts = ChartStack(self.publisher)
        self.note = widgets.HTML()
        halves = line("wb-halves", self.table, self.charts.box.add_class("wb-pair"), self.note)
        self.box = widgets.VBox([self.status, halves]).add_class("wb-explorer").add_class("wb-storage")
        self._look()
        self.controller.serve()

    def rebase(self, configuration: Configuration) -> None:
        """Show the matrix of this configuration, with its device and deflation."""
        if configuration != self.base:
            self.base = configuration
            self._look()
            self.publisher.wake()

    def renew(self) -> None:
        """Show the matrix that is chosen now."""
        if self._chosen is not None:
            self.rebase(self._chosen())

    def measure(self) -> ThreadJob:
        """Time products in the background; returns at once. Raises InputError while it is active."""
        if self._job is not None and self._job.working:
            raise InputError("products are being measured; press Stop first")
        self.seconds, self.converted, self._rounds = {}, {}, 0
        slot, base = QueueSlot(MACHINE), self.base
        self._of_job = _what_counts(base)
        self._job = job = ThreadJob(
            lambda: self._work(job, base), "workbench-storage", slot, on_end=lambda _job: self.publisher.wake()
        )
        self.controller.add(job)
        job.start()
        self.publisher.wake()
        return job

    def take(self, setting: str, value: str) -> Configuration:
        """Choose a format of A, or a form of AZ. Raises InputError for one that a run cannot have, with the reason."""
        found = next((each for at, each in self._forms if (at, each.value) == (setting, value)), None)
        if found is None or not value:
            raise InputError(f"this matrix has no {setting} {value}; choose a row of the table")
        if reason := why_not(found):
            raise InputError(f"{setting} {value} cannot be chosen: {reason}")
        self.base = dataclasses.replace(self.base, **{setting: value})
        if self.on_take is not None:
            self.on_take(self.base)
        self.publisher.wake()
        return self.base

    def wait(self, timeout: float = 60.0) -> bool:
        """Wait until the matrix is assembled; False when that takes longer."""
        return self._worker.wait(timeout)

    def close(self) -> None:
        """End the measurement and take everything off the page."""
        self.stop()
        self._worker.close()
        self.publisher.close()
        super().close()

    @property
    def _forms(self) -> list[tuple[str, FormatFacts]]:
        """All rows of the table, each with its setting."""
        if self.storage is None:
            return []
        return [("format", each) for each in self.storage.formats] + [("az", each) for each in self.storage.az_forms]

    def _look(self) -> None:
        """Assemble the matrix of the base, where it is another one and of moderate size."""
        known = _what_counts(self.base)
        if known == self._known:
            return
        self._known, self.storage, self._error = known, None, ""
        self.seconds, self.converted = {}, {}
        self._waits = _takes_long(self.base.problem)
        if not self._waits:
            self._worker.ask(lambda: self._assemble(self.base))

    def _assemble(self, base: Configuration) -> None:
        known = _what_counts(base)
        try:
            found, error = storage_of(base), ""
            # They cost passes over the matrix, which the page should not wait for.
            _ = found.formats, found.az_forms
        # No one else would report it to the user.
        except Exception as caught:
            found, error = None, error_message(caught, "assembling A")
        if known == self._known:
            self.storage, self._error = found, error
            self.publisher.wake()

    def _work(self, job: ThreadJob, base: Configuration) -> None:
        if not job.slot.held:
            job.slot.enqueue()
            job.slot.acquire(unless=lambda: job.stopping)
        if self.storage is None or _what_counts(base) != self._known:
            self._known = _what_counts(base)
            self._assemble(base)
        found = self.storage
        if found is None:
            raise InputError(self._error)
        with contextlib.closing(MACHINE_USE.watch()) as watch:
            for seconds in found.conversions():
                if job.stopping:
                    return
                self.converted = medians(seconds)
                self.publisher.wake()
            for seconds in found.rounds():
                if job.stopping:
                    break
                self._rounds, self.seconds, self._shared = self._rounds + 1, medians(seconds), sharing(watch.most)
                self.publisher.wake()

    def _words(self, state: State) -> tuple[str, str]:
        name, found, job = self.base.problem.label, self.storage, self._job
        if state is State.FAILED and job is not None and self._of_job == self._known:
            return f"{name}: {job.error}", "bad"
        if self._error:
            return f"{name}: {self._error}", "bad"
        if job is not None and job.alive:
            return f"{name}: {f'round {self._rounds} of {ROUNDS}' if self._rounds else 'conversions'}", "busy"
        if found is None:
            words = ("press Measure to assemble A", "plain") if self._waits else ("A is being assembled", "busy")
            return f"{name}: {words[0]}", words[1]
        head = f"{name}: {count(found.entries)} entries; {self._fastest()}"
        said = "; ".join(filter(None, (head, self._shared if self.seconds else "")))
        return said, "good" if self.seconds else "plain"

    def _fastest(self) -> str:
        found = self.storage
        assert found is not None
        of_a = {value: took for (setting, value), took in self.seconds.items() if setting == "format"}
        if not of_a:
            return "press Measure for the time of a product"
        best = min(of_a, key=lambda value: of_a[value])
        beaten = f", {number(of_a['csr'] / of_a[best])} times as fast as CSR" if best != "csr" and "csr" in of_a else ""
        return f"fastest here: {form_title('format', found.of(best))}, {duration(of_a[best])}{beaten}"

    def _refresh(self) -> None:
        forms, base, chosen = self._forms, self.base, list(self.table.chosen)
        shown = (self.storage, dict(self.seconds), dict(self.converted), base, tuple(chosen))
        if shown == self._drawn:
            return
        self._drawn = shown
        found = self.storage
        rows = [self._row(setting, each) for setting, each in forms]
        marks = ["best" if found is not None and each is found.choice else "" for _, each in forms]
        facts = [
            {
                "id": f"{setting}:{each.name}",
                "title": form_title(setting, each),
                "acts": ["take"] if each.value and not why_not(each) else [],
                "hidden": bool(why_not(each)),
            }
            for setting, each in forms
        ]
        self.table.show(COLUMNS, rows, marks, facts)
        if found is None:
            self.note.value = ""
            self.charts.show([])
            return
        said = [found.reason, LEGEND.format(ROUNDS, CONVERSIONS)]
        if self.seconds and self.converted:
            said.insert(1, found.pays(self.seconds, self.converted))
        said += [f"AZ: {found.no_az}"] if found.no_az else []
        picked = next((pair for pair, fact in zip(forms, facts, strict=True) if fact["id"] in chosen[-1:]), None)
        setting, each = picked or ("format", found.choice)
        if reason := why_not(each):
            said.insert(0, f"{form_title(setting, each)} cannot be chosen: {reason}")
        self.note.value = "".join(f'<p class="wb-note">{html.escape(each)}.</p>' for each in said)
        self.charts.show(scenes_of(found, setting, each))

    def _row(self, setting: str, each: FormatFacts) -> list[Any]:
        assert self.storage is not None
        took, reason = self.seconds.get((setting, each.value)) if each.value else None, why_not(each)
        stored_in = self.converted.get((setting, each.value))
        now = self.base.choices[setting] == each.value
        state = "chosen" if now else "no" if reason else "possible" if each.value else "–"
        name = ("A: " if setting == "format" else "AZ: ") + form_title(setting, each)
        return [
            name,
            {"key": each.words, "text": count(round(each.words))},
            each.words / self.storage.unknowns,
            {"key": each.padding, "text": percent(each.padding) if each.stored.values else "–"},
            {"key": each.moved, "text": amount(each.moved)},
            {"key": took, "text": duration(took)} if took else None,
            each.moved / took / 1e9 if took else None,
            {"key": stored_in, "text": duration(stored_in)} if stored_in else None,
            products_of(setting, stored_in, self.seconds),
            {"key": state, "text": state, "tip": reason},
        ]

    def _act(self, verb: str, rows: Sequence[Any], _value: str) -> None:
        if verb == "take" and rows:
            setting, _, name = str(rows[0]).partition(":")
            value = next((each.value for at, each in self._forms if (at, each.name) == (setting, name)), "")
            self.controller.attempt(lambda: self.take(setting, value))()


def on_page(page: Workbench) -> StorageView:
    """The formats of the matrix of the page; the form of Solve takes the one chosen."""
    return StorageView(page.configuration, page.load, lambda: page.configuration)


def _takes_long(problem: Problem) -> bool:
    """True if assembling waits until it is asked for."""
    try:
        check_size(problem)
    except (NotYetError, InputError):
        return True
    size = problem.known_size
    return size is not None and size.shape[0] > MOST_AT_ONCE


def _what_counts(base: Configuration) -> Configuration:
    """The parts of a configuration that determine its storage, among them those that may refuse a format."""
    return dataclasses.replace(base, format=GIVEN_FORM, az=COMPACT, stopping=Stopping())
