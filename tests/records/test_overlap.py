"""The hidden fraction of copies, on small traces."""

import pytest

from workbench.records import Trace, hidden_fraction


def trace_of(*events):
    trace = Trace()
    for lane, start, end in events:
        trace.add(trace.kernel("k", lane), start, end)
    return trace


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([("cpu", 0, 1)], None),
        ([("copy to host", 0, 2)], 0.0),
        ([("cpu", 1, 4), ("copy to host", 0, 2)], 0.5),
        # Two that compute at once hide no more than one.
        ([("cpu", 0, 1), ("accelerator", 0, 1), ("copy to host", 0, 2)], 0.5),
        ([("cpu", 0, 10), ("copy to host", 1, 2), ("copy to device", 1, 3)], 1.0),
        ([("cpu", 0, 1), ("cpu", 2, 3), ("accelerator", 3, 4), ("copy to host", 0, 4)], 0.75),
        ([("cpu", 0, 1), ("copy to host", 2, 3), ("copy to host", 0.5, 1.5)], 0.25),
        # A rank hides its own copies alone.
        ([("rank 0 cpu", 0, 2), ("rank 1 copy to host", 0, 1), ("rank 0 copy to host", 1, 4)], 0.25),
    ],
)
def test_the_fraction_of_copies_that_overlaps_with_computation(events, expected):
    found = hidden_fraction(trace_of(*events))
    assert found is None if expected is None else found == pytest.approx(expected)
