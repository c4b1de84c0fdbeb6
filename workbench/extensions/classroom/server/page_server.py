"""The server of `make app`: Voila, which answers only to the names that it is meant to be reached by."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import ipaddress
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from pathlib import Path
from typing import Any

import traitlets
from jupyter_server.utils import url_path_join
from tornado.httputil import HTTPServerRequest
from tornado.ioloop import IOLoop
from tornado.routing import Matcher, PathMatches, Rule
from tornado.web import RequestHandler
from voila.app import Voila
from voila.tornado.handler import TornadoVoilaHandler

from workbench.errors import InputError, printable_path
from workbench.extensions.classroom.server.class_addresses import ShortAddress, TeachersAddress, say
from workbench.extensions.classroom.server.class_file import state_folder
from workbench.extensions.classroom.server.classroom import Classroom
from workbench.extensions.classroom.server.kernels import PageKernels
from workbench.extensions.classroom.server.opening import Page, compile_templates
from workbench.extensions.classroom.server.site import exercises_in, found_in, site_rules, written
from workbench.extensions.lessons.folder import own_lessons

if sys.platform != "win32":
    import resource

NOWHERE = r"logout|.*%00.*|(?:.*/)?\.\.(?:/.*)?"
"""Paths for which Voila raises errors of its own: there are no users, and no files of such names."""


TRIAL, TRIAL_SECONDS = "from workbench.extensions.lessons.page.own import main; main()", 120
"""The program that runs a notebook of the teacher once, and the seconds that it gives itself."""


class PageServer(Voila):
    """Voila with a check of the Host header, and sentences where it had tracebacks."""

    hosts = traitlets.List(
        traitlets.Unicode(),
        help="Further names by which this server is reached while it listens on this machine only, such as that of a "
        "proxy in front of it.",
    ).tag(config=True)

    lessons = traitlets.Unicode(
        help="The folder of the notebooks of lessons; each is a page, and a start page leads to them. If empty, the "
        "notebook of the command line is the only page.",
    ).tag(config=True)

    own_lessons = traitlets.Unicode(
        help="A folder of a teacher's own notebooks, each a lesson; what `workbench app --lessons FOLDER` names.",
    ).tag(config=True)

    class_file = traitlets.Unicode(
        str(state_folder() / "class.json"),
        help="The file in which the list of a class outlives this server: who has tried and solved which exercise. "
        "Nothing is kept if empty.",
    ).tag(config=True)

    def init_handlers(self) -> Any:
        """The handlers of all paths: refusals, addresses of a class, and the start page, before all those of Voila."""
        found: Any = super().init_handlers()
        voila = [_in_order(each) for each in found]
        kernels = self.kernel_manager
        of_class = self.of_class(kernels.room) if isinstance(kernels, PageKernels) else []
        site = []
        if self.lessons:
            *_, (_, _, page) = found
            folder, own = Path(self.lessons), self._checked_lessons()
            site = site_rules(self.base_url, folder, self.root_dir, page, self.server_url or "", own)
            if isinstance(kernels, PageKernels) and kernels.room.collects:
                counts, titles = exercises_in(written(folder), found_in(own))
                said = kernels.room.keep(counts, titles, Path(self.class_file) if self.class_file else None)
                if said:
                    self.log.warning(said)
        self._prepare()
        return [*self.refusals(), *of_class, *site, *voila]

    def _checked_lessons(self) -> str:
        """The folder of the teacher's lessons. Prints their mistakes; ends the program where there is none."""
        try:
            found = own_lessons(self.own_lessons) if self.own_lessons else []
        except InputError as error:
            # The server has not started; a traceback would hide the sentence.
            raise SystemExit(str(error)) from None
        for mistake in filter(None, (each.mistake for each in found)):
            print(mistake, flush=True)
        return self.own_lessons

    def of_class(self, room: Classroom) -> list[Rule]:
        """The rules for short addresses, and for the teacher's."""
        facts = {"room": room, "page": self.base_url}
        short = Rule(PathMatches(url_path_join(self.server_url or "/", r"s/(\w+)")), ShortAddress, facts)
        teacher = Rule(PathMatches(url_path_join(self.server_url or "/", "teacher")), TeachersAddress, facts)
        return [short, *([teacher] if room.collects else [])]

    def start(self) -> None:
        """Serve until the server is ended."""
        IOLoop.current().add_callback(self._announce)
        IOLoop.current().add_callback(self._try_lessons)
        super().start()

    def _prepare(self) -> None:
        """Do what the first pages would wait for, and all others with them: templates, kernel specifications, and full
        garbage collections, which look at each object of the imported modules. Each kept the event loop for 0.1 to 0.3
        s of a core. Called where the specifications have a manager, and no page has asked yet."""
        for name in ("workbench", "lesson") if self.lessons else ():
            compile_templates(name)
        self.kernel_spec_manager.get_all_specs()
        gc.collect()
        gc.freeze()

    def _announce(self) -> None:
        """Print once the address for others and that for the teacher; here the port is known."""
        if not isinstance(self.kernel_manager, PageKernels):
            return
        # Voila makes the manager of kernels as it starts, and no page has asked yet.
        allow_files(FILES_OF_A_PAGE * self.kernel_manager.most_pages)
        room = self.kernel_manager.room
        if self.custom_display_url:
            room.address = f"{self.custom_display_url.rstrip('/')}/"
        elif not is_local(self.ip):
            room.address = f"http://{address_in_network()}:{self.port}{self.base_url}"
        if room.collects:
            own = room.address or self.connection_url
            # Printed and not logged: whoever has it is the teacher. Browsers send no server what follows the #.
            print(f"Students open {own}\nThe teacher's address, for you alone: {own}teacher#{room.token}", flush=True)

    _trial: Process | None = None
    """The process that runs a notebook of the teacher, or has."""

    def stop(self) -> None:
        """End the kernels, and the trial of a notebook."""
        if self._trial is not None and self._trial.returncode is None:
            self._trial.kill()
        super().stop()

    async def _try_lessons(self) -> None:
        """Run each notebook of the teacher once, and print its mistake or the number of its exercises."""
        for lesson in found_in(self.own_lessons):
            if lesson.mistake:
                continue
            trial = await asyncio.create_subprocess_exec(
                sys.executable, "-c", TRIAL, str(lesson.path), stdout=PIPE, stderr=DEVNULL, stdin=DEVNULL
            )
            self._trial = trial
            said, _ = await trial.communicate()
            print(tried(printable_path(lesson.path.name), said.decode(), trial.returncode), flush=True)

    def refusals(self) -> list[Rule]:
        """The rules for requests that are refused. A server that listens to others does not know its names."""
        nowhere = Rule(PathMatches(url_path_join(self.server_url or "/", f"(?:{NOWHERE})")), Refusal, NOT_FOUND)
        common = [Rule(ForeignSite(), Refusal, FROM_ELSEWHERE), nowhere]
        return [Rule(ForeignHost(self.hosts), Refusal, FORBIDDEN), *common] if is_local(self.ip) else common


def tried(name: str, said: str, status: int | None) -> str:
    """The line on a notebook that was tried. said: by the process, which says nothing where it was ended."""
    late = sys.platform != "win32" and status == -signal.SIGALRM
    ended = f"do not end in {TRIAL_SECONDS} s" if late else f"end their process, with status {status}"
    return said.strip() or f"{name}: its cells {ended}"


def _in_order(rule: tuple[object, ...]) -> tuple[object, ...]:
    """A rule of Voila, with a page that is made in its order in place of Voila's own."""
    return (rule[0], Page, *rule[2:]) if rule[1] is TornadoVoilaHandler else rule


class ForeignHost(Matcher):
    """Matches requests for names that do not lead to this machine.

    A site that another page of the same browser shows may let its own name lead here (DNS rebinding). The browser then
    takes this server for a part of that site, and sends it the site's name as Host.
    """

    def __init__(self, known: list[str]) -> None:
        self._known = {name.lower() for name in known}

    def match(self, request: HTTPServerRequest) -> dict[str, Any] | None:
        """An empty dict where it matches, as tornado expects."""
        name = request.host_name
        return None if is_local(name) or name in self._known else {}


class ForeignSite(Matcher):
    """Matches requests that another site makes in the background, each of which would start a kernel; not its links."""

    def match(self, request: HTTPServerRequest) -> dict[str, Any] | None:
        """An empty dict where it matches, as tornado expects."""
        asked = request.headers
        opened = asked.get("Sec-Fetch-Mode") == "navigate" and asked.get("Sec-Fetch-Dest") == "document"
        return {} if asked.get("Sec-Fetch-Site") == "cross-site" and not opened else None


class Refusal(RequestHandler):
    """Answers with a status and a sentence, whatever the method."""

    def initialize(self, status: int, sentence: str) -> None:
        """Take status and sentence from the rule."""
        self._status, self._sentence = status, sentence

    def prepare(self) -> None:
        """Answer with status and sentence."""
        say(self, self._status, self._sentence)


FILES_OF_A_PAGE = 25
"""Files that the server has open for a page: 15 for the sockets of its kernel and its own connections, 5 for reserved
ports, and some more while it is made."""
OWN_FILES = 200
"""Files that the server has open besides: logs, pipes, and what it reads for an answer."""


def allow_files(number: int) -> None:
    """Let this process open a number of files besides its own, or as many as the system allows.

    Most systems allow 1024 to a program that does not ask for more, and 67 pages have as many.
    """
    if sys.platform == "win32":
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = number + OWN_FILES
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        # A system may have a bound below the one that it names.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


NOT_FOUND = {"status": 404, "sentence": "there is nothing at this address"}
FROM_ELSEWHERE = {"status": 403, "sentence": "another site may link to this page, but not load it in the background"}
FORBIDDEN = {
    "status": 403,
    "sentence": "this server listens on its own machine only and answers to localhost; if it is meant to be reached by "
    "another name, as through a proxy, start it with --PageServer.hosts=NAME",
}


def address_in_network() -> str:
    """This machine's address in its network, else its name. No packet is sent."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        # The address of a documentation network (RFC 5737): the route to it is that to others.
        asking.connect(("192.0.2.1", 9))
        return asking.getsockname()[0]
    return socket.gethostname()


def is_local(name: str) -> bool:
    """True if a host's name, or an address, is one of this machine for itself (loopback)."""
    name = name.lower().strip("[]").rstrip(".")
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


if __name__ == "__main__":
    PageServer.launch_instance()
