"""A trace as a file in Chrome's trace-event format, which Perfetto (ui.perfetto.dev) opens, and back.

Source: "Trace Event Format", the Chromium project: complete events (X), flow events (s, f) and metadata (M).
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import workbench
from workbench.devices.clock import LANES
from workbench.errors import InputError
from workbench.recording.files import write
from workbench.recording.trace import Event, Trace

FORMAT = "cg-workbench trace"
VERSION = 1
PROCESS = 1
MICRO = 1e6


def to_chrome(trace: Trace) -> dict[str, Any]:
    """Plain data for JSON: a thread per lane in use, an X event per event, a flow per dependency; microseconds."""
    threads = {lane: number for number, lane in enumerate(LANES, 1) if lane in {k.lane for k in trace.kernels}}
    title = f"{trace.machine or 'machine not named'} ({trace.label})"
    events: list[dict[str, Any]] = [_metadata("process_name", 0, {"name": title})]
    for lane, thread in threads.items():
        events.append(_metadata("thread_name", thread, {"name": lane}))
        events.append(_metadata("thread_sort_index", thread, {"sort_index": thread}))
    placed = sorted(enumerate(trace), key=lambda pair: pair[1].start)
    earlier = dict(placed)
    flows = 0
    for place, event in placed:
        where = {"pid": PROCESS, "tid": threads[event.lane]}
        events.append({"ph": "X", "name": event.name, "cat": trace.label, **_span(event), **where})
        events[-1]["args"] = _arguments(place, event)
        for cause in event.after:
            flows += 1
            source = earlier[cause]
            arrow = {"name": "waits for", "cat": trace.label, "id": flows}
            # In the middle of its slice: a flow that begins on the edge belongs to no slice.
            begins = MICRO * (source.start + source.seconds / 2)
            events.append({"ph": "s", **arrow, "pid": PROCESS, "tid": threads[source.lane], "ts": begins})
            events.append({"ph": "f", "bp": "e", **arrow, **where, "ts": MICRO * event.start})
    about = {"format": FORMAT, "version": VERSION, "label": trace.label, "machine": trace.machine}
    about |= {"notes": list(trace.notes), "workbench": workbench.__version__}
    return {"traceEvents": events, "displayTimeUnit": "ms", "otherData": about}


def from_chrome(plain: Any) -> Trace:
    """The inverse of `to_chrome`. Raises InputError for what was not written by it."""
    try:
        about = plain["otherData"]
        if about["format"] != FORMAT:
            raise ValueError
        if int(about["version"]) > VERSION:
            raise InputError(
                f"the trace is of format version {about['version']}, this workbench reads up to {VERSION}; update it"
            )
        lanes = {e["tid"]: e["args"]["name"] for e in plain["traceEvents"] if e["name"] == "thread_name"}
        written = [event for event in plain["traceEvents"] if event["ph"] == "X"]
        made = Trace(about["machine"], about["label"], about["notes"])
        for event in sorted(written, key=lambda event: event["args"]["event"]):
            made.append(_event(event, lanes[event["tid"]]))
        return made
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, IndexError):
        raise InputError(
            "this is no trace of this workbench; traces are written by `workbench solve --trace`"
        ) from None


def save_trace(trace: Trace, path: str | Path) -> Path:
    """Write a trace for Perfetto, about 250 bytes an event. Raises InputError when the folder cannot be written."""
    return write(Path(path), json.dumps(to_chrome(trace), allow_nan=False).encode())


def load_trace(path: str | Path) -> Trace:
    """Read a trace back. Raises InputError when the file is missing or is no trace of this workbench."""
    path = Path(path)
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise InputError(f"no trace file at {path}") from None
    except ValueError:
        raise InputError(f"{path} is no JSON; traces are written by `workbench solve --trace`") from None
    return from_chrome(plain)


def _metadata(name: str, thread: int, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"ph": "M", "name": name, "pid": PROCESS, "tid": thread, "ts": 0, "args": arguments}


def _span(event: Event) -> dict[str, float]:
    return {"ts": MICRO * event.start, "dur": MICRO * event.seconds}


def _arguments(place: int, event: Event) -> dict[str, Any]:
    rate = event.bytes / event.seconds / 1e9 if event.bytes and event.seconds > 0 else None
    known = {"event": place, "iteration": event.iteration, "bytes": event.bytes, "flops": event.flops}
    # A span too short for a clock has no rate that JSON could hold.
    known |= {"GB/s": round(rate, 3)} if rate and math.isfinite(rate) else {}
    return known | ({"after": list(event.after)} if event.after else {})


def _event(written: dict[str, Any], lane: str) -> Event:
    about = written["args"]
    start, length = written["ts"] / MICRO, written["dur"] / MICRO
    if not (math.isfinite(start) and math.isfinite(length)):
        raise ValueError
    return Event(
        name=written["name"],
        lane=lane,
        start=start,
        end=start + length,
        bytes=about["bytes"],
        flops=about["flops"],
        iteration=about["iteration"],
        after=tuple(about.get("after", ())),
    )
