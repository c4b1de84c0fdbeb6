"""Trace files: the trace-event format, and reading back."""

import json
import math

import pytest
from hypothesis import given

from tests.records.test_trace import traces
from workbench.errors import InputError
from workbench.records import Event, Trace, load_trace, save_trace
from workbench.records.chrome import from_chrome, to_chrome

REQUIRED = {"X": {"name", "ph", "ts", "dur", "pid", "tid", "args"}, "M": {"name", "ph", "pid", "tid", "args"}}
REQUIRED |= {key: {"name", "cat", "id", "ph", "ts", "pid", "tid"} for key in "sf"}


def hybrid():
    trace = Trace("two cores and an accelerator")
    a = trace.append(Event("A", "accelerator", 0.0, 2e-6, 4000, 100, 1))
    trace.append(Event("r", "copy to host", 2e-6, 3e-6, 80, 0, 1, (a,)))
    trace.append(Event("gamma = (r, u)", "cpu", 3e-6, 4e-6, 0, 0, 1, (a, 1)))
    return trace


@given(traces())
def test_the_file_follows_the_trace_event_format(trace):
    plain = json.loads(json.dumps(to_chrome(trace), allow_nan=False))
    assert set(plain) == {"traceEvents", "displayTimeUnit", "otherData"}
    assert plain["displayTimeUnit"] in ("ms", "ns")
    starts = []
    named = {event["tid"] for event in plain["traceEvents"] if event["name"] == "thread_name"}
    for event in plain["traceEvents"]:
        assert event["ph"] in REQUIRED
        assert REQUIRED[event["ph"]] <= set(event)
        assert isinstance(event["name"], str)
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        for key in ("ts", "dur"):
            assert math.isfinite(event.get(key, 0))
            assert event.get(key, 0) >= 0
        if event["ph"] == "X":
            starts.append(event["ts"])
            assert event["tid"] in named
    assert starts == sorted(starts)
    flows = {phase: [e["id"] for e in plain["traceEvents"] if e["ph"] == phase] for phase in "sf"}
    assert flows["s"] == flows["f"] == list(range(1, len(flows["s"]) + 1))
    assert len(flows["s"]) == sum(len(event.after) for event in trace)


def test_very_short_events_give_valid_json():
    trace = Trace("m", "measured", [])
    trace.append(Event("A", "cpu", 0.0, 5e-324, 10**12, 0, 0, ()))
    (event,) = (event for event in to_chrome(trace)["traceEvents"] if event["ph"] == "X")
    assert "GB/s" not in event["args"]


@given(traces())
def test_events_are_read_back(trace):
    again = from_chrome(json.loads(json.dumps(to_chrome(trace))))
    assert (again.machine, again.label, again.notes) == (trace.machine, trace.label, trace.notes)
    assert len(again) == len(trace)
    for event, given_event in zip(again, trace, strict=True):
        assert event.start == pytest.approx(given_event.start, abs=1e-9)
        assert event.end == pytest.approx(given_event.end, abs=1e-9)
        for field in ("name", "lane", "bytes", "flops", "iteration", "after"):
            assert getattr(event, field) == getattr(given_event, field)


def test_lanes_are_named_threads_and_flows_start_inside_their_slice():
    plain = to_chrome(hybrid())
    events = plain["traceEvents"]
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert sorted(names.values()) == ["accelerator", "copy to host", "cpu"]
    slices = {names[e["tid"]]: e for e in events if e["ph"] == "X"}
    assert slices["accelerator"]["args"] == {"event": 0, "iteration": 1, "bytes": 4000, "flops": 100, "GB/s": 2.0}
    for arrow in (e for e in events if e["ph"] == "s"):
        source = slices[names[arrow["tid"]]]
        assert source["ts"] < arrow["ts"] < source["ts"] + source["dur"]
    for arrow in (e for e in events if e["ph"] == "f"):
        assert arrow["bp"] == "e"
        assert arrow["ts"] == slices[names[arrow["tid"]]]["ts"]


def test_a_file_is_written_and_read(tmp_path):
    path = save_trace(hybrid(), tmp_path / "out.json")
    assert [event.name for event in load_trace(path)] == ["A", "r", "gamma = (r, u)"]
    assert [file.name for file in tmp_path.iterdir()] == ["out.json"]


@pytest.mark.parametrize("content", ["{}", "[]", "3", '{"traceEvents": [], "otherData": {"format": "other"}}'])
def test_other_formats_are_refused(tmp_path, content):
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(InputError, match="this is not a trace of this workbench; traces are written by"):
        load_trace(path)


def test_missing_broken_and_later_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="no trace file at"):
        load_trace(tmp_path / "missing.json")
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(InputError, match="is not valid JSON"):
        load_trace(tmp_path / "broken.json")
    plain = to_chrome(hybrid())
    plain["otherData"]["version"] = 99
    with pytest.raises(InputError, match="format version 99, this workbench reads up to 1; update it"):
        from_chrome(plain)
    with pytest.raises(InputError, match="cannot write"):
        save_trace(hybrid(), tmp_path / "no" / "out.json")


@pytest.mark.parametrize("wrong", [{"ts": "soon"}, {"dur": -1.0}, {"ts": float("inf")}, {"tid": 99}, {"args": {}}])
def test_invalid_events_are_refused(wrong):
    plain = to_chrome(hybrid())
    next(event for event in plain["traceEvents"] if event["ph"] == "X").update(wrong)
    with pytest.raises(InputError):
        from_chrome(plain)
