"""The button that runs one problem on the cores and on an accelerator, and its latest two runs."""

from __future__ import annotations

from collections.abc import Callable

from workbench import devices
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.controls import button
from workbench.live.ui.rows import row
from workbench.live.ui.status import StatusLine
from workbench.run import BothDevices, Session

TIP = "run what the form says on the cores and on an accelerator; the kernels of both fill lanes on one time axis"
ALONE = "There is no accelerator here; with PoCL installed, OpenCL makes the cores one."


class BothBar:
    """act: the action of the button, in a thread of its own, since creating a device takes seconds."""

    def __init__(self, act: Callable[[], None]) -> None:
        self._worker = LatestOnly("workbench-both")
        self._latest: BothDevices | None = None
        self.button = button("Run on cores and accelerator", TIP, lambda: self._worker.ask(act), width="auto")
        self.note = StatusLine()
        """The line that says if these run at once or one after the other."""
        if not {"opencl", "cuda"} & {*devices.names()}:
            self.button.disabled = True
            self.note.say(ALONE)
        self.box = row("wb-buttons", self.button, self.note)

    def keep(self, both: BothDevices) -> None:
        """Keep these two runs as the latest."""
        self._latest = both
        self.note.say(both.sentence)

    def with_other(self, run: object) -> tuple[Session, ...]:
        """Both runs, where this is one of the latest two; else none."""
        return self._latest.runs if self._latest and run in self._latest.runs else ()

    def close(self) -> None:
        """Keep no run."""
        self._worker.close()
        self._latest = None
