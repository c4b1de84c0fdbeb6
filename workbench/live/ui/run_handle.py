"""One class for every form in which a view is given a run: session, race entry, run in memory, result, or record."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from workbench.errors import InputError
from workbench.problems import LinearSystem
from workbench.records import History, Record, Trace
from workbench.records.film import Film
from workbench.run import Configuration, RaceEntry, Result, Run, Session, State
from workbench.run.results.report import provenance_of
from workbench.words.names import Parts, method_name, problem_name

RunSource = Session | Run | Result | Record
"""A run that can be looked into."""
AnyRun = RunSource | RaceEntry
ACTIVE = (Session, RaceEntry)
"""Runs that may not have ended, with a state and, at the end, a result."""


@dataclasses.dataclass(frozen=True, eq=False)
class RunHandle:
    """A run that is active or has ended.

    source: the run itself. label: its name in a menu or a legend; by default problem and method.
    """

    source: AnyRun
    label: str = ""

    @property
    def name(self) -> str:
        """The label, or problem and method where there is none."""
        return self.label or self.title

    @property
    def parts(self) -> Parts:
        """The parts of its name, see `workbench.words.names.run_parts`."""
        return self._named.parts

    @property
    def problem(self) -> str:
        """The name of the problem."""
        return problem_name(self.parts)

    @property
    def method(self) -> str:
        """The names of the blocks."""
        return method_name(self.parts)

    @property
    def code(self) -> str:
        """The method as code writes it, for tooltips."""
        return self._named.code

    @property
    def title(self) -> str:
        """Problem and method."""
        return f"{self.problem}, {self.method}"

    @property
    def file_title(self) -> str:
        """Title and time of the start, for file names: two runs of one configuration have different names."""
        return f"{self.title} {self.provenance.get('started', '')}".strip()

    @property
    def state(self) -> State:
        """The state of the session; done for a run without one."""
        return self.source.state if isinstance(self.source, ACTIVE) else State.DONE

    @property
    def busy(self) -> bool:
        """True while it is being set up or iterates."""
        return self.state in (State.SETUP, State.RUNNING)

    @property
    def over(self) -> bool:
        """True if history and trace are complete."""
        return self.state in (State.DONE, State.FAILED)

    @property
    def waiting(self) -> str:
        """The state of a run that has not begun to iterate: not started, queued, paused, or setting up and the phase of
        that; empty otherwise."""
        if self.run is not None or self.over or not isinstance(self.source, ACTIVE):
            return ""
        state = "not started" if self.state is State.IDLE else self.state.value
        return ", ".join(filter(None, (state, self.source.phases.present)))

    @property
    def phases(self) -> list[list[Any]]:
        """The phases of an active setup, as `SetupPhases.shown`; none before and after it."""
        if isinstance(self.source, ACTIVE) and self.state is State.SETUP:
            return self.source.phases.shown()
        return []

    @property
    def error(self) -> str:
        """The sentence of a session that failed."""
        return self.source.error if isinstance(self.source, ACTIVE) else ""

    @property
    def run(self) -> Run | None:
        """The run in memory; None before its setup is done, and for results and records."""
        if isinstance(self.source, ACTIVE):
            return self.source.run
        return self.source if isinstance(self.source, Run) else None

    @property
    def waited(self) -> float:
        """Seconds in the run queue so far; 0 for a run that was not made here."""
        return self.source.waited if isinstance(self.source, ACTIVE) else 0.0

    @property
    def history(self) -> History | None:
        """The history of the run; None before the setup of a session is done."""
        kept = self.run if isinstance(self.source, ACTIVE) else self.source
        return kept.history if kept else None

    @property
    def trace(self) -> Trace | None:
        """The trace of the run; None where it is not traced."""
        kept = self.run if isinstance(self.source, ACTIVE) else self.source
        return kept.trace if kept else None

    @property
    def traced(self) -> bool:
        """True if it has a trace, or will have one."""
        return self.trace is not None or (isinstance(self.source, Session) and self.source.traced and not self.over)

    @property
    def film(self) -> Film | None:
        """The film of the run; None where it is not filmed."""
        kept = self.run if isinstance(self.source, ACTIVE) else self.source
        return kept.film if kept else None

    @property
    def summary(self) -> Mapping[str, Any] | None:
        """Setup time, iterations, seconds, true residual and all else of a summary; None before the end of the run."""
        if isinstance(self.source, (Result, Record)):
            return self.source.summary
        result = self.source.result if isinstance(self.source, ACTIVE) else None
        return result.summary if result else None

    @property
    def unknowns(self) -> int | None:
        """N, or None before it is known."""
        if isinstance(self.source, (Result, Record)):
            return int(self.source.summary["N"])
        return self.run.setup.operator.shape[0] if self.run else None

    @property
    def device(self) -> str:
        """The name of the device in the configuration."""
        if isinstance(self.source, (*ACTIVE, Run)):
            return self.source.configuration.device
        return str(self.source.summary["device"])

    @property
    def provenance(self) -> dict[str, Any]:
        """Configuration, versions and machine; the configuration alone before the setup is done."""
        if isinstance(self.source, (Result, Record)):
            return self.source.provenance
        return provenance_of(self.run.state) if self.run else {"configuration": self.source.configuration.to_dict()}

    def configuration(self) -> Configuration:
        """The configuration. Raises InputError for a result or a file that does not contain all of it, such as a matrix
        from memory."""
        if isinstance(self.source, (*ACTIVE, Run)):
            return self.source.configuration
        try:
            return Configuration.from_dict(self.source.provenance["configuration"])
        except (KeyError, TypeError):
            raise InputError("the run does not contain all of its configuration, so it cannot be repeated") from None

    def described(self) -> tuple[Configuration, LinearSystem | None]:
        """The configuration, and the system while it is in memory. Raises InputError as `configuration`.

        The configuration of a result or a file has the device cpu, since the original device and cluster may be absent.
        """
        if isinstance(self.source, (*ACTIVE, Run)):
            return self.source.configuration, self.run.setup.system if self.run else None
        alone = {"device": "cpu", "cluster": None, "ranks": 1, "memory_limit": None}
        return dataclasses.replace(self.configuration(), **alone), None

    @property
    def _named(self) -> Configuration | Record:
        if isinstance(self.source, (*ACTIVE, Run)):
            return self.source.configuration
        return self.source if isinstance(self.source, Record) else self.source.record()
