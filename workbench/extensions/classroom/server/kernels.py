"""Kernels of the pages that `make app` serves: forked, so that 30 of them share most of their memory, and bounded."""

from __future__ import annotations

import asyncio
import functools
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import traitlets
from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.ioloop.restarter import AsyncIOLoopKernelRestarter
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from jupyter_events import EventLogger
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager, ServerKernelManager
from tornado.web import HTTPError

from workbench.errors import (
    ALL_MEMORY,
    CLASS,
    CLUSTERS,
    DOWNLOADED_MB,
    KERNEL_MEMORY,
    MOST_UNKNOWNS,
    RUN_SECONDS,
    InputError,
)
from workbench.extensions.classroom.server.classroom import Classroom, cookie_of
from workbench.extensions.classroom.server.forking import AVAILABLE, ForkServer
from workbench.extensions.classroom.server.heap_trim import EVERY, HeapTrim
from workbench.extensions.classroom.server.memory_shares import LEAST_FREE, MemoryShares, all_bytes, bytes_of
from workbench.extensions.classroom.server.reserved_ports import ReservedPort
from workbench.process import limits

COOKIES = "HTTP_COOKIE"
"""The variable with the cookies of the request for a page, in the environment of a kernel that Voila starts."""

AWAY, AWAY_IN_CLASS = 120, 1800
"""Seconds for which a page that has lost its connection keeps its kernel: a laptop is closed for a break of a class."""
MOST_OFFLINE = 64 << 20
"""Bytes of a kernel's messages that are kept for a page that has lost its connection."""


@functools.cache
def event_logger() -> EventLogger:
    """The logger of Jupyter's events for all pages; without handlers, it drops each event.

    Jupyter makes one for each kernel and each reader of notebooks that has no `ServerApp`. Each adds a logger that
    `logging` keeps until the process ends, and compiles a schema.
    """
    return EventLogger()


class ForkingProvisioner(LocalProvisioner):
    """Starts a kernel by the fork server of the manager, or as a process of its own where there is none."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Launch a kernel; cmd: `<python> -m ipykernel_launcher`, followed by its arguments."""
        pages: PageKernels = cast(Any, self.parent).parent
        # Sentences of the kernel name the limit.
        bounds = {KERNEL_MEMORY: pages.kernel_memory, ALL_MEMORY: pages.all_memory, RUN_SECONDS: pages.run_seconds}
        bounds[MOST_UNKNOWNS] = pages.most_unknowns
        bounds[DOWNLOADED_MB] = str(pages.downloaded_mb)
        bounds[CLUSTERS] = "" if pages.clusters else "none"
        env = dict(kwargs["env"])
        # Cookies are for the server alone.
        place = await pages.room.admit(teacher=pages.room.is_teacher(cookie_of(env.pop(COOKIES, ""))))
        bounds[CLASS] = place
        kwargs["env"] = env | bounds
        if pages.forks and cmd[:3] == [sys.executable, "-m", "ipykernel_launcher"]:
            cwd = str(kwargs.get("cwd") or Path.cwd())
            try:
                # In a thread, since the server may still be importing.
                forked = await asyncio.to_thread(pages.forks.fork, cmd[3:], kwargs["env"], cwd)
            except OSError as error:
                self.log.warning("Kernel %s is started without sharing memory: %s", self.kernel_id, error)
            else:
                self.process, self.cwd = cast(Any, forked), cast(Any, cwd)
                self.pid = self.pgid = cast(Any, forked.pid)
        if self.process is None:
            await super().launch_kernel(cmd, **kwargs)
        if pages.bounded:
            pages.memory.add(self.pid, lambda: pages.room.has_turn(place))
        return self.connection_info


class NoRestart(AsyncIOLoopKernelRestarter):
    """Watches for the death of a kernel, and says so to its page; a new one in its place would know nothing of that."""

    restart_limit = 0


class PageKernelManager(ServerKernelManager):
    """One kernel, started by a `ForkingProvisioner` on ports that are reserved for it until it has ended."""

    _reserved: tuple[ReservedPort, ...] = ()

    @traitlets.default("restarter_class")
    def _restarter_class(self) -> type[NoRestart]:
        return NoRestart

    @traitlets.default("event_logger")
    def _event_logger(self) -> EventLogger:
        return event_logger()

    async def _async_pre_start_kernel(self, **kw: Any) -> Any:
        # Restarts keep it.
        if self.provisioner is None:
            self.provisioner = ForkingProvisioner(kernel_id=kw["kernel_id"], kernel_spec=self.kernel_spec, parent=self)
            if self.transport == "tcp":
                self._reserved = tuple(ReservedPort(self.ip) for _ in range(5))
                numbers = (port.number for port in self._reserved)
                self.shell_port, self.iopub_port, self.stdin_port, self.hb_port, self.control_port = numbers
                # Jupyter's own choice would replace them.
                self.provisioner.ports_cached = True
        return await super()._async_pre_start_kernel(**kw)

    async def _async_cleanup_resources(self, restart: bool = False) -> None:
        if not restart:
            for port in self._reserved:
                port.release()
        await super()._async_cleanup_resources(restart)


class PageKernels(AsyncMappingKernelManager):
    """All kernels of a server."""

    kernel_memory = traitlets.Unicode(
        os.environ.get(KERNEL_MEMORY, ""),
        help="Memory that a kernel may take for its runs, such as 1.5GB; no limit if empty. Linux only.",
    ).tag(config=True)

    all_memory = traitlets.Unicode(
        os.environ.get(ALL_MEMORY, "70%" if sys.platform == "linux" else ""),
        help="Memory that the kernels of all pages may take together, such as 12GB or 70% of the machine's; what would "
        "take more is refused. No limit if empty. Linux only.",
    ).tag(config=True)

    run_seconds = traitlets.Unicode(
        os.environ.get(RUN_SECONDS, ""),
        help="Seconds that each run of a page may iterate; its best iterate then is the result. Setup is not counted. "
        "No limit if empty.",
    ).tag(config=True)

    most_unknowns = traitlets.Unicode(
        os.environ.get(MOST_UNKNOWNS, ""),
        help="Unknowns of a problem of a page; a larger one is refused before it is run. No limit if empty.",
    ).tag(config=True)

    runs_at_once = traitlets.Int(
        0,
        min=0,
        help="Runs of all pages together that use the machine at once, and as many checks of answers; further ones "
        "wait. 0: any number.",
    ).tag(config=True)

    classroom = traitlets.Bool(
        False,
        help="Whether there is a teacher, whose address is printed when the server starts. A page that is opened by it "
        "sends its problem to all others, and shows the runs of all.",
    ).tag(config=True)

    most_pages = traitlets.Int(
        100, min=1, help="Pages that are served at once, each with its kernel; further ones are refused."
    ).tag(config=True)

    downloaded_mb = traitlets.Int(
        2000, min=0, help="MB of all matrices together that pages may download into the cache of the server's user."
    ).tag(config=True)

    clusters = traitlets.Bool(
        False,
        help="Whether a page may use a Dask cluster. What a scheduler sends is unpickled, so whoever opens a page may "
        "then execute code.",
    ).tag(config=True)

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        try:
            most = bytes_of(self.kernel_memory) if self.kernel_memory else None
            self.memory = MemoryShares(all_bytes(self.all_memory), most)
            self.bounded = bool(self.kernel_memory or self.all_memory)
            limits.page_seconds(self.run_seconds)
            limits.page_unknowns(self.most_unknowns)
        except InputError as error:
            # The server has not started; a traceback would hide the sentence.
            raise SystemExit(str(error)) from None
        self.room = Classroom(self.runs_at_once, collects=self.classroom)
        # A run that has its turn has memory for it.
        self.room.turns.changed = self.room.checks.changed = self.memory.divide
        # Jupyter has a timer for each connection, by which its objects stay so long.
        self._heap = HeapTrim(self.kernel_info_timeout + EVERY)
        self._ending: set[asyncio.Future[None]] = set()
        self._starting = 0
        """The number of kernels that are starting and not counted yet."""
        self.forks = ForkServer(for_class=self.classroom or self.runs_at_once > 0) if AVAILABLE else None
        """Started with the server, since its first page should not wait for imports."""

    @traitlets.default("cull_idle_timeout")
    def _cull_idle_timeout(self) -> int:
        return AWAY_IN_CLASS if self.classroom else AWAY

    @traitlets.default("kernel_manager_class")
    def _kernel_manager_class(self) -> str:
        return f"{PageKernelManager.__module__}.{PageKernelManager.__name__}"

    async def start_kernel(self, **kwargs: Any) -> str:
        """Start the kernel of a page. Raises HTTPError where there are too many."""
        if self._refusal:
            await self._end_those_away()
        if sentence := self._refusal:
            # Voila's page of errors shows the reason alone.
            raise HTTPError(503, sentence, reason=sentence)
        self._starting += 1
        try:
            return await super().start_kernel(**kwargs)
        finally:
            self._starting -= 1

    @property
    def _refusal(self) -> str:
        """Why there can be no further page, in a sentence; empty where there can."""
        if len(self) + self._starting >= self.most_pages:
            return (
                f"this server shows {self.most_pages} pages at once, and as many are open; come back when one has been "
                "closed, or start the server with a larger --PageKernels.most_pages"
            )
        free = self.memory.free()
        # Those that are starting have taken nothing yet.
        if free is not None and free < LEAST_FREE * (1 + self._starting):
            return (
                f"the pages that are open take the memory that all may take together ({self.all_memory}); come back "
                "when one has been closed, or start the server with a larger --PageKernels.all_memory"
            )
        return ""

    async def _end_those_away(self) -> None:
        """End pages that have lost their connection for some time, the longest first, while there is no room."""
        models = [self.kernel_model(name) for name in self.list_kernel_ids()]
        away = sorted((each["last_activity"], each["id"]) for each in models if not each["connections"])
        for since, name in away:
            idle = datetime.now(UTC) - datetime.fromisoformat(since)
            if self._refusal and idle.total_seconds() > AWAY:
                self.log.warning("Kernel %s is ended for another page, since its own has gone", name)
                await self.shutdown_kernel(name, now=True)

    def _handle_kernel_died(self, kernel_id: str) -> None:
        """End what the server still has of a kernel that has died: sockets, a file, and its place in the map."""
        self.log.warning("Kernel %s died", kernel_id)
        ending = asyncio.ensure_future(self.shutdown_kernel(kernel_id, now=True))
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    def start_watching_activity(self, kernel_id: str) -> None:
        """Note when a kernel has answered its page, by messages of its state alone.

        Jupyter reads all that a kernel sends for it: an eighth of the server's time while a class opens its pages, and
        a page that is away kept its kernel for as long as a run of it had something to say.
        """
        super().start_watching_activity(kernel_id)
        if (stream := self._kernels[kernel_id]._activity_stream) is not None:
            stream.socket.unsubscribe(b"")
            stream.socket.subscribe(b"kernel.")

    def notify_disconnect(self, kernel_id: str) -> None:
        """Count the time of a page that is away from now on, however long it was not touched before."""
        super().notify_disconnect(kernel_id)
        if kernel_id in self._kernels:
            self._kernels[kernel_id].last_activity = datetime.now(UTC)

    def start_buffering(self, kernel_id: str, session_key: str, channels: dict[str, Any]) -> None:
        """Keep the messages of a kernel while its page is away, up to `MOST_OFFLINE` bytes; after more the page begins
        anew."""
        super().start_buffering(kernel_id, session_key, channels)
        kept = self._kernel_buffers.get(kernel_id)
        size = 0

        def keep(channel: str, parts: list[bytes]) -> None:
            nonlocal size
            size += sum(map(len, parts))
            if size > MOST_OFFLINE:
                self.log.warning("What kernel %s sends is kept no longer for its page, which is away", kernel_id)
                self.stop_buffering(kernel_id)
            else:
                kept["buffer"].append((channel, parts))

        if kept is not None:
            for channel, stream in channels.items():
                stream.on_recv(functools.partial(keep, channel))

    def remove_kernel(self, kernel_id: str) -> Any:
        """Forget a kernel that has ended, close what was kept for its page, and give its memory back.

        A page that is left closes its websocket while its kernel ends. Jupyter then begins to keep messages of this
        kernel, on four sockets that would stay open, and that connect to the next kernel with the same ports.
        """
        if kernel_id in self._kernels:
            self.stop_buffering(kernel_id)
            self._heap.page_ended()
        return super().remove_kernel(kernel_id)

    async def shutdown_all(self, now: bool = False) -> None:
        """End all kernels and the fork server."""
        try:
            await super().shutdown_all(now=now)
        finally:
            # Kernels that could not be ended one by one end with the fork server.
            self.room.close()
            if self.forks:
                self.forks.close()
