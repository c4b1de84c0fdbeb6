"""The setup of a run on ranks, as far as it is known in the process that asked for it."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Generator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from workbench.extensions.mpi.run.messages import Facts
from workbench.extensions.mpi.run.processes import RankProcesses
from workbench.problems import LinearSystem
from workbench.run.choices.configuration import Configuration
from workbench.run.choices.memory_need import MemoryNeed
from workbench.run.setup.prepare import assembled
from workbench.run.setup.setup_phases import SetupPhases

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector


@dataclasses.dataclass(frozen=True)
class RankDevice:
    """The device of each rank, by name; no vector of this process is on it."""

    name: str


@dataclasses.dataclass(frozen=True)
class RankOperator:
    """A, of which each rank has its rows."""

    shape: tuple[int, int]
    dtype: np.dtype


@dataclasses.dataclass(frozen=True)
class RankProjection:
    """The second level, which the ranks have."""

    coarse_name: str
    levels: None = None


class RankSetup:
    """The part of a `SolveSetup` that reports and views ask for; vectors and operators are with the ranks."""

    sides = workers = labels = None

    def __init__(
        self,
        configuration: Configuration,
        system: LinearSystem | None,
        ranks: RankProcesses,
        phases: SetupPhases,
        facts: Facts,
    ) -> None:
        self._configuration, self._given = configuration, system
        self.ranks, self.phases, self.facts = ranks, phases, facts
        self.solver, self.variant = self.facts.solver, self.facts.variant
        self.device = RankDevice(self.facts.device)
        self.operator = RankOperator((self.facts.unknowns, self.facts.unknowns), self.facts.dtype)
        name = self.facts.coarse_name
        self.projection = RankProjection(name) if name is not None else None
        self.exact = True if self.facts.has_exact else None
        # Views test whether the vectors are there.
        self.x: DeviceVector = np.empty(0)
        self.unknowns = self.facts.unknowns
        self.all_notes = self.facts.notes

    deflation_vectors = property(lambda self: self.facts.deflation_vectors)
    entries = property(lambda self: self.facts.entries)
    changes = property(lambda self: self.facts.changes)
    removed = property(lambda self: self.facts.removed)
    null_space = property(lambda self: self.facts.has_null_space)
    iteration_bytes = property(lambda self: self.facts.iteration_bytes)

    @property
    def need(self) -> MemoryNeed | None:
        """Memory as estimated before assembly."""
        return self.facts.need

    @cached_property
    def system(self) -> LinearSystem:
        """The whole system, assembled in this process where it is asked for, as views do. Cost: its memory."""
        return self._given if self._given is not None else assembled(self._configuration)

    def close(self) -> None:
        """Nothing: the ranks end when their solution has been written."""

    @contextlib.contextmanager
    def closed_on_error(self) -> Generator[None]:
        """End the ranks where an error leaves this context."""
        try:
            yield
        except Exception:
            self.ranks.end()
            raise

    def release(self) -> None:
        """End the ranks; their vectors go with them."""
        self.x = None
        self.ranks.end()
