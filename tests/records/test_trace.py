"""Traces: adding events, reading while growing, plain data, rescheduling."""

import itertools
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import refusal
from workbench.devices.clock import LANES, HostClock
from workbench.errors import InputError
from workbench.records import LABELS, Event, Trace, kernel_table, with_levels_summed
from workbench.records.kernels import busy_seconds
from workbench.records.trace import scheduled

NAMES = st.sampled_from(["A", "M", "r = r - alpha*s", 'a "name", é'])
SECONDS = st.floats(0, 1e3, allow_nan=False)


@st.composite
def traces(draw):
    made = Trace(
        draw(st.text(max_size=8)), draw(st.sampled_from(LABELS)), draw(st.lists(st.text(max_size=5), max_size=2))
    )
    for place in range(draw(st.integers(0, 12))):
        start, length = draw(SECONDS), draw(SECONDS)
        after = draw(st.lists(st.integers(0, place - 1), max_size=3, unique=True)) if place else []
        bytes_moved, flops = draw(st.integers(0, 10**12)), draw(st.integers(0, 10**12))
        lane, iteration = draw(st.sampled_from(LANES)), draw(st.integers(0, 100))
        made.append(Event(draw(NAMES), lane, start, start + length, bytes_moved, flops, iteration, tuple(after)))
    return made


def test_a_dry_run_of_an_earlier_version_is_read():
    assert Trace.from_dict(Trace("one core").to_dict() | {"label": "rehearsed"}).label == "dry run"


@given(traces())
def test_a_trace_is_recovered_from_plain_data(trace):
    again = Trace.from_dict(trace.to_dict())
    assert list(again) == list(trace)
    assert (again.machine, again.label, again.notes) == (trace.machine, trace.label, trace.notes)


@given(traces(), st.floats(0, 10))
def test_rescheduling_respects_lanes_and_dependencies(trace, length):
    made = trace.rescheduled(lambda event: length, "m", "modelled")
    events = list(made)
    for lane in LANES:
        mine = [event for event in events if event.lane == lane]
        assert all(before.end <= after.start for before, after in itertools.pairwise(mine))
    for event in events:
        assert all(events[cause].end <= event.start for cause in event.after)
    assert [(e.name, e.lane, e.bytes, e.after) for e in events] == [(e.name, e.lane, e.bytes, e.after) for e in trace]


def test_lanes_of_workers_have_numbers_and_do_not_count_waiting_as_busy():
    trace = Trace()
    for name, lane, end in (("M", "cpu", 8), ("A", "worker 10", 2), ("waiting", "worker 10", 5), ("A", "worker 2", 3)):
        trace.append(Event(name, lane, 0, end))
    assert trace.busy() == {"cpu": 8, "worker 2": 3, "worker 10": 2}
    assert list(trace.busy()) == ["cpu", "worker 2", "worker 10"]
    assert [event.end for event in trace.rescheduled(lambda event: event.seconds, "", "modelled")] == [8, 2, 7, 3]
    for lane in ("worker", "worker 0", "worker 01", "worker 10000", "worker -1", "worker 1 ", "Worker 1"):
        with pytest.raises(InputError, match="a lane is one of"):
            trace.append(Event("A", lane, 0, 1))


def test_rescheduling_two_dependent_lanes_by_hand():
    # cpu:          a 0-2            c 5-7 (after b)
    # accelerator:        b 2-5 (after a)   d 5-6
    trace = Trace()
    a = trace.append(Event("a", "cpu", 0, 1))
    b = trace.append(Event("b", "accelerator", 1, 2, after=(a,)))
    trace.append(Event("c", "cpu", 2, 3, after=(b,)))
    trace.append(Event("d", "accelerator", 2, 3))
    made = trace.rescheduled(lambda event: {"a": 2.0, "b": 3.0, "c": 2.0, "d": 1.0}[event.name], "m", "modelled")
    assert [(event.start, event.end) for event in made] == [(0, 2), (2, 5), (5, 7), (5, 6)]
    assert made.seconds == 7
    assert made.busy() == {"cpu": 4, "accelerator": 4}


def test_a_wait_fills_the_time_until_what_it_waits_for_and_is_left_out_where_there_is_none():
    # cpu: a 0-2, waiting 2-5, b 5-6; network: sum 2-5 (after a); accelerator: c 0-6, d 6-7 with no wait
    events = [
        Event("a", "cpu", 0, 2),
        Event("sum", "network", 0, 3, after=(0,)),
        Event("c", "accelerator", 0, 6),
        Event("waiting", "cpu", 0, 0, after=(1,)),
        Event("waiting", "accelerator", 0, 0, after=(1,)),
        Event("b", "cpu", 0, 1, after=(3,)),
        Event("d", "accelerator", 0, 1, after=(4,)),
    ]
    made = scheduled(events, [event.seconds for event in events], Trace())
    assert [(event.name, event.start, event.end, event.after) for event in made] == [
        ("a", 0, 2, ()),
        ("sum", 2, 5, (0,)),
        ("c", 0, 6, ()),
        ("waiting", 2, 5, ()),
        ("b", 5, 6, (1,)),
        ("d", 6, 7, (1,)),
    ]


def test_a_trace_grows_beyond_its_initial_capacity():
    trace = Trace()
    kernel = trace.kernel("A", "cpu", 8, 2)
    trace.add(kernel, 0.0, 1.0)
    early = trace.column("end")
    for place in range(1, 3000):
        trace.add(kernel, float(place), place + 1.0, place)
    assert early.tolist() == [1.0]
    assert not early.flags.writeable
    assert len(trace) == trace.column("start").size == 3000
    assert trace[2999] == Event("A", "cpu", 2999.0, 3000.0, 8, 2, 2999)
    with pytest.raises(IndexError, match="no event 3000"):
        trace[3000]


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        (
            Event("A", "gpu", 0, 1),
            "a lane is one of cpu, accelerator, copy to device, copy to host, or a worker such as worker 1, got 'gpu'",
        ),
        (Event("A", "cpu", 1, 0), "event 0 ends at 0 s, before it starts at 1 s"),
        (Event("A", "cpu", 0, float("nan")), "event 0 ends at nan s, before it starts at 0 s"),
        (Event("A", "cpu", 0, 1, after=(0,)), "event 0 can only wait for earlier events, got (0,)"),
    ],
)
def test_invalid_events_are_refused(event, sentence):
    assert refusal(Trace().append, event) == sentence


def test_unknown_labels_are_refused():
    with pytest.raises(InputError, match="a trace is measured, modelled, replayed, dry run, got 'guessed'"):
        Trace("m", "guessed")


def test_a_clock_records_parts_instead_of_the_total():
    trace = Trace()
    clock = HostClock(trace)
    asked = []

    def work():
        asked.append(1)
        return 80, 20

    part = clock.timed(lambda x: x + 1, "part", work)
    whole = clock.timed(lambda x: part(part(x)), "whole", lambda: (1, 1))
    clock.iteration = 4
    assert whole(1) == 3
    assert [(event.name, event.bytes, event.flops, event.iteration) for event in trace] == [("part", 80, 20, 4)] * 2
    assert len(asked) == 1
    assert trace[0].end <= trace[1].start


def test_adding_an_event_takes_a_few_calls_however_many_events_there_are():
    call = HostClock(Trace()).timed(lambda: None, "nothing", lambda: (0, 0))
    made = []
    for _ in range(3):
        calls = []
        before = sys.getprofile()
        sys.setprofile(lambda frame, kind, argument, calls=calls: calls.append(kind))
        try:
            for _ in range(1000):
                call()
        finally:
            sys.setprofile(before)
        made.append((calls.count("call") + calls.count("c_call")) / 1000)
    assert max(made) < 20
    assert made[2] < made[0] + 1


def test_the_kernel_table_adds_up():
    trace = Trace()
    trace.append(Event("A", "cpu", 0.0, 2.0, bytes=40, iteration=0))
    trace.append(Event("A", "accelerator", 1.0, 3.0, bytes=10))
    trace.append(Event("M", "cpu", 4.0, 5.0))
    trace.append(Event("A", "cpu", 5.0, 7.0, bytes=20))
    rows = {(row["kernel"], row["lane"]): row for row in kernel_table(trace, bandwidth=30.0)}
    a = rows["A", "cpu"]
    assert (a["calls"], a["seconds"], a["bytes"], a["GB_per_s"]) == (2, 4.0, 60, pytest.approx(15e-9))
    assert a["of_bandwidth"] == pytest.approx(0.5)
    assert a["share"] == pytest.approx(4 / 7)
    assert rows["M", "cpu"]["GB_per_s"] is None
    assert rows["(between kernels)", ""]["seconds"] == pytest.approx(1.0)
    assert next(iter(rows)) == ("A", "cpu")


def test_an_empty_trace_has_no_rows():
    assert kernel_table(Trace()) == []
    assert Trace().seconds == 0
    assert Trace().busy() == {}
    assert busy_seconds(Trace().rows) == 0


@given(traces())
def test_busy_time_is_at_most_the_duration_of_the_run(trace):
    assert 0 <= busy_seconds(trace.rows) <= trace.seconds * (1 + 1e-12)
    assert sum(trace.busy().values()) >= busy_seconds(trace.rows) * (1 - 1e-12)
    assert np.isclose(sum(trace.busy().values()), sum(event.seconds for event in trace))


def test_a_trace_can_be_read_while_it_grows():
    trace = Trace()
    done = threading.Event()

    def write():
        for place in range(20000):
            trace.add(trace.kernel(f"k{place % 50}", "cpu", place % 50), place * 1.0, place + 1.0, place)
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not done.is_set():
        rows = trace.rows
        assert (rows["end"] - rows["start"] == 1).all()
        table = kernel_table(trace)
        assert all(row["seconds"] == row["calls"] for row in table[:-1])
        trace.busy()
    writer.join()
    assert len(trace) == 20000


def test_levels_of_a_coarse_solve_are_summed_below_their_sum():
    trace = Trace()
    spans = {"A": 5, "smooth, level 0": 2, "restrict to level 1": 1, "smooth, level 10": 3, "smooth, level 9": 1}
    for name, length in {**spans, "coarsest level": 0.5, "M": 1}.items():
        start = trace.seconds
        trace.append(Event(name, "cpu", start, start + length, bytes=int(1e9 * length)))
    table = kernel_table(trace, bandwidth=2e9)
    rows = with_levels_summed(table)
    assert [(row["kernel"], row["seconds"], row["calls"]) for row in rows] == [
        ("coarse solve", 7.5, 5),
        ("coarse solve, level 0", 3, 2),
        ("coarse solve, level 9", 1, 1),
        ("coarse solve, level 10", 3, 1),
        ("coarse solve, coarsest level", 0.5, 1),
        ("A", 5, 1),
        ("M", 1, 1),
        ("(between kernels)", 0, 0),
    ]
    assert all(row["GB_per_s"] == pytest.approx(1) and row["of_bandwidth"] == pytest.approx(0.5) for row in rows[:5])
    assert rows[0]["share"] == pytest.approx(7.5 / 13.5)


def test_a_table_without_levels_stays_as_it_is():
    trace = Trace()
    for name in ("A", "smooth", "restrict to level 0", "my smooth, level 1"):
        trace.append(Event(name, "cpu", 0, 1))
    assert with_levels_summed(kernel_table(trace)) == kernel_table(trace)
