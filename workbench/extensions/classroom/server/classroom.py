"""The state that the pages of one server share: turns on the machine, short addresses, problem and runs of a class.

The kernel of each page has one connection to the server, on this machine alone, which it opens by a token that serves
once. Messages are lines of JSON. Kernels execute no code of visitors, so what comes over a connection is what the page
may ask for. When a connection ends, however it does, what the page held or waited for is free.

Everything happens on the thread of the server's event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets
import socket
import time
from http import cookies
from typing import Any

from workbench.extensions.classroom.server.turns import Turns

LONGEST_LINE = 5 << 20
"""Bytes of a message: the file of a run, of at most 2 MiB, in hexadecimal digits."""
LONGEST_HELLO = 200
"""Bytes of a message of a connection that has not shown its token."""
PATIENCE = 10.0
"""Seconds until such a connection is closed."""
MOST_ADMITTED = 1000
"""Tokens that have not been used; the oldest go first."""
MOST_SHORT, SHORT_DAYS = 1000, 7
"""Short addresses that are kept, and for how long; the oldest go first."""
LONGEST_LINK = 8000
"""Characters of the link behind a short address; browsers are led to an address that contains it."""
LETTERS, CODE = "abcdefghijkmnpqrstuvwxyz23456789", 6
"""Letters of short addresses, without those that are mistaken for others, and how many an address has."""
ALL_RUNS = 128 << 20
"""Digits of the files of all runs that are collected; the oldest go first."""
LONGEST_NAME = 40
TEACHER = "Teacher"
COOKIE = "workbench-teacher"
_log = logging.getLogger(__name__)


class Classroom:
    """runs_at_once: runs of all pages together that have a turn, 0 for any number. collects: there is a teacher, whose
    pages may send a problem to all others and get the runs of all."""

    def __init__(self, runs_at_once: int = 0, *, collects: bool = False) -> None:
        self.turns, self.collects = Turns(runs_at_once), collects
        self.address = ""
        """The address at which others in the network reach this server, as far as it knows; empty if they do not."""
        self.token = secrets.token_urlsafe(16)
        """The teacher's token."""
        self._socket: socket.socket | None = None
        self._listening: asyncio.Server | None = None
        self._admitted: dict[str, bool] = {}
        """Tokens of kernels, and whether the page is a teacher's."""
        self.pages: list[_Page] = []
        self._opened = 0
        self._short: dict[str, tuple[str, float]] = {}
        self.runs: list[dict[str, Any]] = []

    def is_teacher(self, token: str) -> bool:
        """True if this is the teacher's token; takes as long for any other of its length."""
        return self.collects and secrets.compare_digest(token.encode(), self.token.encode())

    async def admit(self, *, teacher: bool) -> str:
        """Admit one more kernel; returns the port and the token with which it connects, as port:token."""
        if self._socket is None:
            # At once, since a class opens its pages at once.
            self._socket = socket.create_server(("127.0.0.1", 0))
            loop = asyncio.get_running_loop()
            self._listening = await loop.create_server(lambda: _Page(self), sock=self._socket)
        while len(self._admitted) >= MOST_ADMITTED:
            self._admitted.pop(next(iter(self._admitted)))
        token = secrets.token_urlsafe(16)
        self._admitted[token] = teacher
        return f"{self._socket.getsockname()[1]}:{token}"

    def has_turn(self, place: str) -> bool:
        """True while the page that was admitted with this port and token has a turn."""
        token = place.partition(":")[2]
        return any(page.token == token and self.turns.has(page) for page in self.pages)

    def find(self, code: str) -> str | None:
        """The link behind a short address; None for one that is too old or was never given."""
        oldest = time.time() - 86400 * SHORT_DAYS
        self._short = {code: kept for code, kept in self._short.items() if kept[1] >= oldest}
        return self._short[code][0] if code in self._short else None

    def close(self) -> None:
        """Take no more connections."""
        if self._listening is not None:
            self._listening.close()

    def enter(self, page: _Page, token: str) -> None:
        """Take a page in. Raises KeyError for a wrong token."""
        page.teacher = self._admitted.pop(token)
        page.token = token
        self._opened += 1
        page.number = self._opened
        self.pages.append(page)
        facts = {"page": page.number, "teacher": page.teacher, "collects": self.collects}
        page.tell("hello", **facts, runs_at_once=self.turns.at_once, address=self.address)
        self._count()

    def leave(self, page: _Page) -> None:
        """Free what a page held or waited for."""
        if page in self.pages:
            self.pages.remove(page)
            self._on_done(page)
            self._count()

    def take(self, page: _Page, message: dict[str, Any]) -> None:
        """Carry out a message of a page. Raises LookupError, TypeError and ValueError for a malformed one."""
        acts = {"turn": self._on_turn, "done": self._on_done, "name": self._on_name, "shorten": self._on_shorten}
        if self.collects:
            acts |= {"run": self._on_run}
        if page.teacher:
            acts |= {"collect": self._on_collect, "problem": self._on_problem}
        if not all(isinstance(value, str | int) for value in message.values()):
            raise TypeError("a message has texts and numbers")
        acts[message.pop("kind")](page, **message)

    def _on_turn(self, page: _Page, request: int) -> None:
        self.turns.ask(page, int(request))

    def _on_done(self, page: _Page) -> None:
        self.turns.done(page)

    def _on_name(self, page: _Page, name: str) -> None:
        page.name = " ".join(str(name).split())[:LONGEST_NAME]

    def _on_shorten(self, page: _Page, link: str) -> None:
        code = next((code for code, (kept, _) in self._short.items() if kept == link), "")
        code = code or "".join(secrets.choice(LETTERS) for _ in range(CODE))
        if len(link) <= LONGEST_LINK:
            self._short.pop(code, None)
            self._short[code] = (link, time.time())
            while len(self._short) > MOST_SHORT:
                self._short.pop(next(iter(self._short)))
        page.tell("short", link=link, code=code if code in self._short else "")

    def _on_run(self, page: _Page, file: str) -> None:
        where = TEACHER if page.teacher else f"Page {page.number}"
        run = {"where": where, "who": page.name or where, "file": str(file)}
        self.runs.append(run)
        while sum(len(kept["file"]) for kept in self.runs) > ALL_RUNS:
            self.runs.pop(0)
        for other in self.pages:
            if other.collects:
                other.tell("run", **run)

    def _on_collect(self, page: _Page) -> None:
        page.collects = True
        for run in self.runs:
            page.tell("run", **run)
        self._count()

    def _on_problem(self, page: _Page, link: str) -> None:
        for other in self.pages:
            if not other.teacher:
                other.tell("problem", link=link)

    def _count(self) -> None:
        students = sum(not page.teacher for page in self.pages)
        for page in self.pages:
            if page.collects:
                page.tell("pages", pages=students)


def cookie_of(header: str) -> str:
    """The teacher's token among the cookies of a request; empty where there is none."""
    try:
        found = cookies.SimpleCookie(header).get(COOKIE)
    except cookies.CookieError:
        return ""
    return found.value if found else ""


class _Page(asyncio.Protocol):
    """The connection of one page. number: from 1, and 0 before it has shown its token."""

    def __init__(self, room: Classroom) -> None:
        self.number, self.name, self.token, self.teacher, self.collects = 0, "", "", False, False
        self._room, self._rest = room, b""
        self._transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        asyncio.get_running_loop().call_later(PATIENCE, lambda: self.number or transport.abort())

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        try:
            for line in lines:
                self._read(json.loads(line))
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            _log.warning("Page %d is no longer connected, by a malformed message: %.100r", self.number, error)
            self._transport.abort()
        if len(self._rest) > (LONGEST_LINE if self.number else LONGEST_HELLO):
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._room.leave(self)

    def tell(self, kind: str, **facts: object) -> None:
        """Send a message; a page that is closing is sent nothing."""
        with contextlib.suppress(OSError):
            self._transport.write(json.dumps({"kind": kind, **facts}).encode() + b"\n")

    def say_turn(self, request: int, ahead: int) -> None:
        """Send what `Turns` says about a request."""
        self.tell("turn", request=request, ahead=ahead)

    def _read(self, message: dict[str, Any]) -> None:
        if self.number:
            self._room.take(self, message)
        else:
            self._room.enter(self, message["token"])
