"""The processes of the ranks of one run: mpiexec, its streams, and what is said when one of them ends."""

from __future__ import annotations

import collections
import contextlib
import json
import os
import pickle
import queue
import re
import signal
import socket
import subprocess
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.errors import DeviceError, InputError, one_line
from workbench.extensions.mpi.device import WAITED
from workbench.extensions.mpi.run import launcher
from workbench.extensions.mpi.run.ended_first import EndedFirst
from workbench.extensions.mpi.run.messages import ERROR, RANKS, REPLY, STOP, Job, Present, read
from workbench.files import TemporaryFolder
from workbench.run.cancellation import check_stopped

FOLDER = "ranks"
"""A word in the names of temporary folders, which all hosts of the ranks must share."""
TICK = 0.02
"""Seconds between two tests for a cancellation request."""
GRACE = 2.0
"""Seconds in which ranks end by themselves; then they are killed."""
DEAD = re.compile(r"PID (\d+) RUNNING AT (\S+)")
SIGNAL = re.compile(r"\bsignal (\d+)")
NOTICED = re.compile(r"process rank (\d+) with PID \d+ on node \S+ exited on signal \d+")
"""The sentence of Open MPI's mpiexec on a rank that is killed."""
LOST_CONNECTION = "process manager error waiting for completion"
EXIT_CODE = re.compile(r"EXIT CODE: (\d+)")
BY_ROOT = "attempt to run as root"
NOT_BY_ROOT = (
    "mpiexec of Open MPI starts nothing for root; where that is safe, as in a container, set OMPI_ALLOW_RUN_AS_ROOT=1 "
    "and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
)


class RankProcesses:
    """mpiexec and its ranks, from their start to `end`; also when this object or this process goes.

    doing: what they do, for the sentence of a rank that is lost. Raises InputError where they cannot be started.
    """

    def __init__(self, ranks: int, job: Job) -> None:
        self.doing = "in the setup"
        self._asking = threading.Lock()
        self.present: Present | None = None
        self._number = 0
        folder = TemporaryFolder(FOLDER)
        try:
            _write_job(folder.path / "job", job, ranks)
            self._process = subprocess.Popen(
                launcher.command(ranks, folder.path),
                env=launcher.environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                # An interrupt from the keyboard is for this process, which then ends the run in order.
                start_new_session=True,
            )
        except BaseException as error:
            folder.remove()
            if isinstance(error, OSError):
                raise InputError(f"the ranks cannot be started: {error}; see `workbench doctor`") from None
            raise
        self._messages: queue.SimpleQueue[tuple[str, int, Any] | None] = queue.SimpleQueue()
        self._last_words: collections.deque[str] = collections.deque(maxlen=20)
        self._banner: list[str] = []
        self._alone: list[BaseException] = []
        self._ended_first = EndedFirst()
        self._readers = [
            threading.Thread(target=_read_errors, args=(self._process, self._last_words, self._alone), daemon=True),
            threading.Thread(target=_read, args=(self._process, self._messages, self._banner), daemon=True),
        ]
        for reader in self._readers:
            reader.start()
        self.end = weakref.finalize(self, _end, self._process, folder, self._ended_first)
        """End the ranks: in order where they can, else by force. Cost: some milliseconds, at most `GRACE`."""

    def ask(self, do: str, others: Callable[[Any], object], **more: object) -> Any:
        """Send a command and wait for its reply. Raises DeviceError where a rank is lost, and the error of a rank.

        others: called with replies that an interrupt has left, which come first.
        """
        with self._asking:
            number = self.send(do, **more)
            while True:
                kind, which, data = self.next()
                if kind == REPLY and which == number:
                    return data
                if kind == REPLY:
                    others(data)

    def send(self, do: str, **more: object) -> int:
        """Send a command; the number of its reply."""
        self._number += 1
        stream = self._process.stdin
        # A rank that is gone is noticed where its reply is waited for.
        with contextlib.suppress(OSError, ValueError):
            assert stream is not None
            stream.write(json.dumps({"do": do, "number": self._number, **more}) + "\n")
            stream.flush()
        return self._number

    def next(self, stopped: Callable[[], bool] = lambda: False) -> tuple[str, int, Any]:
        """The next message. Raises StoppedError after a cancellation request, which ends the ranks."""
        while True:
            try:
                message = self._messages.get(timeout=TICK)
            except queue.Empty:
                if stopped():
                    self.kill()
                check_stopped(stopped)
                continue
            if message is None:
                raise self._lost()
            kind, _, data = message
            if kind == ERROR:
                self.end()
                raise data
            if kind == RANKS:
                self.present = data
                self._ended_first.watch(data.processes)
            return message

    def wake(self) -> None:
        """Let ranks of this machine that are suspended continue: others wait for them."""
        for host, process in self.present.processes if self.present and self.end.alive else []:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if host == socket.gethostname():
                    os.kill(process, signal.SIGCONT)

    def kill(self) -> None:
        """End the ranks at once."""
        _kill(self._process)
        self.end()

    def _lost(self) -> Exception:
        """Why the ranks have ended, though they were not to."""
        self._readers[0].join(GRACE)
        error = f"{self._how_it_ended()} {self.doing}"
        self.end()
        if any(isinstance(alone, DeviceError) for alone in self._alone):
            waited = "; ".join(sorted(map(str, self._alone)))
            return DeviceError(f"{waited}, {self.doing}; {WAITED}")
        if self._alone:
            return self._alone[0] if isinstance(self._alone[0], Exception) else InputError(str(self._alone[0]))
        if any(BY_ROOT in words for words in self._last_words):
            return InputError(NOT_BY_ROOT)
        return DeviceError(error) if self.present else InputError(error)

    def _how_it_ended(self) -> str:
        status = self._process.returncode
        banner = "\n".join(self._banner)
        dead = DEAD.search(banner)
        first = self._ended_first.rank() if self.present else None
        by_mpiexec = f"rank {first} ended, and mpiexec then ended the others,"
        if dead and self.present:
            which = dead[2], int(dead[1])
            named = [rank for rank, process in enumerate(self.present.processes) if process == which]
            if named and first not in (None, *named):
                return by_mpiexec
            name = f"rank {named[0]}" if named else f"process {dead[1]} on {dead[2]}"
            return f"{name} {_ended(banner)}"
        # Version 5 wraps it.
        noticed = NOTICED.search(" ".join("".join(self._last_words).split()))
        if noticed and self.present:
            return by_mpiexec if first not in (None, int(noticed[1])) else f"rank {noticed[1]} {_ended(noticed[0])}"
        # Open MPI frames its sentences with lines of dashes.
        last = next((one_line(words) for words in reversed(self._last_words) if words.strip("- \n")), "")
        # MPICH's mpiexec may lose its own connection to the ranks before it says which one has ended; that of Open MPI
        # 5 ends with the signal of several that have ended, and names none.
        if first is not None and (LOST_CONNECTION in last or status == 128 + signal.SIGKILL):
            return by_mpiexec
        # mpiexec of MPICH ends with the number of the signal that it was sent.
        how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        return f"mpiexec {how}{f' ({last})' if last else ''}"


def _ended(banner: str) -> str:
    """The end of a rank, as mpiexec reports it."""
    if by := SIGNAL.search(banner):
        shortage = ", as the system does where memory is short," if int(by[1]) == signal.SIGKILL else ""
        return f"was killed by signal {by[1]}{shortage}"
    code = EXIT_CODE.search(banner)
    return f"ended with status {code[1]}" if code else "ended"


def _write_job(path: Path, job: Job, ranks: int) -> None:
    try:
        with open(path, "wb") as stream:
            pickle.dump(job, stream, protocol=pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"ranks {ranks} needs what other processes can be sent, and this run has what cannot be: "
            f"{one_line(error)}; give A, M and deflation as arrays or by name, or leave out ranks",
            changes={"ranks": 1},
        ) from None


def _read(process: subprocess.Popen[str], messages: queue.SimpleQueue[Any], banner: list[str]) -> None:
    """In a thread: the messages of rank 0. What mpiexec says of a lost rank comes on the same stream."""
    assert process.stdout is not None
    for text in process.stdout:
        found = read(text)
        for message in found:
            messages.put(message)
        if not found and len(banner) < 50:
            banner.append(text.strip())
    process.wait()
    messages.put(None)


def _read_errors(process: subprocess.Popen[str], words: collections.deque[str], alone: list[BaseException]) -> None:
    """In a thread: the errors of ranks that failed alone, and the last words of any."""
    assert process.stderr is not None
    for text in process.stderr:
        found = read(text)
        alone.extend(error for _, _, error in found)
        if not found:
            words.append(text)


def _kill(process: subprocess.Popen[str]) -> None:
    """End mpiexec and its ranks on this machine, by force where it does not end in order, which removes its files."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if process.poll() is None:
                os.killpg(process.pid, how)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)


def _end(process: subprocess.Popen[str], folder: TemporaryFolder, ended_first: EndedFirst) -> None:
    ended_first.close()
    # The end of their standard input ends the ranks, and so does the word where mpiexec keeps it open.
    with contextlib.suppress(OSError, ValueError):
        assert process.stdin is not None
        process.stdin.write(f"{STOP}\n")
        process.stdin.close()
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        _kill(process)
    folder.remove()
