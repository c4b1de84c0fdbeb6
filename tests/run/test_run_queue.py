"""The run queue: sessions and races of one process use the machine one at a time, first come, first served."""

from __future__ import annotations

import threading
import time

import pytest

from tests.run.conftest import ENDLESS, iterating
from tests.waiting import LIMIT, until
from workbench.errors import InputError
from workbench.run import QueueSlot, Race, Reason, RunQueue, Session, State, configure


def test_slots_are_granted_in_the_order_of_the_requests():
    queue = RunQueue()
    slots = [QueueSlot(queue) for _ in range(4)]
    for slot in slots:
        slot.enqueue()
        slot.enqueue()
    assert [slot.ahead for slot in slots] == [0, 1, 2, 3]
    assert [slot.held for slot in slots] == [True, False, False, False]
    slots[1].release()
    slots[0].release()
    assert [slot.held for slot in slots] == [False, False, True, False]
    slots[0].enqueue()
    assert slots[0].ahead == 2


def test_slots_that_go_together_hold_the_machine_at_once_and_others_wait_for_both():
    queue, turn = RunQueue(), Turns()
    queue.take_turns(turn)
    first = QueueSlot(queue)
    second, other = QueueSlot(queue, first), QueueSlot(queue)
    for slot in (first, second, other):
        slot.enqueue()
    turn.ahead = 0
    assert [slot.held for slot in (first, second, other)] == [True, True, False]
    assert [slot.ahead for slot in (first, second, other)] == [0, 0, 2]
    first.release()
    # One turn among processes lasts for both.
    assert turn.said == ["ask"]
    assert [slot.held for slot in (first, second, other)] == [False, True, False]
    second.release()
    assert turn.said == ["ask", "leave", "ask"]
    turn.ahead = 0
    assert [slot.held for slot in (first, second, other)] == [False, False, True]


class Turns:
    """Turns that others give."""

    def __init__(self):
        self.ahead, self.said = 1, []

    def ask(self):
        self.said.append("ask")

    def leave(self):
        self.said.append("leave")
        self.ahead = 1


def test_each_slot_has_a_turn_of_its_own_among_processes():
    queue, turn = RunQueue(), Turns()
    queue.take_turns(turn)
    first, second = QueueSlot(queue), QueueSlot(queue)
    first.enqueue()
    second.enqueue()
    turn.ahead = 2
    assert [(slot.held, slot.ahead) for slot in (first, second)] == [(False, 2), (False, 3)]
    turn.ahead = 0
    assert [(slot.held, slot.ahead) for slot in (first, second)] == [(True, 0), (False, 1)]
    first.release()
    assert [(slot.held, slot.ahead) for slot in (first, second)] == [(False, 0), (False, 1)]
    second.release()
    assert turn.said == ["ask", "leave", "ask", "leave"]


def test_a_waiting_slot_is_woken_when_granted_or_no_longer_wanted():
    queue = RunQueue()
    first, second, third = (QueueSlot(queue) for _ in range(3))
    assert first.acquire(unless=lambda: False)
    unwanted, found = threading.Event(), {}

    def wait(name, slot, unless):
        found[name] = slot.acquire(unless=unless)

    second.enqueue()
    threads = [
        threading.Thread(target=wait, args=("second", second, lambda: False)),
        threading.Thread(target=wait, args=("third", third, unwanted.is_set)),
    ]
    for thread in threads:
        thread.start()
    unwanted.set()
    queue.wake()
    threads[1].join(LIMIT)
    assert found == {"third": False}
    first.release()
    threads[0].join(LIMIT)
    assert found == {"third": False, "second": True}


def test_many_sessions_set_up_and_iterate_one_at_a_time_in_order(monkeypatch):
    from workbench.run import Run

    busy, most, order = [], [], []
    made = Run.__init__

    def watched(run, *given, **more):
        busy.append(run)
        most.append(len(busy))
        order.append(given[0].seed)
        time.sleep(0.01)
        made(run, *given, **more)
        busy.remove(run)

    monkeypatch.setattr(Run, "__init__", watched)
    queue = RunQueue()
    sessions = [Session(configure("two-layer", n=16, seed=seed), queue=queue) for seed in range(10)]
    for session in sessions:
        session.start()
    assert all(session.wait(LIMIT).converged for session in sessions)
    assert order == list(range(10))
    assert max(most) == 1


def test_a_held_session_releases_its_slot_and_gets_it_again(endless):
    queue = RunQueue()
    first, second = endless(queue), endless(queue)
    first.start()
    iterating(first)
    second.start()
    assert second.state is State.QUEUED
    assert second.ahead == 1
    iterating(first, beyond=first.run.iterations + 3)
    assert second.run is None
    first.pause()
    iterating(second)
    held = first.run.iterations
    first.resume()
    until(lambda: first.state is State.QUEUED)
    iterating(second, beyond=second.run.iterations + 3)
    assert first.run.iterations == held
    second.stop()
    assert second.wait(LIMIT).reason is Reason.CANCELLED
    iterating(first, beyond=held)
    first.stop()
    assert first.wait(LIMIT).iterations >= held


def test_a_queued_session_that_is_paused_does_not_begin_when_the_one_before_it_is_paused_too(endless):
    queue = RunQueue()
    slot, second = QueueSlot(queue), endless(queue)
    assert slot.acquire(unless=lambda: False)
    second.start()
    until(lambda: second.ahead == 1)
    time.sleep(0.05)
    # Its thread is woken once for both.
    with queue.changed:
        second.pause()
        slot.release()
    time.sleep(0.2)
    assert (second.state, second.run) == (State.PAUSED, None)
    second.resume()
    until(lambda: second.run is not None)


def test_a_step_takes_the_slot_once(endless):
    queue = RunQueue()
    first, second = endless(queue), endless(queue)
    first.step()
    until(lambda: first.run is not None and first.run.history.count == 1)
    second.step()
    until(lambda: second.run is not None and second.run.history.count == 1)
    for count in (2, 3):
        first.step()
        until(lambda count=count: first.run.history.count == count and first.state is State.PAUSED)


def test_a_queued_session_that_is_paused_leaves_the_queue_until_it_is_resumed(endless):
    queue = RunQueue()
    first, second, third = endless(queue), endless(queue), endless(queue)
    for session in (first, second, third):
        session.start()
    second.pause()
    until(lambda: third.ahead == 1)
    assert second.state is State.PAUSED
    assert second.run is None
    second.resume()
    assert (third.ahead, second.ahead) == (1, 2)


def test_a_queued_session_that_is_stopped_leaves_at_once(endless):
    queue = RunQueue()
    first, second = endless(queue), endless(queue)
    first.start()
    second.start()
    second.stop()
    until(lambda: second.state is State.DONE)
    with pytest.raises(InputError, match="stopped before it began"):
        second.wait(LIMIT)
    until(lambda: not second.working)
    assert first.alive
    until(lambda: first.run is not None)


def test_without_a_queue_sessions_run_side_by_side(endless):
    sessions = [endless(), endless()]
    for session in sessions:
        session.start()
    iterating(*sessions)


def test_who_waits_for_another_session_at_the_end_of_its_own_does_not_wait_for_ever():
    queue, results = RunQueue(), []
    second = Session(configure("poisson5", n=8), queue=queue)
    first = Session(configure("poisson5", n=8), queue=queue, on_end=lambda _: results.append(second.wait(LIMIT)))
    first.wait(LIMIT)
    assert results[0].converged


def test_a_race_takes_one_slot_and_releases_it_while_it_is_held(endless):
    queue = RunQueue()
    race = Race([configure("poisson5", n=32, solver="sd", stopping=ENDLESS) for _ in range(2)], queue=queue)
    session = endless(queue)
    race.start()
    iterating(*race.entries)
    session.start()
    iterating(*race.entries, beyond=max(entry.run.iterations for entry in race.entries) + 3)
    assert session.state is State.QUEUED
    race.pause()
    until(lambda: session.state is State.RUNNING)
    race.resume()
    until(lambda: race.ahead == 1)
    before = race.entries[0].run.iterations
    race.stop(race.entries[0])
    until(lambda: race.entries[0].over)
    assert race.entries[0].result.iterations == before
    session.stop()
    session.wait(LIMIT)
    iterating(race.entries[1], beyond=before + 3)
    race.stop()
    race.wait(LIMIT)
    assert race.ahead == 0


def test_resuming_a_session_that_is_ending_leaves_no_slot_in_the_queue():
    queue = RunQueue()
    for _ in range(12):
        session = Session(configure("poisson5", n=4), queue=queue)
        session.start()
        while session.alive:
            session.resume()
            time.sleep(0)
    free = QueueSlot(queue)
    assert free.acquire(unless=lambda: True)


def test_a_step_that_is_under_way_does_not_hold_a_run_that_is_resumed(endless):
    session = endless()
    session.step()
    until(lambda: session.state is State.PAUSED)
    session.step()
    session.resume()
    iterating(session, beyond=20)


def test_stop_and_then_pause_ends_a_run_that_is_held(endless):
    session = endless()
    session.step()
    until(lambda: session.state is State.PAUSED)
    session.stop()
    session.pause()
    assert session.wait(LIMIT).reason is Reason.CANCELLED
    assert not session.lingering


def test_resume_before_the_start_does_nothing(endless):
    session = endless()
    session.resume()
    session.start(paused=True)
    until(lambda: session.state is State.PAUSED and session.run is not None)
    assert session.run.iterations == 0


def test_the_seconds_in_the_queue_are_counted_and_no_others():
    queue, turn = RunQueue(), Turns()
    queue.take_turns(turn)
    first, second = QueueSlot(queue), QueueSlot(queue)
    first.enqueue()
    time.sleep(0.01)
    turn.ahead = 0
    queue.wake()
    waited = first.waited
    assert waited >= 0.01
    second.enqueue()
    time.sleep(0.01)
    assert first.waited == waited
    # The turn goes to another process, and comes back.
    turn.ahead = 1
    queue.wake()
    time.sleep(0.01)
    turn.ahead = 0
    queue.wake()
    assert first.waited >= waited + 0.01
    first.release()
    turn.ahead = 0
    queue.wake()
    assert second.waited >= 0.02
    second.release()
    ended = [each.waited for each in (first, second)]
    time.sleep(0.01)
    assert [each.waited for each in (first, second)] == ended


def test_a_job_says_how_long_it_was_queued():
    queue = RunQueue()
    before = QueueSlot(queue)
    before.enqueue()
    session = Session(configure("two-layer", n=16), queue=queue)
    race = Race([configure("two-layer", n=16)], queue=queue)
    session.start()
    race.start()
    time.sleep(0.01)
    before.release()
    session.wait(LIMIT)
    race.wait(LIMIT)
    assert session.waited >= 0.01
    assert race.waited >= 0.01
    assert race.entries[0].waited == race.waited
