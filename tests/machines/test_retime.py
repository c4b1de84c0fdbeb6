"""Retiming: results computed by hand, and invariants of the model."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.records.test_trace import traces
from workbench.devices.clock import LANES
from workbench.errors import InputError
from workbench.machines.profile import Number, Profile, profile
from workbench.machines.retime import compare, machines_for, retime
from workbench.records import Event, Trace


def numbers(**values):
    return {name: Number(value, "measured", "made up for a test") for name, value in values.items()}


CPU = Profile("cpu", "a CPU", "cpu", **numbers(bandwidth_measured=10.0, flops=100.0, launch_latency=1.0))
GPU = Profile(
    "gpu",
    "a GPU",
    "gpu",
    **numbers(
        bandwidth_measured=100.0,
        launch_latency=2.0,
        to_device_bandwidth=5.0,
        to_device_latency=0.5,
        to_host_bandwidth=10.0,
        to_host_latency=0.25,
    ),
)


def hybrid(rank=""):
    trace = Trace("here")
    copied = trace.append(Event("x", f"{rank}copy to device", 0, 1, bytes=10))
    product = trace.append(Event("A", f"{rank}accelerator", 1, 2, bytes=300, after=(copied,)))
    trace.append(Event("axpy", f"{rank}cpu", 1, 2, bytes=30))
    back = trace.append(Event("r", f"{rank}copy to host", 2, 3, bytes=20, after=(product,)))
    trace.append(Event("dot", f"{rank}cpu", 3, 4, bytes=10, flops=400, after=(back,)))
    return trace


@pytest.mark.parametrize("rank", ["", "rank 3 "])
def test_two_profiles_by_hand(rank):
    made = retime(hybrid(rank), CPU, GPU)
    spans = {event.name: (event.start, event.end) for event in made}
    assert spans == {
        "x": (0, 2.5),  # 0.5 + 10/5
        "A": (2.5, 7.5),  # after x: 2 + 300/100
        "axpy": (0, 4),  # overlaps both: 1 + 30/10
        "r": (7.5, 9.75),  # after A: 0.25 + 20/10
        "dot": (9.75, 14.75),  # after r: 1 + max(10/10, 400/100)
    }
    assert (made.label, made.machine, made.notes) == ("modelled", "a CPU with a GPU", [])
    rows = {row["lane"]: row for row in compare(hybrid(rank), made)}
    assert rows[f"{rank}cpu"] == {"lane": f"{rank}cpu", "measured": 2, "modelled": 9, "ratio": 4.5}
    assert rows["total"] == {"lane": "total", "measured": 4, "modelled": 14.75, "ratio": 14.75 / 4}


def test_a_trace_of_both_sides_of_ranks_takes_a_cpu_and_a_gpu():
    assert machines_for([event.lane for event in hybrid("rank 0 ")], [CPU, GPU]) == ([CPU], [GPU])


def test_a_single_profile_also_times_events_on_the_cores():
    trace = Trace("here")
    trace.append(Event("A", "cpu", 0, 1, bytes=300))
    made = retime(trace, GPU)
    assert (made.seconds, made.machine) == (5, "a GPU")


def test_events_without_bytes_keep_their_time():
    trace = Trace("here")
    trace.append(Event("f", "cpu", 1, 4))
    made = retime(trace, CPU)
    assert made.seconds == 3
    assert made.notes == ["f: bytes unknown, measured time kept"]


def test_notes_list_missing_quantities():
    notes = retime(hybrid(), profile("k20m")).notes
    assert "the memory bandwidth of k20m is nominal, which kernels do not reach: times are a lower bound" in notes
    assert any("has no launch latency" in note for note in notes)
    assert any("has no latency of a copy" in note for note in notes)


def test_a_large_cache_is_noted():
    cached = Profile("c", "c", "cpu", **numbers(bandwidth_measured=10.0, launch_latency=1.0, cache_bytes=1e6))
    trace = Trace("here")
    trace.append(Event("A", "cpu", 0, 1, bytes=300))
    assert retime(trace, cached).notes == [
        "kernels move less than 4 times the cache of c, which may be faster than memory"
    ]


def test_modelled_traces_are_refused():
    with pytest.raises(InputError, match="the trace is modelled already"):
        retime(retime(hybrid(), CPU, GPU), GPU)


def test_copies_need_an_accelerator():
    with pytest.raises(InputError, match="cpu is a CPU; add an accelerator"):
        retime(hybrid(), CPU)
    with pytest.raises(InputError, match="the profile gpu has no to host bandwidth"):
        retime(hybrid(), CPU, Profile("gpu", "g", "gpu", **numbers(bandwidth_measured=1.0, to_device_bandwidth=1.0)))


@given(traces(), st.sampled_from([None, GPU]))
def test_lanes_never_overlap_and_dependencies_are_kept(trace, accelerator):
    trace.label = "measured"
    made = retime(trace, CPU if accelerator else GPU, accelerator)
    events = list(made)
    assert len(events) == len(trace)
    for lane in LANES:
        mine = [event for event in events if event.lane == lane]
        assert all(before.end <= after.start for before, after in itertools.pairwise(mine))
    for event in events:
        assert event.end >= event.start >= 0
        assert all(events[cause].end <= event.start for cause in event.after)


@given(traces())
def test_twice_the_bandwidth_is_never_slower(trace):
    trace.label = "measured"
    faster = Profile(
        "g",
        "g",
        "gpu",
        **numbers(
            bandwidth_measured=200.0,
            launch_latency=2.0,
            to_device_bandwidth=10.0,
            to_device_latency=0.5,
            to_host_bandwidth=20.0,
            to_host_latency=0.25,
        ),
    )
    assert retime(trace, faster).seconds <= retime(trace, GPU).seconds
