"""What views share that draw pictures of a run with Matplotlib: whose run it is, and how often it may be painted."""

from __future__ import annotations

import dataclasses
import io
import threading
import time
from typing import Any

import ipywidgets as widgets
from matplotlib.figure import Figure

from workbench.errors import InputError
from workbench.live.transport.closing import close_all
from workbench.live.transport.publisher import Publisher
from workbench.problems import LinearSystem
from workbench.recording import History, Record, Trace
from workbench.run import Configuration, Result, Run, Session, State
from workbench.run.report import provenance_of

WIDTH, DPI = 760, 140
"""Pixels of the page that a picture takes, and dots an inch of what is sent: sharp on fine screens too."""
SHARE = 0.1
"""Of the time while a run goes on that painting may take: Matplotlib keeps Python's lock, which the run needs too."""
PAINTING = threading.Lock()
"""Matplotlib serves one thread at a time."""


@dataclasses.dataclass(frozen=True, eq=False)
class Watched:
    """A run that goes on or has ended, in whatever form it was given."""

    given: Session | Run | Result | Record

    @property
    def run(self) -> Run | None:
        """The run itself, while it is in memory."""
        return (
            self.given.run if isinstance(self.given, Session) else self.given if isinstance(self.given, Run) else None
        )

    @property
    def history(self) -> History | None:
        """None before the setup of a session is done."""
        if isinstance(self.given, Session):
            return self.given.run.history if self.given.run else None
        return self.given.history

    @property
    def trace(self) -> Trace | None:
        """None where the run is not traced."""
        if isinstance(self.given, Session):
            return self.given.run.trace if self.given.run else None
        return self.given.trace

    @property
    def busy(self) -> bool:
        """The machine is at work on it just now."""
        return isinstance(self.given, Session) and self.given.state in (State.SETUP, State.RUNNING)

    @property
    def over(self) -> bool:
        """Nothing will be added."""
        return not isinstance(self.given, Session) or self.given.state in (State.DONE, State.FAILED)

    @property
    def error(self) -> str:
        """The sentence of a session that failed."""
        return self.given.error if isinstance(self.given, Session) else ""

    @property
    def title(self) -> str:
        """Problem and blocks."""
        if isinstance(self.given, (Session, Run)):
            return f"{self.given.configuration.problem.label}, {self.given.configuration.label}"
        record = self.given if isinstance(self.given, Record) else self.given.record()
        return f"{record.problem_label}, {record.label}"

    @property
    def file_title(self) -> str:
        """Title and time of the start, for the names of files: a second run of a configuration is written beside it."""
        return f"{self.title} {self.provenance.get('started', '')}".strip()

    @property
    def unknowns(self) -> int | None:
        """N, or None before it is known."""
        if isinstance(self.given, (Result, Record)):
            return int(self.given.summary["N"])
        return self.run.setup.operator.shape[0] if self.run else None

    @property
    def device(self) -> str:
        """The device's name, as it was asked for."""
        if isinstance(self.given, (Session, Run)):
            return self.given.configuration.device
        return str(self.given.summary["device"])

    @property
    def provenance(self) -> dict[str, Any]:
        """What it takes to make the run again, and where it was made."""
        if isinstance(self.given, (Result, Record)):
            return self.given.provenance
        return provenance_of(self.run.state) if self.run else {"configuration": self.given.configuration.to_dict()}

    def described(self) -> tuple[Configuration, LinearSystem | None]:
        """What was run. Raises InputError where a run that was loaded does not hold all of it.

        A run that has ended is described for the CPU, since its own device and cluster may not be here.
        """
        if isinstance(self.given, (Session, Run)):
            return self.given.configuration, self.run.setup.system if self.run else None
        try:
            made = Configuration.from_dict(self.given.provenance["configuration"])
            return dataclasses.replace(made, device="cpu", cluster=None, memory_limit=None), None
        except (KeyError, TypeError):
            raise InputError("the run does not say all of its configuration; run it again") from None


class Watching:
    """A box of widgets over a run. Subclasses say in `extent` how much there is to see, and `draw` it.

    While a run goes on it is drawn as often as takes a tenth of the time; a run that is held or has ended at once.
    """

    box: widgets.VBox

    def __init__(self, publisher: Publisher | None) -> None:
        self.watched: Watched | None = None
        self._alone, self.publisher = publisher is None, publisher or Publisher()
        self.hidden = False
        """Set while the box stands behind another tab: then nothing is drawn. Wake the publisher when it is seen."""
        self._lock = threading.RLock()
        self._shown: object = None
        self._next = 0.0

    def _ipython_display_(self) -> None:
        from IPython.display import display

        display(self.box)

    def extent(self) -> object:
        """Changes whenever there is more to see."""
        raise TypeError(f"{type(self).__name__} does not say how much there is to see")

    def draw(self) -> None:
        """Bring pictures and words up to date."""
        raise TypeError(f"{type(self).__name__} does not draw")

    def show(self) -> None:
        """Draw now, whatever the pace."""
        with self._lock:
            begun = time.monotonic()
            self._shown = self.extent()
            self.draw()
            now = time.monotonic()
            self._next = now + (now - begun) * (1 / SHARE - 1)

    def close(self) -> None:
        """Take it off the page for good; the run goes on."""
        self.publisher.remove(self.publish)
        if self._alone:
            self.publisher.close()
        close_all(self.box)

    def publish(self) -> bool:
        """Draw what is new when it is due; True while the run may go on. Called by the publisher's thread."""
        watched = self.watched
        if watched is None or self.hidden:
            return False
        # Before looking, so that what was added meanwhile is seen in the next tick.
        over = watched.over
        with self._lock:
            if self.extent() != self._shown and (not watched.busy or time.monotonic() >= self._next):
                self.show()
        return not over


def paint(image: widgets.Image, figure: Figure) -> None:
    """Put a figure into a widget."""
    png = io.BytesIO()
    with PAINTING:
        figure.savefig(png, format="png", dpi=DPI)
    image.value = png.getvalue()
    image.layout.display = None


def picture() -> widgets.Image:
    """A place for a figure, hidden until one is painted."""
    return widgets.Image(format="png", width=WIDTH, layout={"object_fit": "contain", "display": "none"})
