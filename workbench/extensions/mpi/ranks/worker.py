"""The program of every rank: it sets the run up and follows commands, and rank 0 replies."""

from __future__ import annotations

import contextlib
import os
import pickle
import socket
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workbench.errors import DeviceError, InputError
from workbench.extensions.mpi.ranks import rows
from workbench.extensions.mpi.ranks.commands import Commands
from workbench.extensions.mpi.ranks.events import RankEvents
from workbench.extensions.mpi.ranks.rank_errors import reported_errors, write_error
from workbench.extensions.mpi.run.messages import (
    ERROR,
    RANKS,
    READY,
    REPLY,
    SETUP,
    Facts,
    Job,
    Present,
    Solution,
    Steps,
    line,
)
from workbench.extensions.mpi.this_rank import enter, library, unconnected
from workbench.records import BlockHistory
from workbench.run.choices.stopping import Reason
from workbench.run.driver import Run
from workbench.run.loop.traffic import iteration_bytes
from workbench.run.results.snapshots import Quantity, vector_of
from workbench.run.setup.setup_phases import SetupPhases

if TYPE_CHECKING:
    from mpi4py import MPI


STEP_SECONDS = 0.05
"""Duration of the steps of one command: curves are drawn, and runs stopped, between them."""
SHOW_EVERY = 0.1
"""Seconds between two messages on the phases of the setup."""


class MessageWriter:
    """Writes messages on rank 0; what libraries print goes to standard error."""

    def __init__(self, world: MPI.Intracomm) -> None:
        self._to = None
        sys.stdout.flush()
        if world.rank == 0:
            self._to = os.fdopen(os.dup(1), "w", encoding="ascii")
        os.dup2(2, 1)
        self._lock = threading.Lock()

    def write(self, kind: str, data: object, number: int = 0) -> None:
        """Write a message."""
        if self._to is not None:
            # Where no process reads any more, the end of the commands is near.
            with self._lock, contextlib.suppress(BrokenPipeError):
                print(line(kind, data, number), file=self._to, flush=True)


def work(world: MPI.Intracomm, folder: Path) -> None:
    """Make the run of a folder's job on the ranks of a communicator; returns when it is over."""
    writer, own = MessageWriter(world), world.Dup()
    commands = Commands(own, folder)
    processes = world.gather((socket.gethostname(), os.getpid()))
    writer.write(RANKS, Present(processes or [], library()))
    with reported_errors(world.Dup(), lambda error: writer.write(ERROR, error)):
        with open(folder / "job", "rb") as stream:
            job: Job = pickle.load(stream)
        commands.end_with(job.host, job.process)
        own.Barrier()
        # mpiexec ends its ranks at once where no process reads its output any more, so that it would stay.
        commands.clear_away()
        if job.configuration.ranks != world.size:
            raise InputError(unconnected(job.configuration.ranks))
        enter(world, lambda sentence: write_error(DeviceError(sentence)))
        run = _set_up(job, writer)
        _Worker(run, world, own, writer).follow(commands)


def _set_up(job: Job, writer: MessageWriter) -> Run:
    phases, over = SetupPhases(), threading.Event()

    def show() -> None:
        before = None
        while not over.wait(SHOW_EVERY):
            if (now := (tuple(phases.done), phases.present)) != before:
                writer.write(SETUP, now)
                before = now

    shown = threading.Thread(target=show, daemon=True)
    shown.start()
    try:
        return Run(job.configuration, job.system, job.x0, trace=job.trace, phases=phases)
    finally:
        over.set()
        shown.join()


class _Worker:
    """A rank that follows commands."""

    def __init__(self, run: Run, world: MPI.Intracomm, own: MPI.Intracomm, writer: MessageWriter) -> None:
        self._run, self._world, self._own, self._writer = run, world, own, writer
        self._rows_sent = self._true_sent = 0
        self._seconds_each = 0.0
        self._events = RankEvents(own, run.trace) if run.trace is not None else None
        writer.write(READY, self._facts())

    def follow(self, commands: Commands) -> None:
        """Follow commands until the end."""
        while (command := commands.next())["do"] != "end":
            data = getattr(self, f"_do_{command.pop('do')}")(**command)
            self._writer.write(REPLY, data, command["number"])

    def _do_step(self, number: int, most: int | None) -> Steps:
        """Iterate for `STEP_SECONDS`, as the first rank expects it."""
        left = max(1, int(STEP_SECONDS / self._seconds_each)) if self._seconds_each else 1
        left = self._own.bcast(left if most is None else min(most, left))
        run, begun, before = self._run, time.perf_counter(), self._run.history.count
        # A step makes several iterations on some devices.
        while run.history.count < before + left and run.step(before + left - run.history.count):
            pass
        made = max(1, run.history.count - before)
        self._seconds_each = max((time.perf_counter() - begun) / made, 1e-7)
        new = run.history.since(self._rows_sent, self._true_sent)
        self._rows_sent, self._true_sent = run.history.count, self._true_sent + len(new["true_residuals"])
        events = self._events.new() if self._events else []
        return Steps(new, run.iteration_seconds, run.ending, self._notes(), events)

    def _do_vector(self, number: int, quantity: str, column: int, file: str) -> str:
        """Write a vector, if any; returns words on it."""
        vector, words = vector_of(self._run.state, Quantity(quantity), column)
        if vector is not None:
            rows.write(self._own, Path(file), np.asarray(self._run.setup.device.to_host(vector)))
        return words

    def _do_result(self, number: int, reason: str | None, file: str) -> Solution:
        """Write x, and measure its true residual."""
        if reason is not None and self._run.ending is None:
            self._run.cancel(Reason[reason])
        result = self._run.result()
        rows.write(self._own, Path(file), np.asarray(result.x))
        error = self._events.error() if self._events else 0.0
        return Solution(result.true_relative_residual, result.columns, self._notes(), error)

    def _facts(self) -> Facts:
        run, setup = self._run, self._run.setup
        history, moved = run.history, iteration_bytes(run.setup)
        return Facts(
            unknowns=setup.unknowns,
            dtype=np.dtype(setup.operator.dtype),
            entries=setup.entries,
            device=setup.device.name,
            solver=setup.solver,
            variant=setup.variant,
            coarse_name=setup.projection.coarse_name if setup.projection else None,
            deflation_vectors=setup.deflation_vectors,
            need=setup.need,
            changes=setup.changes,
            removed=setup.removed,
            has_exact=setup.exact is not None,
            has_null_space=bool(setup.null_space),
            columns=history.size if isinstance(history, BlockHistory) else 0,
            chunks=run.chunks,
            norm_of_b=run.norm_of_b,
            threshold=run.threshold,
            phases=setup.phases.done,
            compile_seconds=setup.phases.compile_seconds,
            iteration_bytes=None if moved is None else setup.device.total(moved),
            notes=self._notes(),
        )

    def _notes(self) -> list[str]:
        return [*self._run.setup.all_notes, *self._run.state.vectors.notes]
