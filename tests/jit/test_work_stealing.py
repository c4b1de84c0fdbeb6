"""Chunks of a kernel are shared out: each to one core, and none waits for a core that is busy elsewhere."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.compiler.words import shared, threads
from workbench.jit.compiled import kernel
from workbench.jit.threads import WORTH_SHARING, cores, launch
from workbench.jit.work_stealing import counters

LONG = 100_000_000
"""Steps of a recurrence that takes about half a second."""


def _all_for(turns, lane, chunks):
    return list(shared(turns, lane, chunks))


def _first_for(turns, lane, chunks):
    for chunk in shared(turns, lane, chunks):
        return chunk
    return -1


@kernel()
def _owners(turns, owner, times, steps, worked):
    for lane in threads(turns):
        for chunk in shared(turns, lane, owner.size):
            owner[chunk] = lane
            times[chunk] += 1
            value = 1.0
            for _ in range(steps[chunk]):
                value = 1.0 / (1.0 + value)
            worked[chunk] = value


def test_a_core_takes_its_own_share_first_and_then_what_is_left_of_the_next():
    turns = counters(3)
    assert _first_for(turns, 2, 9) == 6
    assert _all_for(turns, 1, 9) == [3, 4, 5, 7, 8, 0, 1, 2]
    assert _all_for(turns, 0, 9) == _all_for(turns, 2, 9) == []


@given(lanes=st.integers(1, 9), chunks=st.integers(0, 60), asked=st.lists(st.integers(0, 8), max_size=80))
def test_whoever_asks_each_chunk_is_given_once(lanes, chunks, asked):
    turns = counters(lanes)
    given_out = [_first_for(turns, lane % lanes, chunks) for lane in asked]
    given_out = [chunk for chunk in given_out if chunk >= 0] + _all_for(turns, 0, chunks)
    assert sorted(given_out) == list(range(chunks))


@pytest.mark.parametrize("chunks", [1, 2, 63, 100_000])
def test_cores_that_ask_at_the_same_time_never_get_the_same_chunk(chunks):
    owner, times, worked = np.full(chunks, -1), np.zeros(chunks, np.int64), np.zeros(chunks)
    for launched in range(1, 4):
        launch(WORTH_SHARING, _owners, owner, times, np.zeros(chunks, np.int64), worked)
        assert (times == launched).all()
    assert set(owner) <= set(range(cores()))


@pytest.mark.skipif(cores() < 2, reason="one core has nobody to wait for")
def test_what_a_busy_core_has_not_begun_is_done_by_the_others():
    chunks = 8 * cores()
    owner, times, worked = np.full(chunks, -1), np.zeros(chunks, np.int64), np.zeros(chunks)
    steps = np.zeros(chunks, np.int64)
    launch(WORTH_SHARING, _owners, owner, times, steps, worked)
    # A machine that does other work may wake up the other threads only after all of the first try.
    for launched, steps[0] in enumerate((LONG, 4 * LONG, 16 * LONG), 2):
        launch(WORTH_SHARING, _owners, owner, times, steps, worked)
        assert (times == launched).all()
        if owner[0] not in owner[1:8]:
            break
    assert owner[0] not in owner[1:8]
