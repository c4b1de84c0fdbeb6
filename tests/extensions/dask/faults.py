"""Workers of a cluster that are killed during a request, or that hang until the scheduler misses them."""

from __future__ import annotations

import os
import signal
import subprocess
import threading

import pytest

from workbench.extensions.dask import workers
from workbench.extensions.dask.local_workers import LocalWorkers
from workbench.extensions.dask.workers import Workers


def process_of(connected: Workers, holder) -> int:
    return connected._client.run(os.getpid)[holder.address]


def kill_during(connected: Workers, pid: int, monkeypatch: pytest.MonkeyPatch, method: str = "") -> None:
    """Kill the worker once a request is under way: it is suspended, so that it cannot reply before.

    method: the name of the request; without one it is the next, whatever its name.
    """
    call = connected.call

    def killing(name, calls, **more):
        if method not in ("", name):
            return call(name, calls, **more)
        monkeypatch.undo()
        os.kill(pid, signal.SIGSTOP)
        killer = subprocess.Popen(["sh", "-c", f"sleep 0.2; kill -9 {pid}"])
        replies = call(name, calls, **more)
        killer.wait()
        return replies

    monkeypatch.setattr(connected, "call", killing)


def watched_clusters(monkeypatch: pytest.MonkeyPatch) -> list[LocalWorkers]:
    """The clusters that are started from now on, asked ten times a second who is present."""
    monkeypatch.setattr(workers, "PRESENCE_SECONDS", 0.1)
    made: list[LocalWorkers] = []
    start = LocalWorkers.__init__
    monkeypatch.setattr(LocalWorkers, "__init__", lambda self, *values: (made.append(self), start(self, *values))[1])
    return made


def hang_and_be_missed(made: LocalWorkers, pid: int, holder) -> threading.Timer:
    """Suspend the worker; half a second later the scheduler removes it."""
    os.kill(pid, signal.SIGSTOP)
    cluster = made._cluster
    removed = {"address": holder.address, "stimulus_id": "test"}
    later = threading.Timer(0.5, cluster.sync, [cluster.scheduler.remove_worker], removed)
    later.start()
    return later
