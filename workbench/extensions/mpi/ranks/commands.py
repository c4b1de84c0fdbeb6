"""Commands to the ranks: rank 0 reads them from its standard input, and every rank gets each of them."""

from __future__ import annotations

import json
import os
import queue
import shutil
import socket
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.extensions.mpi.run.messages import STOP

if TYPE_CHECKING:
    from mpi4py import MPI


GRACE = 0.8
"""Seconds after the end of the input in which the ranks end by themselves; a setup, or an iteration that takes longer,
is ended by force."""
SPINNING = 0.001
"""Seconds that a rank waits actively for a command: steps follow one another that fast."""
ASLEEP = 0.002
"""Seconds between two looks of a rank that waits longer, so that it leaves its core to others."""
LOOK = 1.0
"""Seconds between two looks at the process of the run."""
END: dict[str, Any] = {"do": "end"}


class Commands:
    """The commands of the process that has started the ranks, until it ends or says `STOP`.

    world: a communicator of their own. folder: removed with the ranks.
    """

    def __init__(self, world: MPI.Intracomm, folder: Path) -> None:
        self._world, self._folder = world, folder
        self._inbox: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        if world.rank == 0:
            threading.Thread(target=self._listen, daemon=True).start()

    def next(self) -> dict[str, Any]:
        """The next command, the same on all ranks."""
        command = self._inbox.get() if self._world.rank == 0 else None
        woken = self._world.Ibarrier()
        begun = time.perf_counter()
        while not woken.Test():
            time.sleep(0 if time.perf_counter() - begun < SPINNING else ASLEEP)
        return self._world.bcast(command)

    def end_with(self, host: str, process: int) -> None:
        """End once a process of this host has ended, which the end of the input says too, but for mpiexec of Open MPI
        5: it keeps the input of rank 0 open."""
        if self._world.rank == 0 and host == socket.gethostname() and _is_alive(process):
            threading.Thread(target=self._outlive, args=(process,), daemon=True).start()

    def clear_away(self) -> None:
        """Remove the folder, which the process that made it may have left."""
        if self._world.rank == 0:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _listen(self) -> None:
        for line in sys.stdin:
            if line.strip() == STOP:
                break
            self._inbox.put(json.loads(line))
        self._end()

    def _outlive(self, process: int) -> None:
        while _is_alive(process):
            time.sleep(LOOK)
        self._end()

    def _end(self) -> None:
        self._inbox.put(END)
        time.sleep(GRACE)
        self.clear_away()
        self._world.Abort(1)
        os._exit(1)


def _is_alive(process: int) -> bool:
    """True if a process of this machine has not ended; where that cannot be asked, too."""
    import psutil

    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return True
