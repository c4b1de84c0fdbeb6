"""The workers of a Dask cluster. The only module that imports Dask, and only once a run asks for a cluster."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import importlib
import os
import time
import uuid
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.devices.clock import Clock, Recorder
from workbench.errors import CLUSTERS, DeviceError, InputError, error_message
from workbench.extensions.dask import silent_loggers
from workbench.extensions.dask.local_workers import LocalWorkers
from workbench.extensions.dask.subdomain_holder import versions
from workbench.extensions.dask.tree_node import Peer, TreeNode
from workbench.extensions.dask.worker_lanes import Exchange, WorkerLanes
from workbench.machines.packages import DISTRIBUTION
from workbench.run.setup.workers import Done
from workbench.settings import LOCAL

if TYPE_CHECKING:
    from types import ModuleType

CONNECT_SECONDS = 10.0
"""Seconds in which a scheduler, or a worker, must answer to be connected to."""
REPEATS = 2
"""Times that a task is begun again, at most."""
ASK_SECONDS = 0.2
"""Seconds between two tests for a cancellation request."""
PRESENCE_SECONDS = 5.0
"""Seconds without a reply after which the scheduler is asked whether it has lost the worker."""


class Holder(NamedTuple):
    """A `Node` on a worker: its address, and a Dask actor, whose methods are called there."""

    address: str
    actor: Any

    @property
    def peer(self) -> Peer:
        """The node as other workers address it. An actor would connect each of them to the scheduler once more."""
        return Peer(self.address, self.actor.key)


class Node(TreeNode):
    """The class of the actors: a node that calls others by Dask."""

    async def ask(self, peer: Peer, method: str, *arguments: object) -> Any:
        """Call a method of a node on another worker. Raises errors of many types where that is lost."""
        distributed = _dask()
        reply = (
            await distributed.get_worker()
            .rpc(peer.address)
            .actor_execute(
                actor=peer.key,
                function=method,
                args=[distributed.protocol.to_serialize(argument) for argument in arguments],
                kwargs={},
            )
        )
        if reply["status"] != "OK":
            raise reply["exception"]
        return reply["result"]


class Reply(NamedTuple):
    """The result of a call, and when it was sent and its reply received, by the clock `time.perf_counter`. lost: the
    worker was lost instead."""

    value: Any
    sent: float
    received: float
    lost: bool = False

    @property
    def seconds(self) -> float:
        return self.received - self.sent


class Workers:
    """The connected workers of a cluster, until `close`, or until the object is no longer used.

    cluster: `local:<processes>`, or the address of a scheduler. Raises InputError if Dask is not installed, no
    scheduler answers, there is no worker, or one has other versions than this process.
    """

    def __init__(self, cluster: str) -> None:
        self.cluster = cluster
        self.reports: list[Callable[[], Sequence[str]]] = []
        """Functions that return sentences on what was done, for the notes of a result."""
        self.lanes: WorkerLanes | None = None
        """The lanes of a trace that note requests."""
        self._met: dict[str, Holder] = {}
        self.lost: set[str] = set()
        """Workers that are used no more."""
        self._distributed = _dask()
        silent_loggers.silence()
        with contextlib.ExitStack() as opened:
            opened.callback(silent_loggers.restore)
            local = None
            if cluster.startswith(LOCAL):
                local = LocalWorkers(self._distributed, int(cluster.removeprefix(LOCAL)))
                opened.callback(local.close)
            self.processes = [] if local is None else [process.pid for process in local.processes]
            """Process numbers of the workers that were started here."""
            self._client = self._connected(local.address if local else cluster)
            opened.callback(_close, self._client)
            self.dashboard = "" if local else str(self._client.dashboard_link or "")
            """The address of Dask's own page of a scheduler; empty without one, and for local workers, which end
            with the run."""
            if local:
                local.wait_for(self._client)
            self._check()
            self._finalize = weakref.finalize(self, opened.pop_all().close)

    @property
    def notes(self) -> list[str]:
        """Sentences on what the workers did."""
        return [sentence for report in self.reports for sentence in report()]

    def addresses(self) -> list[str]:
        """The addresses of all workers with the versions of this process. Raises DeviceError if there are none."""
        found = sorted(self._present() - self.lost)
        refused = self._differing(found)
        usable = [address for address in found if address not in refused]
        if not usable:
            raise DeviceError(f"all workers of cluster {self.cluster} were lost")
        return usable

    def holders(self, addresses: Sequence[str]) -> list[Holder | None]:
        """A new `Node` on each of these workers; None where the worker is lost."""
        futures = [self._client.submit(Node, actor=True, workers=[address], pure=False) for address in addresses]
        while any(future.status == "pending" for future in futures):
            # A request for a worker that has left is never served.
            present = self._present()
            if all(future.done() or address not in present for future, address in zip(futures, addresses, strict=True)):
                break
            time.sleep(0.005)
        found: list[Holder | None] = []
        # An actor finds its client by the context in which it is received.
        with self._client.as_current():
            for future, address in zip(futures, addresses, strict=True):
                finished = future.status == "finished"
                found.append(Holder(address, future.result()) if finished else None)
                if found[-1]:
                    self._met.setdefault(address, found[-1])
                self.lost |= set() if finished else {address}
        return found

    def call(
        self, method: str, calls: Sequence[tuple[Holder, tuple[object, ...]]], through: Sequence[str] = ()
    ) -> list[Reply]:
        """The replies of a method of several holders, all called at once. Raises what a method returns as an error.

        through: workers that holders ask in turn. A call is lost with any of them, and which one it was is not known.
        """

        async def one(holder: Holder, arguments: tuple[object, ...]) -> Reply:
            begun = time.perf_counter()
            try:
                value = await getattr(holder.actor, method)(*arguments)
            # Whatever is raised here is the loss of the worker: methods return their own errors.
            except (Exception, asyncio.CancelledError):
                return Reply(None, begun, time.perf_counter(), lost=True)
            return Reply(value, begun, time.perf_counter())

        async def every() -> list[Reply]:
            tasks = [asyncio.ensure_future(one(*call)) for call in calls]
            while (await asyncio.wait(tasks, timeout=PRESENCE_SECONDS))[1]:
                # A machine that hangs keeps its connection open; the scheduler misses its heartbeats.
                present = set(await self._client.scheduler.ncores())
                for task, (holder, _) in zip(tasks, calls, strict=True):
                    if not task.done() and not {holder.address, *through} <= present:
                        task.cancel()
            return [task.result() for task in tasks]

        if not calls:
            return []
        try:
            replies = self._client.sync(every)
        except (OSError, RuntimeError) as error:
            raise DeviceError(f"the connection to cluster {self.cluster} was closed: {error}") from None
        for (holder, _), reply in zip(calls, replies, strict=True):
            if reply.lost and not through:
                self.lost.add(holder.address)
            if isinstance(reply.value, Exception):
                raise reply.value
        return replies

    def each(
        self, function: Callable[..., object], tasks: Sequence[tuple[object, ...]], stopped: Callable[[], bool]
    ) -> Iterator[Done]:
        """A function of each of these arguments, on whichever worker is free, in the order in which they end.

        A task whose worker is lost is begun again, up to `REPEATS` times. Ends early once `stopped` returns True, which
        is asked every `ASK_SECONDS`; tasks in progress see that they are cancelled by the function that they are given
        behind their arguments. A scheduler that was started elsewhere may repeat tasks itself, which is not counted.
        """
        distributed, prefix = self._distributed, uuid.uuid4().hex
        waiting: dict[Any, tuple[int, int]] = {}

        def submit(place: int, repeats: int) -> None:
            key = f"{prefix}-{place}-{repeats}"
            made = self._client.submit(_with_address, function, tasks[place], key=key, pure=False)
            waiting[made] = place, repeats

        for place in range(len(tasks)):
            submit(place, 0)
        try:
            while waiting and not stopped():
                ended = [future for future in waiting if future.done()]
                if not ended:
                    # Futures are cancelled where the scheduler is lost; the next line asks it.
                    ignored = contextlib.suppress(TimeoutError, distributed.CancelledError)
                    with ignored, self._client.as_current():
                        distributed.wait(list(waiting), timeout=ASK_SECONDS, return_when="FIRST_COMPLETED")
                    if not self._present():
                        raise DeviceError(f"all workers of {self.cluster} were lost")
                for future in ended:
                    place, repeats = waiting.pop(future)
                    try:
                        value, worker = future.result()
                        yield Done(place, value, "", worker, repeats)
                    except distributed.KilledWorker as lost:
                        if repeats < REPEATS:
                            submit(place, repeats + 1)
                            continue
                        address = str(getattr(lost.last_worker, "address", ""))
                        yield Done(place, None, f"{repeats + 1} workers were lost in this run", address, repeats)
                    except distributed.CancelledError:
                        raise DeviceError(self._gone) from None
                    # What a function raises.
                    except Exception as error:
                        yield Done(place, None, error_message(error), "", repeats)
        finally:
            self._client.cancel(list(waiting), force=True)

    def start_lanes(self, clock: Clock, recorder: Recorder) -> list[str]:
        """Note requests from now on, for a trace. Returns sentences on its lanes."""
        self.lanes = WorkerLanes(lambda holder: self.call("clock", [(holder, ())])[0], clock, recorder)
        for address in sorted(self._met):
            self.lanes.meet(self._met[address])
        return self.lanes.notes

    def note(self, exchanges: Sequence[Exchange]) -> None:
        """Requests that were sent together, for the trace if there is one."""
        if self.lanes:
            self.lanes.note(exchanges)

    def resolve(self) -> None:
        """Add what was noted to the trace, if there is one."""
        if self.lanes:
            self.lanes.resolve()

    def close(self) -> None:
        """Disconnect, and end the workers that were started here."""
        self._finalize()

    @property
    def _gone(self) -> str:
        return f"the scheduler of cluster {self.cluster} does not answer any more"

    def _present(self) -> set[str]:
        """The addresses of all workers that the scheduler knows. Raises DeviceError where it does not answer."""
        try:
            return set(self._client.nthreads())
        # A client without a scheduler raises errors of many types.
        except Exception:
            raise DeviceError(self._gone) from None

    def _connected(self, address: str) -> Any:
        # Whoever checks before: what a scheduler sends is unpickled.
        if os.environ.get(CLUSTERS) == "none":
            raise InputError("clusters are not available on this page; leave the cluster out")
        try:
            self._greet(address)
            with warnings.catch_warnings():
                # Other versions of the packages that matter are refused below, in one sentence.
                warnings.simplefilter("ignore")
                return self._distributed.Client(
                    address, timeout=CONNECT_SECONDS, direct_to_workers=True, set_as_default=False
                )
        # What another service sends is read as lengths, frames and messages of Dask's, with errors of many types.
        except Exception:
            raise InputError(
                f"no Dask scheduler answers at {address} within {CONNECT_SECONDS:.0f} s; start one there with "
                "`dask scheduler`, or check the address"
            ) from None

    def _greet(self, address: str) -> None:
        """Exchange the first messages with a scheduler. A client would wait for ever for those of another service."""

        async def greeted() -> None:
            options = self._distributed.Security().get_connection_args("client")
            async with asyncio.timeout(CONNECT_SECONDS):
                connection = await self._distributed.comm.connect(address, timeout=CONNECT_SECONDS, **options)
            connection.abort()

        # In a thread, since a notebook runs an event loop in this one.
        with concurrent.futures.ThreadPoolExecutor(1) as thread:
            thread.submit(lambda: asyncio.run(greeted())).result()

    def _check(self) -> None:
        """Raise InputError for no worker, and for one with other versions than here."""
        present = sorted(self._present())
        if not present:
            raise InputError(
                f"the scheduler at {self.cluster} has no worker; start some with `dask worker {self.cluster}`"
            )
        for address, sentence in sorted(self._differing(present).items()):
            raise InputError(f"worker {address} {sentence}")

    def _differing(self, addresses: Sequence[str]) -> dict[str, str]:
        """Reasons why workers cannot be used, by address."""
        here = versions()
        try:
            found = self._client.run(versions, workers=list(addresses), on_error="return") if addresses else {}
        except OSError:
            # The scheduler, or the last of these workers, has left; the next request says which.
            found = dict.fromkeys(addresses)
        wrong: dict[str, str] = {}
        for address, there in found.items():
            if isinstance(there, ImportError):
                install = f"install {DISTRIBUTION} {here['workbench']} there"
                wrong[address] = f"cannot import this version of the workbench ({there}); {install}"
            elif not isinstance(there, dict):
                wrong[address] = "does not answer"
            else:
                other = next((name for name in here if there.get(name) != here[name]), None)
                if other:
                    both = f"has {other} {there.get(other)}, and this process {here[other]}"
                    wrong[address] = f"{both}; install the same version on both"
        return wrong


def _with_address(function: Callable[..., object], arguments: tuple[object, ...]) -> tuple[object, str]:
    """On a worker: the result of a function, and the address."""
    return function(*arguments, _task_is_cancelled()), _dask().get_worker().address


def _task_is_cancelled() -> Callable[[], bool]:
    """On a worker: a function that returns True once the present task is cancelled."""
    worker = _dask().get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    return lambda: task is None or task.state not in ("executing", "long-running")


def _dask() -> ModuleType:
    try:
        return importlib.import_module("distributed")
    except ImportError:
        raise InputError(
            f'a cluster needs Dask, which is not installed; run: pip install "{DISTRIBUTION}[cluster]"'
        ) from None


def _close(client: Any) -> None:
    # A scheduler that has gone cannot say goodbye.
    with contextlib.suppress(Exception):
        client.close(timeout=CONNECT_SECONDS)
