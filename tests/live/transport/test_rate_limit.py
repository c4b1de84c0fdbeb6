"""The rate holds on the average, however late the one who asks."""

import pytest

from workbench.live.transport.rate_limit import RateLimit


@pytest.fixture
def clock(monkeypatch):
    """Time that stands still until it is set."""
    now = [100.0]
    monkeypatch.setattr("workbench.live.transport.rate_limit.time.monotonic", lambda: now[0])
    return now


@pytest.mark.parametrize(("tick", "early", "least"), [(0.048, 0.001, 1.8), (0.048, 0.024, 1.9), (0.3, 0.024, 1.6)])
def test_late_ticks_do_not_lower_the_rate(clock, tick, early, least):
    pace = RateLimit(0.5, early)
    done = 0
    while clock[0] < 200:
        done += pace.take()
        clock[0] += tick
    assert least <= done / 100 <= 2.02


def test_it_tells_how_long_to_wait(clock):
    pace = RateLimit(0.5)
    assert (pace.due, pace.wait) == (True, 0.0)
    pace.done()
    assert (pace.due, pace.wait) == (False, 0.5)
    clock[0] += 0.25
    assert pace.wait == 0.25
    assert not pace.take()


def test_all_who_keep_one_period_act_together(clock):
    one, other = RateLimit(0.5, early=0.1), RateLimit(0.5, early=0.1)
    one.done()
    clock[0] += 0.2
    other.done()
    assert one.wait == other.wait == pytest.approx(0.3)
    clock[0] += 0.25
    # A little early counts as this time, and the next one comes a period later.
    assert one.take()
    assert other.due
    assert one.wait == pytest.approx(0.55)


def test_a_long_rest_is_not_made_up_for(clock):
    pace = RateLimit(0.5)
    pace.take()
    clock[0] += 60
    assert pace.take()
    assert not pace.take()
