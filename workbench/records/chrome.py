"""Traces in Chrome's trace-event format, which Perfetto (ui.perfetto.dev) opens: export and import.

Source: "Trace Event Format", the Chromium project: complete events (X), flow events (s, f) and metadata (M).
"""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any, TypeVar

import workbench
from workbench.devices.clock import lane_order
from workbench.errors import InputError, printable_path
from workbench.files import read_bytes, write
from workbench.files.codec import read_json
from workbench.records.trace import Event, Trace, check_times
from workbench.records.typed import read

Kind = TypeVar("Kind")

FORMAT = "cg-workbench trace"
VERSION = 1
PROCESS = 1
MICRO = 1e6
MAX_BYTES = 1 << 31
"""Size limit of a trace file: about eight million events."""


def to_chrome(trace: Trace) -> dict[str, Any]:
    """Plain data for JSON: a thread per lane in use, an X event per event, a flow per dependency; microseconds."""
    threads = {lane: 1 + lane_order(lane) for lane in sorted({kernel.lane for kernel in trace.kernels}, key=lane_order)}
    title = f"{trace.machine or 'machine not named'} ({trace.label})"
    events: list[dict[str, Any]] = [_metadata("process_name", 0, {"name": title})]
    for lane, thread in threads.items():
        events.append(_metadata("thread_name", thread, {"name": lane}))
        events.append(_metadata("thread_sort_index", thread, {"sort_index": thread}))
    by_start = sorted(enumerate(trace), key=lambda pair: pair[1].start)
    by_index = dict(by_start)
    flows = 0
    for index, event in by_start:
        thread = {"pid": PROCESS, "tid": threads[event.lane]}
        events.append({"ph": "X", "name": event.name, "cat": trace.label, **_span(event), **thread})
        events[-1]["args"] = _arguments(index, event)
        for dependency in event.after:
            flows += 1
            source = by_index[dependency]
            flow = {"name": "waits for", "cat": trace.label, "id": flows}
            # A flow that starts on the edge of a slice is not bound to the slice, hence the middle.
            middle = MICRO * (source.start + source.seconds / 2)
            events.append({"ph": "s", **flow, "pid": PROCESS, "tid": threads[source.lane], "ts": middle})
            events.append({"ph": "f", "bp": "e", **flow, **thread, "ts": MICRO * event.start})
    head = {"format": FORMAT, "version": VERSION, "label": trace.label, "machine": trace.machine}
    head |= {"notes": list(trace.notes), "workbench": workbench.__version__}
    return {"traceEvents": events, "displayTimeUnit": "ms", "otherData": head}


def from_chrome(plain: object) -> Trace:
    """The inverse of `to_chrome`. Raises InputError for data that it did not write."""
    head = plain.get("otherData") if isinstance(plain, dict) else None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise InputError("this is not a trace of this workbench; traces are written by `workbench solve --trace`")
    if read(_Version, head, "head").version > VERSION:
        raise InputError(
            f"the trace is of format version {head['version']}, this workbench reads up to {VERSION}; update it"
        )
    file = read(_File, plain, "trace")
    lanes = {lane.tid: lane.args.name for lane in _of_phase(file, _Lane, "M") if lane.name == "thread_name"}
    events = sorted(_of_phase(file, _Slice, "X"), key=lambda event: event.args.event)
    if [event.args.event for event in events] != list(range(len(events))):
        raise InputError("its events are not numbered consecutively from 0")
    made = Trace(file.otherData.machine, file.otherData.label, file.otherData.notes)
    for event in events:
        if event.tid not in lanes:
            raise InputError(
                f"event {event.args.event} is on thread {event.tid}, which has no name; save the trace again"
            )
        made.append(_event(event, lanes[event.tid]))
    return made


def save_trace(trace: Trace, path: str | Path) -> Path:
    """Write a trace for Perfetto, about 250 bytes per event. Raises InputError if the folder cannot be written.

    Examples:
        >>> from workbench.records import Trace, save_trace
        >>> save_trace(Trace("one core"), "empty.trace.json").name
        'empty.trace.json'
    """
    return write(Path(path), json.dumps(to_chrome(trace), allow_nan=False))


def load_trace(path: str | Path) -> Trace:
    """Read a trace file. Raises InputError if it is missing or is no trace of this workbench.

    Examples:
        >>> from workbench.records import Trace, load_trace, save_trace
        >>> load_trace(save_trace(Trace("one core"), "empty.trace.json")).machine
        'one core'
    """
    content = read_bytes(path, MAX_BYTES, "trace file")
    try:
        plain = read_json(content)
    except InputError:
        raise InputError(
            f"{printable_path(path)} is not valid JSON; traces are written by `workbench solve --trace`"
        ) from None
    try:
        return from_chrome(plain)
    except InputError as error:
        raise InputError(f"cannot read {printable_path(path)}: {error}") from None


@dataclasses.dataclass(frozen=True)
class _Version:
    version: int


@dataclasses.dataclass(frozen=True)
class _About:
    label: str
    machine: str
    notes: list[str]


@dataclasses.dataclass(frozen=True)
class _File:
    traceEvents: list[Any]  # noqa: N815
    otherData: _About  # noqa: N815


@dataclasses.dataclass(frozen=True)
class _Name:
    name: str = ""


@dataclasses.dataclass(frozen=True)
class _Lane:
    """A metadata event that names a thread."""

    name: str
    tid: int
    args: _Name


@dataclasses.dataclass(frozen=True)
class _Arguments:
    event: int
    iteration: int
    bytes: int
    flops: int
    after: list[int] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class _Slice:
    """A complete event, in microseconds."""

    name: str
    tid: int
    ts: float
    dur: float
    args: _Arguments


def _of_phase(file: _File, kind: type[Kind], phase: str) -> list[Kind]:
    """The events of a phase; others are ignored, since trace viewers add some and flows repeat `after`."""
    found = (event for event in file.traceEvents if isinstance(event, dict) and event.get("ph") == phase)
    return [read(kind, event, f'event of phase "{phase}"') for event in found]


def _metadata(name: str, thread: int, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"ph": "M", "name": name, "pid": PROCESS, "tid": thread, "ts": 0, "args": arguments}


def _span(event: Event) -> dict[str, float]:
    return {"ts": MICRO * event.start, "dur": MICRO * event.seconds}


def _arguments(index: int, event: Event) -> dict[str, Any]:
    rate = event.bytes / event.seconds / 1e9 if event.bytes and event.seconds > 0 else None
    arguments = {"event": index, "iteration": event.iteration, "bytes": event.bytes, "flops": event.flops}
    # JSON has no infinity, which is the rate of a very short event.
    arguments |= {"GB/s": round(rate, 3)} if rate and math.isfinite(rate) else {}
    return arguments | ({"after": list(event.after)} if event.after else {})


def _event(slice: _Slice, lane: str) -> Event:
    arguments = slice.args
    start, seconds = slice.ts / MICRO, slice.dur / MICRO
    check_times(arguments.event, start, start + seconds, arguments.iteration)
    return Event(
        name=slice.name,
        lane=lane,
        start=start,
        end=start + seconds,
        bytes=arguments.bytes,
        flops=arguments.flops,
        iteration=arguments.iteration,
        after=tuple(arguments.after),
    )
