"""A browser that is not there: it keeps what a view sends and answers as the page would."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ipywidgets.widgets.widget import _instances

from tests.live.states import ENDLESS, run_in, view_in  # noqa: F401  fixtures
from tests.waiting import LIMIT, LONGEST, until
from workbench.live.ui.view import sheet
from workbench.run import Session, configure
from workbench.run.setup import prepare as setup


@pytest.fixture(autouse=True)
def status_lines_are_read(request, monkeypatch, brief_measurements):
    """As by a page. Without one a status line keeps progress back, which is what its own tests are about."""
    if request.path.name != "test_status.py":
        monkeypatch.setattr("workbench.live.ui.status.PATIENCE", 10**9)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests here wait for runs, for threads and for pictures."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(LONGEST))


class Page:
    """The other end of a view's link. It acknowledges each message unless it is `slow`."""

    def __init__(self, view: Any) -> None:
        self.received: list[tuple[dict[str, Any], bytes]] = []
        self.slow = False
        self._view = view
        view.link._send = self._take
        self.reload()

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [message for message, _ in self.received]

    @property
    def buffers(self) -> list[bytes]:
        return [buffer for _, buffer in self.received]

    def reload(self) -> None:
        """Show the view anew."""
        self._view.link.receive({"kind": "ready"})

    def paint(self) -> None:
        """Acknowledge all that came."""
        if self.messages:
            self._view.link.receive({"kind": "ack", "seq": self.messages[-1]["seq"]})

    def curves(self) -> dict[int, np.ndarray]:
        """What the page would have drawn: the samples of each curve, put together from the messages."""
        drawn: dict[int, list[np.ndarray]] = {}
        for message, buffer in list(self.received):
            if message["reset"]:
                drawn = {}
            samples = np.frombuffer(buffer, np.float32)
            for reported in message["curves"]:
                own = drawn.setdefault(reported["key"], [])
                assert reported["first"] == sum(part.size for part in own), "a gap in the stream"
                own.append(samples[: reported["count"]])
                samples = samples[reported["count"] :]
        return {key: np.concatenate(parts) for key, parts in drawn.items()}

    def _take(self, message: dict[str, Any], buffers: list[bytes]) -> None:
        self.received.append((message, b"".join(buffers)))
        if not self.slow:
            self.paint()


def page_says(widget: Any, content: Any, buffers: Sequence[bytes] = ()) -> None:
    """A message of the page to a widget, as its link brings it."""
    data = {"method": "custom", "content": content}
    widget.comm.handle_msg({"content": {"data": data}, "buffers": list(buffers)})


def upload(widget: Any, name: str, content: bytes) -> None:
    """A file that is given to a page, to a button that takes it."""
    file = {"name": name, "type": "", "size": len(content), "content": content, "last_modified": 0}
    widget.set_state({"value": [file]})


def ended(problem: str = "two-layer", *, trace: bool = False, **choices: Any) -> Session:
    """A session of this configuration that has ended."""
    session = Session(configure(problem, **choices), trace=trace)
    session.wait(LIMIT)
    return session


@pytest.fixture
def opened() -> Iterator[Callable[[Any], Any]]:
    """Returns the view that it is given, and closes it when the test has ended."""
    views: list[Any] = []

    def keep(view: Any) -> Any:
        views.append(view)
        return view

    yield keep
    for view in reversed(views):
        view.close()


def widgets() -> set[str]:
    """The widgets that are open, by their ids. ipywidgets has no public list of them."""
    # It stays as long as the kernel.
    sheet()
    return set(_instances)


@pytest.fixture
def page(view: Any) -> Page:
    """The page of the `view` that a file of tests is about."""
    return Page(view)


@pytest.fixture
def page_of() -> Callable[[Any], Page]:
    return Page


@pytest.fixture
def downloads() -> Callable[[Any], Callable[[], list[tuple[str, bytes]]]]:
    """Files that a page would have saved, by name and content; call it with the widget that sends them."""

    def connected(download: Any) -> Callable[[], list[tuple[str, bytes]]]:
        files: list[tuple[str, bytes]] = []

        def take(message: dict[str, Any], buffers: list[bytes]) -> None:
            files.append((message["name"], b"".join(buffers)))
            page_says(download, {"kind": "saved", "number": message["number"]})

        download.send = take
        return lambda: list(files)

    return connected


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Says from now on that this is a page that Voila serves, at an address that ends with this query."""

    def serve(query: str = "") -> None:
        monkeypatch.setenv("SERVER_SOFTWARE", "voila/0.5")
        monkeypatch.setenv("QUERY_STRING", query)

    return serve


@pytest.fixture
def held_setup(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, threading.Event]:
    """Holds each run as it assembles its problem: set when it has begun to, and what lets it go on."""
    inside, on, assemble = threading.Event(), threading.Event(), setup.assembled

    def slow(*about: Any) -> Any:
        inside.set()
        on.wait(LIMIT)
        return assemble(*about)

    monkeypatch.setattr(setup, "assembled", slow)
    return inside, on


@pytest.fixture
def eventually() -> Callable[..., Any]:
    return until
