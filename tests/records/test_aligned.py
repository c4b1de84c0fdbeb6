"""Several traces in one stream, against each of them alone: nothing lost, nothing mixed, starts aligned."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.records.test_trace import traces
from workbench.records import AlignedTraces, Event, Trace


def first_start(trace):
    return min(event.start for event in trace)


@given(st.lists(traces(), min_size=1, max_size=3))
def test_every_trace_is_found_again_in_the_stream(given_traces):
    made = AlignedTraces(given_traces)
    groups, rows = np.array(made.groups, int), made.rows
    of_rows = groups[rows["kernel"]]
    begin = next((first_start(trace) for trace in given_traces if len(trace)), 0.0)
    places, waits = [], made.waits(0, made.count)
    for group, trace in enumerate(given_traces):
        mine = np.flatnonzero(of_rows == group)
        places.append(mine)
        assert [made.kernels[number] for number in rows["kernel"][mine]] == [
            trace.kernels[number] for number in trace.column("kernel")
        ]
        later = begin - first_start(trace) if len(trace) else 0.0
        np.testing.assert_allclose(rows["start"][mine], trace.column("start") + later, atol=1e-9)
        np.testing.assert_allclose(rows["end"][mine], trace.column("end") + later, atol=1e-9)
        np.testing.assert_array_equal(rows["iteration"][mine], trace.column("iteration"))
    expected = [(mine[k], mine[cause]) for mine, trace in zip(places, given_traces, strict=True)
                for k, cause in trace.waits()]  # fmt: skip
    assert sorted(map(tuple, waits.tolist())) == sorted(expected)


def test_traces_that_grow_in_turns_give_the_same_events_as_at_once():
    def event(lane, place, late):
        return Event(f"k{place % 5}", lane, late + place, late + place + 0.5, iteration=place // 3)

    one, two, grown = Trace(), Trace(), AlignedTraces()
    grown.take([None, None])
    for place in range(200):
        one.append(event("cpu", place, 7.0))
        if place % 3:
            last = two.append(event("accelerator", place, 100.0))
            two.append(Event("r", "copy to host", 100.5 + place, 100.5 + place, after=(last,)))
        if place % 17 == 0:
            grown.take([one, two if two.count else None])
    grown.take([one, two])
    rows, kernels = grown.rows, [grown.kernels[number] for number in grown.rows["kernel"]]
    assert grown.count == one.count + two.count
    # Time counts from the first event of the first trace.
    starts = {lane: rows["start"][[k.lane == lane for k in kernels]] for lane in ("cpu", "accelerator")}
    np.testing.assert_allclose(starts["cpu"], np.arange(7.0, 207.0))
    np.testing.assert_allclose(starts["accelerator"], 7.0 + np.array([p - 1 for p in range(200) if p % 3]))
    for late, early in grown.waits(0, grown.count):
        assert (kernels[late].lane, kernels[early].lane) == ("copy to host", "accelerator")
    middle = grown.count // 2
    both = np.concatenate([grown.waits(0, middle), grown.waits(middle, grown.count)])
    np.testing.assert_array_equal(both, grown.waits(0, grown.count))
    assert len(both) == two.count // 2


def test_starts_are_aligned_at_a_time_whichever_trace_begins_first():
    first, later = Trace(), Trace()
    later.append(Event("A", "cpu", 5.0, 6.0))
    made = AlignedTraces([None, later], start=0.0)
    first.append(Event("A", "cpu", 3.0, 4.0))
    made.take([first, later])
    np.testing.assert_array_equal(made.rows["start"], [0.0, 0.0])
    assert made.groups == [1, 0]
