"""The triad: results on sizes that do not divide evenly, and plausible bandwidths."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.devices.host import triad
from workbench.jit.threads import WORTH_SHARING, launch


@pytest.mark.parametrize("size", [1, 2, 7, 1000, 4099])
@pytest.mark.parametrize("chunks", [1, 2, 3, 8])
def test_every_element_is_computed(size, chunks):
    random = np.random.default_rng(size)
    b, c = random.random(size), random.random(size)
    a = np.full(size, np.nan)
    launch(size, triad._triad, a, b, c, chunks)
    np.testing.assert_allclose(a, b + 3.0 * c, rtol=1e-15)


@pytest.mark.parametrize("size", [1, 7, 4099])
def test_the_update_is_in_place(size):
    random = np.random.default_rng(size)
    a, b = random.random(size), random.random(size)
    expected = a + 1e-9 * b
    launch(size, triad._update, a, b, b, 3)
    np.testing.assert_allclose(a, expected, rtol=1e-15)
    # The best, since other work on the machine may hold up most passes for longer than one takes.
    assert triad.update_bandwidth(seconds=0.01, array_bytes=1 << 20).best > 1e8


def test_first_touch_reaches_every_element():
    a, b, c = (np.full(1001, np.nan) for _ in range(3))
    launch(WORTH_SHARING, triad._touch, a, b, c, 3)
    assert (a == 0).all()
    assert (b == 1).all()
    assert (c == 2).all()


@pytest.mark.parametrize("measured", [triad.triad_bandwidth, triad.update_bandwidth])
def test_bandwidths_are_bytes_by_the_seconds_of_passes(monkeypatch, measured):
    """Passes that take 4, 1, 2, 2 and 3 s of a clock which only they move on; more would exceed the time."""
    moment, passes, run = [0.0], iter([0, 0, 4, 1, 2, 2, 3]), triad.launch
    monkeypatch.setattr(triad, "launch", lambda *given: (run(*given), moment.append(moment.pop() + next(passes))))
    monkeypatch.setattr(triad.time, "perf_counter", lambda: moment[0])
    found = measured(seconds=3, array_bytes=1 << 20)
    assert (found.median, found.best, found.repeats) == (3 * 2**20 / 2, 3 * 2**20 / 1, 5)


def test_bandwidths_are_plausible_and_ordered():
    found = triad.triad_bandwidth(seconds=0.05, array_bytes=16 << 20)
    assert found.array_bytes == 16 << 20
    assert found.repeats >= triad.MINIMAL_REPEATS
    assert found.threads >= 1
    assert 1e8 < found.median <= found.best < 1e14
