"""The events that a clock with two sides records, and what each has waited for."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from workbench.devices.clock import ACCELERATOR, CPU
from workbench.devices.pair import sides
from workbench.records.trace import Trace


@pytest.fixture
def clock(monkeypatch):
    """A clock whose device has nothing under way, and the time of the recorder."""
    monkeypatch.setattr(sides, "ahead", lambda _runtime: 0.0)
    return sides.PairClock(SimpleNamespace(synchronize=lambda: None), Trace())


def note(clock, name, lane, start, end, least=0.0):
    clock.note(name, lane, lambda: (0, 0), lambda: (start, end)).least = least


@pytest.mark.parametrize("at_once", [True, False])
def test_what_waits_for_an_event_without_a_length_waits_for_the_one_before_it(clock, at_once):
    note(clock, "m = M(w)", ACCELERATOR, 0.0, 1.0)
    if not at_once:
        clock.resolve()
    note(clock, "A m", ACCELERATOR, 1.0, 1.0, least=1e-9)
    clock.follow(CPU, ACCELERATOR)
    note(clock, "halo", CPU, 1.0, 2.0)
    clock.resolve()
    events = list(clock.recorder)
    assert [event.name for event in events] == ["m = M(w)", "halo"]
    assert [events[place].name for place in events[1].after] == ["m = M(w)"]


def test_the_first_event_of_a_lane_may_be_without_a_length(clock):
    note(clock, "A m", ACCELERATOR, 1.0, 1.0, least=1e-9)
    clock.follow(CPU, ACCELERATOR)
    note(clock, "halo", CPU, 1.0, 2.0)
    clock.resolve()
    (event,) = clock.recorder
    assert event.after == ()
