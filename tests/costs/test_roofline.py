"""Roofline points calculated by hand."""

import pytest

from workbench.costs import roofline_points
from workbench.errors import InputError
from workbench.records import Event, Trace


@pytest.fixture
def trace():
    made = Trace("a machine")
    for event in (
        Event("A", "cpu", 0.0, 2.0, bytes=1000, flops=100, iteration=1),
        Event("A", "cpu", 2.0, 4.0, bytes=1000, flops=100, iteration=2),
        Event("A", "cpu", 4.0, 5.0, bytes=500, flops=50, iteration=2),
        Event("p = u", "cpu", 5.0, 8.0, bytes=600),
        Event("E^-1", "cpu", 8.0, 10.0),
        Event("copy", "copy to host", 0.0, 1.0, bytes=10),
    ):
        made.append(event)
    return made


def test_totals_and_rates(trace):
    product, copy, coarse = roofline_points(trace)
    assert (product.kernel, product.calls, product.seconds, product.share) == ("A", 3, 5.0, 0.5)
    assert (product.intensity, product.flop_rate, product.bandwidth) == (0.1, 50.0, 500.0)
    assert (copy.kernel, copy.intensity, copy.flop_rate, copy.bandwidth) == ("p = u", None, None, 200.0)
    assert (coarse.kernel, coarse.share, coarse.bandwidth) == ("E^-1", 0.2, None)


def test_the_share_of_the_roof_is_that_of_the_limiting_resource(trace):
    product, copy, coarse = roofline_points(trace)
    assert product.of_roof(1000.0) == 0.5
    assert product.of_roof(1000.0, flops=62.5) == 0.8
    assert copy.of_roof(1000.0, flops=62.5) == 0.2
    assert coarse.of_roof(1000.0) is None


def test_lanes_without_events_and_traces_without_times_are_refused(trace):
    with pytest.raises(InputError, match="a lane is one of cpu, accelerator, .* got 'gpu'"):
        roofline_points(trace, "gpu")
    with pytest.raises(InputError, match="no events on lane accelerator; it has cpu, copy to host"):
        roofline_points(trace, "accelerator")
    untimed = Trace(label="dry run")
    untimed.append(Event("A", "cpu", 0.0, 0.0, bytes=8, flops=1))
    with pytest.raises(InputError, match="dry run and its events take no time"):
        roofline_points(untimed)
