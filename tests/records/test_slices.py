"""Parts of traces: iterations that take as long as most do."""

from __future__ import annotations

import pytest

from workbench.errors import InputError
from workbench.records import Trace, typical_iterations


def trace_of(*lengths):
    """A trace of a start and iterations of these lengths: a kernel in the first half of each."""
    trace, at = Trace("here"), 1.0
    trace.add(trace.kernel("start", "cpu"), 0.0, 0.5)
    for iteration, length in enumerate(lengths, 1):
        trace.add(trace.kernel("A p", "cpu"), at, at + length / 2, iteration)
        at += length
    return trace


def test_the_part_has_the_median_length_and_disturbed_iterations_do_not_count():
    part = typical_iterations(trace_of(90, 2, 2, 2, 2, 2, 2, 700, 3, 3, 1), 2)
    assert part.column("start").tolist() == [0, 2]
    assert part.column("end").tolist() == [1, 3]
    # Sums of two in a row, without the last iteration: 92, 4, 4, 4, 4, 4, 702, 703, 6; their median is 4.
    assert set(part.column("iteration").tolist()) <= {2, 3, 4, 5, 6, 7}


def test_a_typical_part_needs_a_trace_that_is_long_enough():
    with pytest.raises(InputError, match="at least 3, this has 2"):
        typical_iterations(trace_of(1, 1), 2)
    with pytest.raises(InputError, match="trace=True"):
        typical_iterations(None)
    with pytest.raises(InputError, match="at least 1 iteration, not 0"):
        typical_iterations(trace_of(1, 1), 0)
