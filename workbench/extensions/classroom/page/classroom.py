"""The connection of a served page to its server: turns on the machine, short addresses, and a class."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import socket
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from workbench.errors import CLASS
from workbench.run.jobs.run_queue import CHECKS, MACHINE, RunQueue
from workbench.run.machine_use import MACHINE_USE

SECONDS = 5.0
"""Seconds for an answer of the server, which shares its thread with the pages that are being opened."""
SOON = 0.2
"""Seconds that a run waits for its turn before it counts as queued."""
Heard = Callable[[Mapping[str, Any]], object]


class Classroom:
    """The connection, until the kernel ends. Raises OSError and ValueError where the server takes no such page.

    facts: of the page, from the server; see `workbench.extensions.classroom.server.classroom`.
    """

    def __init__(self, port: int, token: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), SECONDS)
        self._lines = self._socket.makefile("rb")
        self._sending = threading.Lock()
        self._acts: defaultdict[str, list[Heard]] = defaultdict(list)
        self._changed = threading.Condition()
        self._codes: dict[str, str] = {}
        self.tell("hello", token=token)
        self.facts: dict[str, Any] = json.loads(self._lines.readline())
        self._socket.settimeout(None)
        self.on("short", self._take_code)
        # A cell that runs later shows what the teacher has opened by then.
        self.on("solutions", lambda message: self.facts.update(solutions=message["solutions"]))

    def listen(self) -> None:
        """Receive the messages of the server, in a thread."""
        threading.Thread(target=self._hear, name="workbench-class", daemon=True).start()

    def on(self, kind: str, act: Heard) -> None:
        """Call `act` with each message of a kind; in a thread, and it should return at once. Kind "lost": the end."""
        self._acts[kind].append(act)

    def tell(self, kind: str, **facts: object) -> None:
        """Send a message. Raises OSError once the server has ended."""
        with self._sending:
            self._socket.sendall(json.dumps({"kind": kind, **facts}).encode() + b"\n")

    def shorten(self, link: str) -> str:
        """The code of the short address of a share link; empty for one that is too long. Raises OSError."""
        with self._changed:
            self._codes.pop(link, None)
            self.tell("shorten", link=link)
            if not self._changed.wait_for(lambda: link in self._codes, SECONDS):
                raise TimeoutError("the server does not answer")
            return self._codes[link]

    def _take_code(self, message: Mapping[str, Any]) -> None:
        with self._changed:
            self._codes[message["link"]] = message["code"]
            self._changed.notify_all()

    def _hear(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            for line in self._lines:
                self._pass_on(json.loads(line))
        self._pass_on({"kind": "lost"})

    def _pass_on(self, message: Mapping[str, Any]) -> None:
        for act in self._acts[message["kind"]]:
            act(message)


class PageTurn:
    """The turn of this page among all pages of the server, see `workbench.run.jobs.run_queue.Turn`.

    queue: whose front has the turn. asked, left: the kinds of the messages by which it is asked for and given back.
    """

    def __init__(self, room: Classroom, queue: RunQueue, asked: str, left: str) -> None:
        self._room, self._queue, self._asked, self._left = room, queue, asked, left
        self._changed = threading.Condition()
        self._request = 0
        self._ahead: int | None = None
        """The number of runs ahead in the server's answer to the request; None before."""
        self._lost = False
        room.on(asked, self._take)
        room.on("lost", lambda _message: self._lose())

    @property
    def ahead(self) -> int:
        """The number of runs or checks of other pages before the one that was asked for; 0 while that may run."""
        return 0 if self._lost else 1 if self._ahead is None else self._ahead

    def ask(self) -> None:
        """Ask for a turn, behind all that others have asked for. Waits `SOON` for an answer."""
        with self._changed:
            self._request += 1
            self._ahead = None
            self._say(self._asked, request=self._request)
            self._changed.wait_for(lambda: self._lost or self._ahead is not None, SOON)

    def leave(self) -> None:
        """Give the turn back, or ask for it no longer."""
        with self._changed:
            if self._ahead == 0:
                MACHINE_USE.end()
            # An answer that is under way is to the request before.
            self._request += 1
            self._ahead = None
            self._say(self._left)

    def _take(self, message: Mapping[str, Any]) -> None:
        with self._changed:
            if message["request"] != self._request:
                return
            had_turn, self._ahead = self._ahead == 0, message["ahead"]
            # A turn that lasts is taken back while others wait, and comes again.
            if had_turn != (self._ahead == 0):
                (MACHINE_USE.end if had_turn else MACHINE_USE.begin)()
            self._changed.notify_all()
        self._queue.wake()

    def _lose(self) -> None:
        """Let this page run at any time, since without a server no other page asks for a turn."""
        with self._changed:
            self._lost = True
            self._changed.notify_all()
        self._queue.wake()

    def _say(self, kind: str, **facts: object) -> None:
        try:
            self._room.tell(kind, **facts)
        except OSError:
            self._lost = True


@functools.cache
def classroom() -> Classroom | None:
    """The connection of this kernel; None where no server of pages has started it."""
    # The token serves once.
    port, _, token = os.environ.pop(CLASS, "").partition(":")
    if not token:
        return None
    try:
        room = Classroom(int(port), token)
    except (OSError, ValueError):
        return None
    if room.facts["runs_at_once"]:
        MACHINE.take_turns(PageTurn(room, MACHINE, "turn", "done"))
        CHECKS.take_turns(PageTurn(room, CHECKS, "check", "checked"))
    room.listen()
    return room
