"""A race as it ended, as plain values: its entries with their runs, the tolerance, and the verdict."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Sequence

from workbench.machines.describe import describe_machine, machine_line
from workbench.records import Record
from workbench.run.choices.configuration import Configuration
from workbench.run.jobs.race_entry import RaceEntry
from workbench.run.jobs.ranking import Sample

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def same_system(one: Configuration, other: Configuration) -> bool:
    """True if two configurations solve the same A x = b."""
    return (one.problem, one.rhs, one.seed) == (other.problem, other.rhs, other.seed)


@dataclasses.dataclass(frozen=True, eq=False)
class EntryRecord:
    """An entry of a race: its configuration, and its run where that has ended.

    error: the sentence of one that ended without a run. samples: its later runs, for the times. number: in the race, 0
    for the next one. listed, given: the number of the run in a list of runs, and the name that the user gave it there.
    """

    configuration: Configuration
    record: Record | None = None
    error: str = ""
    samples: tuple[Sample, ...] = ()
    number: int = 0
    listed: int = 0
    given: str = ""

    @property
    def ended(self) -> bool:
        """True if it has a run, or failed."""
        return self.record is not None or bool(self.error)

    @classmethod
    def of(cls, entry: RaceEntry, samples: Sequence[Sample] = ()) -> EntryRecord:
        """An entry as it is now; one that has not ended is as before its start."""
        if not entry.ended:
            return cls(entry.configuration, number=entry.number)
        record = entry.record
        return cls(entry.configuration, record, "" if record else entry.error, tuple(samples), entry.number)


@dataclasses.dataclass(frozen=True, eq=False)
class RaceRecord:
    """A race as it ended. tolerance: a relative residual. measure: one of `ranking.MEASURES`. with_setup: seconds count
    the setup. ended: date and time, ISO 8601. machine, cores: where it ran, and the cores that it could use. verdict:
    the sentence on the winner, empty without one.

    Examples:
        >>> from workbench.run import Race, configure
        >>> from workbench.run.jobs.race_record import EntryRecord, RaceRecord
        >>> race = Race([configure("two-layer", n=16)])
        >>> _ = race.wait()
        >>> RaceRecord.of([EntryRecord.of(entry) for entry in race.entries], 1e-6).entries[0].ended
        True
    """

    entries: tuple[EntryRecord, ...]
    tolerance: float
    measure: str = "seconds"
    with_setup: bool = True
    ended: str = ""
    machine: str = ""
    cores: int = 1
    verdict: str = ""

    @classmethod
    def of(
        cls,
        entries: Sequence[EntryRecord],
        tolerance: float,
        measure: str = "seconds",
        *,
        with_setup: bool = True,
        verdict: str = "",
    ) -> RaceRecord:
        """A race of this machine, which ended with the last of its entries."""
        ends = [end for entry in entries if (end := _end_of(entry.record))]
        last = max(ends, default=datetime.datetime.now(datetime.UTC)).isoformat(timespec="seconds")
        cores = int(describe_machine()["cores_usable"])
        return cls(tuple(entries), tolerance, measure, with_setup, last, machine_line(), cores, verdict)

    @property
    def where(self) -> str:
        """The date and the machine in words: "on 30 Nov 2026, 06:20 UTC, AMD EPYC, 2 cores"."""
        try:
            made = datetime.datetime.fromisoformat(self.ended).astimezone(datetime.UTC)
        # The second for the first and last year of the calendar.
        except (ValueError, OverflowError):
            return f"on {self.machine}" if self.machine else ""
        when = f"on {made.day} {MONTHS[made.month - 1]} {made.year}, {made:%H:%M} UTC"
        return f"{when}, {self.machine}" if self.machine else when


def _end_of(record: Record | None) -> datetime.datetime | None:
    """The time at which a run ended, to a second; None where its start is not known."""
    if record is None:
        return None
    try:
        begun = datetime.datetime.fromisoformat(str(record.provenance.get("started", ""))).astimezone(datetime.UTC)
        spent = (record.summary[name] or 0.0 for name in ("setup_seconds", "compile_seconds", "iteration_seconds"))
        return begun + datetime.timedelta(seconds=float(sum(spent)))
    except (ValueError, OverflowError):
        return None
