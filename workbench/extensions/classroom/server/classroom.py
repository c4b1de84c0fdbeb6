"""The state that the pages of one server share: turns on the machine, short addresses; of a class its list, problem and
runs.

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
from collections.abc import Mapping
from http import cookies
from pathlib import Path
from typing import Any

from workbench.errors import InputError
from workbench.extensions.classroom.server.class_file import ClassFile
from workbench.extensions.classroom.server.class_list import ClassList, name_of
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
SOON = 0.5
"""Seconds after a change of the list until the teacher's pages have it, with all changes until then."""
MOST_WAITING = 100
"""Exercises of a page whose student is not known yet."""
TEACHER = "Teacher"
COOKIE = "workbench-teacher"
_log = logging.getLogger(__name__)


class Classroom:
    """runs_at_once: runs of all pages together that have a turn, and as many checks of answers, which are short and
    wait for no run; 0 for any number. collects: there is a teacher, whose pages may send a problem to all others and
    get the runs of all."""

    def __init__(self, runs_at_once: int = 0, *, collects: bool = False) -> None:
        self.turns, self.checks, self.collects = Turns(runs_at_once), Turns(runs_at_once), collects
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
        self.list = ClassList({})
        self.titles: dict[str, str] = {}
        """Titles of lessons, by the names in the list."""
        self._file: ClassFile | None = None
        self._telling: asyncio.TimerHandle | None = None

    def keep(self, exercises: Mapping[str, int], titles: Mapping[str, str], path: Path | None) -> str:
        """Keep the list of a class, of lessons with these numbers of exercises and titles, in a file. Returns what
        whoever starts the server should know, as `ClassFile`."""
        self.titles = dict(titles)
        self.list = ClassList(exercises)
        self._file = ClassFile(self.list, path)
        return self._file.said

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
        pages = [page for page in self.pages if page.token == token]
        return any(self.turns.has(page.run) or self.checks.has(page.check) for page in pages)

    def find(self, code: str) -> str | None:
        """The link behind a short address; None for one that is too old or was never given."""
        oldest = time.time() - 86400 * SHORT_DAYS
        self._short = {code: kept for code, kept in self._short.items() if kept[1] >= oldest}
        return self._short[code][0] if code in self._short else None

    def close(self) -> None:
        """Take no more connections."""
        if self._listening is not None:
            self._listening.close()
        if self._file is not None:
            self._file.close()

    def enter(self, page: _Page, token: str) -> None:
        """Take a page in. Raises KeyError for a wrong token."""
        page.teacher = self._admitted.pop(token)
        page.token = token
        self._opened += 1
        page.number = self._opened
        self.pages.append(page)
        facts = {"page": page.number, "teacher": page.teacher, "collects": self.collects}
        page.tell("hello", **facts, runs_at_once=self.turns.at_once, address=self.address, solutions=self._solutions())
        self._count()

    def leave(self, page: _Page) -> None:
        """Free what a page held or waited for."""
        if page in self.pages:
            self.pages.remove(page)
            self._on_done(page)
            self._on_checked(page)
            self._count()

    def take(self, page: _Page, message: dict[str, Any]) -> None:
        """Carry out a message of a page. Raises LookupError, TypeError and ValueError for a malformed one."""
        acts = {"turn": self._on_turn, "done": self._on_done, "name": self._on_name, "shorten": self._on_shorten}
        acts |= {"check": self._on_check, "checked": self._on_checked}
        if self.collects:
            acts |= {"run": self._on_run, "attempt": self._on_attempt}
        if page.teacher:
            acts |= {"collect": self._on_collect, "problem": self._on_problem}
            acts |= {"solution": self._on_solution, "erase": self._on_erase}
        if not all(isinstance(value, str | int) for value in message.values()):
            raise TypeError("a message has texts and numbers")
        try:
            acts[message.pop("kind")](page, **message)
        except InputError as error:
            page.tell("refused", sentence=str(error))

    def _on_turn(self, page: _Page, request: int) -> None:
        self.turns.ask(page.run, int(request))

    def _on_done(self, page: _Page) -> None:
        self.turns.done(page.run)

    def _on_check(self, page: _Page, request: int) -> None:
        self.checks.ask(page.check, int(request))

    def _on_checked(self, page: _Page) -> None:
        self.checks.done(page.check)

    def _on_name(self, page: _Page, name: str, student: str = "") -> None:
        page.name = name_of(str(name))
        if not student or not self.collects or page.teacher:
            return
        # Otherwise a page could fill the list.
        if page.key not in ("", student):
            raise InputError("this page belongs to another student; load it again")
        self.list.enter(str(student), page.name)
        page.key = str(student)
        waiting, page.waiting = page.waiting, {}
        for (lesson, exercise), (tries, solved) in waiting.items():
            self._on_attempt(page, lesson, exercise, tries, solved)
        self._list_changed()

    def _on_attempt(self, page: _Page, lesson: str, exercise: int, tries: int, solved: int) -> None:
        self.list.check(str(lesson), int(exercise))
        if page.teacher:
            return
        if page.key:
            digest = self.list.enter(page.key, page.name)
            self.list.note(digest, str(lesson), int(exercise), int(tries), bool(solved))
            self._list_changed()
        elif len(page.waiting) < MOST_WAITING:
            page.waiting[str(lesson), int(exercise)] = int(tries), bool(solved)

    def _on_solution(self, page: _Page, lesson: str, exercise: int, shown: int) -> None:
        self.list.open(str(lesson), int(exercise), shown=bool(shown))
        for other in self.pages:
            other.tell("solutions", solutions=self._solutions())
        self._list_changed()

    def _on_erase(self, page: _Page, student: int) -> None:
        self.list.erase(int(student))
        self._list_changed()

    def _solutions(self) -> list[str]:
        """The exercises whose solutions are shown, as lesson:number."""
        return [f"{lesson}:{exercise}" for lesson, exercise in sorted(self.list.opened)]

    def _list_changed(self) -> None:
        if self._file is not None:
            self._file.changed()
        if self._telling is None:
            self._telling = asyncio.get_running_loop().call_later(SOON, self._tell_list)

    def _tell_list(self) -> None:
        self._telling = None
        rows = self.list.rows()
        lessons = [[name, self.titles.get(name, name), count] for name, count in self.list.exercises.items()]
        for page in self.pages:
            if page.collects:
                page.tell("students", students=rows, lessons=lessons, solutions=self._solutions())

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
        self._list_changed()

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


class _Asker:
    """A page in the queue of runs, or in that of checks. kind: of the messages by which it asks and hears."""

    def __init__(self, page: _Page, kind: str) -> None:
        self._page, self._kind = page, kind

    def say_turn(self, request: int, ahead: int) -> None:
        """Send what `Turns` says about a request."""
        self._page.tell(self._kind, request=request, ahead=ahead)


class _Page(asyncio.Protocol):
    """The connection of one page. number: from 1, and 0 before it has shown its token."""

    def __init__(self, room: Classroom) -> None:
        self.number, self.name, self.token, self.teacher, self.collects = 0, "", "", False, False
        self.key = ""
        """The key of its student; empty before the browser has sent it."""
        self.waiting: dict[tuple[str, int], tuple[int, bool]] = {}
        """The state of exercises until then."""
        self.run, self.check = _Asker(self, "turn"), _Asker(self, "check")
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

    def _read(self, message: dict[str, Any]) -> None:
        if self.number:
            self._room.take(self, message)
        else:
            self._room.enter(self, message["token"])
