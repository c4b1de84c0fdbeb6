"""The browser's copy of a served page: runs that have a result, the race, and in the address problem and view."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Callable
from typing import Any

import traitlets

from workbench.errors import InputError, error_message
from workbench.live.runs.runs_page import ENDING, open_bytes, save_list
from workbench.live.transport.worker import InOrder
from workbench.live.ui.assets import module
from workbench.live.ui.files import written
from workbench.live.ui.page_link import LONGEST_ADDRESS
from workbench.live.ui.run_list import ListedRun, RunList
from workbench.live.ui.view import LiveWidget
from workbench.run import Configuration
from workbench.run.choices.share_link import from_link, to_link
from workbench.run.jobs.race_codec import from_link as from_race_link
from workbench.run.jobs.race_codec import to_link as to_race_link
from workbench.run.jobs.race_record import RaceRecord

RUN_BYTES = 8 << 20
"""Bytes of the file of one run, at most; the websocket of the page takes 10 MiB at once."""
ALL_BYTES = 64 << 20
"""Bytes of all runs that a browser keeps, at most; the oldest go first."""
DAYS = 14
"""Days after its last change until a session is forgotten."""
LONGEST_TOKEN = 64
HIGHEST_NUMBER = 1_000_000
"""The highest number that a run from the browser keeps."""
KEPT = (
    f"This browser keeps runs with a result for {DAYS} days: up to {RUN_BYTES >> 20} MB each, "
    f"{ALL_BYTES >> 20} MB together."
)
NOT_KEPT = "The server keeps nothing."
COLLECTED = "The server keeps them for the teacher until it ends."
Known = tuple[str, object]


class Keeper(LiveWidget):
    """The runs of a list, each as a file of `save_list` with one run, in the storage of the browser alone.

    Each load of a served page starts a kernel that knows nothing; the page then sends back what it kept. runs: the list
    of the page. show: shows the problem and the view of a session that is opened again; recall: shows a race; both are
    called in a thread. collected: the runs are sent to a teacher too.
    """

    _esm = module("app/keeper.js")
    link = traitlets.Unicode().tag(sync=True)
    """The share link of the present problem and method; empty before one is known."""
    view = traitlets.Unicode().tag(sync=True)
    """The part in front, as "compare.race"."""
    race = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    """The link of the race as it is; empty for one without entries, None before the race is known."""
    busy = traitlets.Bool(False).tag(sync=True)
    """Set while a run is active, which would be lost if the page were left."""
    said = traitlets.Unicode().tag(sync=True)
    """A sentence on what could not be kept or opened."""
    bounds = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        runs: RunList,
        show: Callable[[Configuration, str], object],
        recall: Callable[[RaceRecord], object] = lambda _race: None,
        *,
        collected: bool = False,
    ) -> None:
        words = f"{KEPT} {COLLECTED if collected else NOT_KEPT}"
        bounds = {"bytes": ALL_BYTES, "days": DAYS, "address": LONGEST_ADDRESS, "words": words}
        super().__init__(bounds=bounds)
        self._runs, self._show, self._recall = runs, show, recall
        self._known: dict[int, Known] = {}
        """The name in the storage, and the facts when it was sent, of each run by its number."""
        self._worker = InOrder("workbench-keep")
        self.on_msg(self._receive)
        runs.on_change(self._changed)

    def place(self, configuration: Configuration, view: str) -> None:
        """Let the address open this problem and view. Raises InputError for a configuration that no link holds."""
        link = to_link(configuration)
        with self.hold_sync():
            self.link, self.view = link, view

    def keep_race(self, present: Callable[[], RaceRecord]) -> None:
        """Keep the race that `present` returns in the thread of the keeper."""

        def keep() -> None:
            try:
                race = present()
                self.race = to_race_link(race) if race.entries else ""
            # One of a method that no link holds, or a longer one, leaves what was kept.
            except InputError as error:
                self.said = f"The race is not kept: {error}"

        self._worker.ask(keep, "race")

    def wait(self, timeout: float) -> bool:
        """Wait until all is sent and opened; False when that takes longer."""
        return self._worker.wait(timeout)

    def close(self) -> None:
        """Keep nothing more."""
        self._runs.forget(self._changed)
        self._worker.close()
        super().close()

    def _changed(self) -> None:
        self._worker.ask(self._keep, "keep")

    def _keep(self) -> None:
        """Send runs that are new or have changed since they were sent."""
        listed = self._runs.runs
        active = any(run.active for run in listed)
        present = {run.number for run in listed}
        gone = [number for number in self._known if number not in present]
        if gone:
            self.send({"kind": "drop", "tokens": [self._known.pop(number)[0] for number in gone]})
        for run in listed:
            token, before = self._known.get(run.number, (secrets.token_hex(16), None))
            if not run.active and run.record is not None and before != _facts(run):
                self._known[run.number] = (token, _facts(run))
                self._hand_over(run, token)
        # Ended runs are sent first, since leaving the page before would lose them.
        self.busy = active

    def _hand_over(self, run: ListedRun, token: str) -> None:
        try:
            file = packed(run)
        # Nothing else would report it to the user.
        except Exception as error:
            self.said = f"Run {run.number} is not kept: {error_message(error, 'keeping it')}"
            return
        if len(file) > RUN_BYTES:
            size, most = len(file) >> 20, RUN_BYTES >> 20
            self.said = f"Run {run.number} has {size} MB. This browser keeps at most {most} MB of a run; save it."
            return
        self.send({"kind": "keep", "token": token, "order": run.number}, [file])

    def _receive(self, _widget: object, content: Any, buffers: list[memoryview]) -> None:
        kind = content.get("kind") if isinstance(content, dict) else None
        if kind == "run" and buffers:
            token, packed = str(content.get("token", ""))[:LONGEST_TOKEN], bytes(buffers[0])
            order = content.get("order")
            number = order if isinstance(order, int) and 0 < order <= HIGHEST_NUMBER else 0
            self._worker.ask(lambda: self._restore(token, packed, number))
        elif kind == "place":
            link, view = str(content.get("link", "")), str(content.get("view", ""))
            self._worker.ask(lambda: self._reopen(link, view))
        elif kind == "race":
            race = str(content.get("link", ""))
            self._worker.ask(lambda: self._restore_race(race))

    def _restore(self, token: str, packed: bytes, number: int) -> None:
        """Add a run from the storage to the list, with its number where that is free; its place in the storage
        stays."""
        try:
            for run in open_bytes(self._runs, "A run that this browser kept", packed, number):
                self._known[run.number] = (token, _facts(run))
        # Nothing else would report it to the user.
        except Exception as error:
            self.said = error_message(error, "opening what was kept")

    def _restore_race(self, link: str) -> None:
        try:
            self._recall(from_race_link(link))
        # Nothing else would report it to the user.
        except Exception as error:
            self.said = f"The race that this browser kept cannot be opened: {error_message(error, 'opening it')}"

    def _reopen(self, link: str, view: str) -> None:
        try:
            self._show(from_link(link), view)
        except InputError as error:
            self.said = f"The problem that this browser kept cannot be opened: {error}"


def packed(run: ListedRun) -> bytes:
    """The file of `save_list` with this run alone, without its film. Raises InputError as that does.

    Every run of every page of a class is sent over the network, and a film is ten times the rest.
    """
    if run.record is not None:
        run = dataclasses.replace(run, source=dataclasses.replace(run.record, film=None), _record=None)
    (file,) = written(lambda folder: [save_list([run], folder / f"run{ENDING}")])
    return file.content


def _facts(run: ListedRun) -> object:
    """The fields that the list may change after the end of a run."""
    return run.name, run.style, run.pinned, run.hidden
