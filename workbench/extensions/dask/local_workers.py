"""A Dask scheduler in this process, and workers in processes of this machine."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from workbench.errors import InputError
from workbench.files import TemporaryFolder, unbroken

if TYPE_CHECKING:
    from types import ModuleType

START_SECONDS = 120.0
"""Seconds within which all workers must have registered: on a loaded machine each takes many to import its modules."""
STOP_SECONDS = 5.0
"""Seconds in which the scheduler may end by itself."""
THREADS = (
    "WORKBENCH_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
"""Variables of the environment that limit threads: a worker has one."""
OPTIONS = ("--nthreads=1", "--no-nanny", "--no-dashboard", "--memory-limit=0", "--death-timeout=60", "--host=127.0.0.1")
"""Options of `dask worker`. Without a nanny, a worker that has ended is not started again: its boxes move to others."""


class LocalWorkers:
    """A scheduler, and `count` worker processes with one thread each.

    Workers are started as programs, since multiprocessing would import the caller's script again in each. They end with
    the scheduler, hence also if this process is killed.

    distributed: the package of that name.
    """

    def __init__(self, distributed: ModuleType, count: int) -> None:
        with contextlib.ExitStack() as opened:
            # Closed in reverse order, also if a signal ends the start. No signal interrupts the start of the scheduler,
            # which would write into the folder after its removal.
            with unbroken():
                # An attribute, since the folder is removed with the object that made it.
                self._temporary = TemporaryFolder("dask")
                opened.callback(self._temporary.remove)
                self._folder = str(self._temporary.path)
                self._cluster = distributed.LocalCluster(
                    n_workers=0,
                    processes=True,
                    dashboard_address="127.0.0.1:0",
                    silence_logs=False,
                    # Dask does not repeat the task of a lost worker. Its caller does, and reports the loss.
                    scheduler_kwargs={"local_directory": self._folder, "allowed_failures": 0},
                )
                opened.callback(self._end_scheduler)
            self.address: str = self._cluster.scheduler_address
            self.processes: list[subprocess.Popen[bytes]] = []
            opened.callback(self._end_processes)
            for number in range(count):
                self.processes.append(self._started(number))
            self._opened = opened.pop_all()

    def wait_for(self, client: Any) -> None:
        """Wait until all workers have registered. client: a `distributed.Client` of the scheduler.

        Raises InputError if a worker ends, or after `START_SECONDS`.
        """
        deadline = time.monotonic() + START_SECONDS
        while len(client.nthreads()) < len(self.processes):
            ended = [process.returncode for process in self.processes if process.poll() is not None]
            if ended or time.monotonic() > deadline:
                reason = f"one ended with status {ended[0]}" if ended else f"not within {START_SECONDS:.0f} s"
                raise InputError(
                    f"the {len(self.processes)} local Dask workers did not start: {reason}; start `dask scheduler` and "
                    "`dask worker tcp://127.0.0.1:8786` in terminals, which print the reason"
                )
            time.sleep(0.02)

    def close(self) -> None:
        """End the scheduler and all processes."""
        self._opened.close()

    def _end_processes(self) -> None:
        # Workers have nothing to save. On a request to end they would first wait for the scheduler, which may be gone.
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()

    def _end_scheduler(self) -> None:
        with contextlib.suppress(Exception):
            self._cluster.close(timeout=STOP_SECONDS)

    def _started(self, number: int) -> subprocess.Popen[bytes]:
        """A new worker process. number: its name."""
        # A worker imports the same modules as this process, from the same places.
        path = os.pathsep.join(filter(None, sys.path))
        command = [sys.executable, "-P", "-m", "distributed.cli.dask_worker", self.address, *OPTIONS]
        return subprocess.Popen(
            [*command, f"--name={number}", f"--local-directory={self._folder}"],
            env={**os.environ, "PYTHONPATH": path, **dict.fromkeys(THREADS, "1")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # An interrupt from the keyboard reaches this process alone, which ends the run in order.
            start_new_session=True,
        )
