"""Messages between a run and its ranks: lines of JSON, what is more than numbers and texts within them pickled.

To rank 0: {"do": "step", "number": 7, "most": null}. From rank 0: {"kind": "reply", "number": 7, "data": "..."}. Both
ends are of one user, who may run anything in both. Arrays keep all their digits, and the size of the system is in no
message: vectors are written into files, see `workbench.extensions.mpi.ranks.rows`.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import json
import os
import pickle
import socket
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.deflation import Variant
from workbench.records.trace import Kernel
from workbench.run.loop.iteration_state import Termination
from workbench.run.loop.result import Column
from workbench.run.setup.setup_phases import SetupPhase
from workbench.solvers import Solver

if TYPE_CHECKING:
    from workbench.problems import LinearSystem
    from workbench.run.choices.configuration import Configuration
    from workbench.run.choices.memory_need import MemoryNeed


RANKS, SETUP, READY, REPLY, ERROR = "ranks", "setup", "ready", "reply", "error"
"""Kinds of messages from rank 0; a rank that fails alone sends an error too, on its standard error."""
STOP = "stop"
"""The line to rank 0 that ends the ranks."""


@dataclasses.dataclass(frozen=True)
class Job:
    """A solve for the ranks. x0 and the arguments of `Run` are those of the caller. host, process: of the run."""

    configuration: Configuration
    system: LinearSystem | None
    x0: np.ndarray | None
    trace: bool
    host: str = dataclasses.field(default_factory=socket.gethostname)
    process: int = dataclasses.field(default_factory=os.getpid)


@dataclasses.dataclass(frozen=True)
class Present:
    """The ranks. processes: host and number of the process of each. library: of MPI, with its version."""

    processes: list[tuple[str, int]]
    library: str

    @property
    def hosts(self) -> list[str]:
        """The machines, each once."""
        return list(dict.fromkeys(host for host, _ in self.processes))


@dataclasses.dataclass(frozen=True)
class Facts:
    """Facts known once the ranks are set up; the names are those of `SolveSetup` and `Iterations`. Bytes and entries
    are those of all ranks, phases those of rank 0."""

    unknowns: int
    dtype: np.dtype
    entries: int | None
    device: str
    solver: Solver
    variant: Variant
    coarse_name: str | None
    deflation_vectors: int
    need: MemoryNeed | None
    changes: tuple[str, ...]
    removed: float
    has_exact: bool
    has_null_space: bool
    columns: int
    chunks: list[slice]
    norm_of_b: float
    threshold: float
    phases: list[SetupPhase]
    compile_seconds: float
    iteration_bytes: int | None
    notes: list[str]


@dataclasses.dataclass(frozen=True)
class Events:
    """New events of the trace of a rank.

    waits: pairs of an event and one that it waited for, by their places in that trace, shape (k, 2). ahead: seconds by
    which its times are ahead of those of rank 0.
    """

    kernels: list[Kernel]
    rows: np.ndarray
    waits: np.ndarray
    ahead: float


@dataclasses.dataclass(frozen=True)
class Steps:
    """The additions by some iterations. rows: as `History.since` has them. events: by rank, of a traced run."""

    rows: dict[str, np.ndarray]
    seconds: float
    ending: Termination | None
    notes: list[str]
    events: list[Events]


@dataclasses.dataclass(frozen=True)
class Solution:
    """The present solution, whose rows have been written. clock_error: of the times of a traced run, in s."""

    true_relative: float
    columns: tuple[Column, ...]
    notes: list[str]
    clock_error: float


def line(kind: str, data: object, number: int = 0) -> str:
    """A message from a rank."""
    packed = base64.b64encode(pickle.dumps(data, protocol=pickle.HIGHEST_PROTOCOL)).decode("ascii")
    return json.dumps({"kind": kind, "number": number, "data": packed})


def read(text: str) -> list[tuple[str, int, Any]]:
    """Kind, number and data of each message in a line from the ranks; none in any other line, such as those of mpiexec.

    Ranks that write at the same time may share a line.
    """
    found = []
    # The data have no braces.
    for part in text.split("{")[1:]:
        # A message may be cut off where a rank was killed.
        with contextlib.suppress(ValueError, KeyError, TypeError, EOFError, pickle.UnpicklingError):
            message, _ = json.JSONDecoder().raw_decode("{" + part)
            found.append((message["kind"], message["number"], pickle.loads(base64.b64decode(message["data"]))))
    return found
