"""Turns that are given back while others wait: by a clock of the test, and with a run of a kernel."""

import asyncio

import pytest

from tests.extensions.classroom.test_kernels import answer, lent, opened, run, running  # noqa: F401
from tests.waiting import LIMIT
from workbench.extensions.classroom.server import turns as module
from workbench.extensions.classroom.server.forking import AVAILABLE
from workbench.extensions.classroom.server.turns import AGAIN, SLICE, Turns


class Page:
    """Keeps the last number of requests before its own."""

    ahead = None

    def say_turn(self, request, ahead):
        self.ahead = ahead


class Clock:
    at = 0.0

    def __call__(self):
        return self.at


def taking_turns(act, at_once=1, pages=4):
    """Let a test act with turns, its clock, and pages."""

    async def begin():
        clock = Clock()
        act(Turns(at_once, clock), clock, [Page() for _ in range(pages)])

    asyncio.run(begin())


def aheads(pages):
    return [page.ahead for page in pages]


def test_a_turn_that_lasts_goes_to_one_that_waits_and_comes_back():
    def act(turns, clock, pages):
        for page in pages[:3]:
            turns.ask(page, 1)
        assert aheads(pages[:3]) == [0, 1, 2]
        clock.at = SLICE - 0.1
        turns.update()
        assert aheads(pages[:3]) == [0, 1, 2]
        clock.at = SLICE
        turns.update()
        assert aheads(pages[:3]) == [2, 0, 1]
        turns.done(pages[1])
        assert (pages[0].ahead, pages[2].ahead) == (1, 0)
        turns.done(pages[2])
        assert pages[0].ahead == 0

    taking_turns(act)


def test_a_turn_lasts_while_nobody_waits():
    def act(turns, clock, pages):
        turns.ask(pages[0], 1)
        clock.at = 100 * SLICE
        turns.update()
        assert pages[0].ahead == 0
        # It has lasted, so that the next page waits for nothing.
        turns.ask(pages[1], 1)
        assert aheads(pages[:2]) == [1, 0]

    taking_turns(act)


def test_short_runs_come_before_one_that_has_had_its_turn_and_do_not_keep_it_off():
    def act(turns, clock, pages):
        long, *short = pages
        turns.ask(long, 1)
        clock.at = SLICE
        # A class that presses Run all the time, for short runs.
        for k in range(200):
            turns.ask(short[k % 3], k)
            if k and long.ahead == 0:
                break
            clock.at += 1.0
            turns.done(short[(k - 1) % 3])
        assert AGAIN < clock.at < 2 * AGAIN

    taking_turns(act)


def test_only_as_many_turns_are_taken_back_as_pages_wait():
    def act(turns, clock, pages):
        turns.ask(pages[0], 1)
        clock.at = 1.0
        turns.ask(pages[1], 1)
        clock.at = 1.0 + SLICE
        turns.ask(pages[2], 1)
        # The one that has lasted longest.
        assert aheads(pages[:3]) == [2, 0, 0]

    taking_turns(act, at_once=2)


def test_the_server_itself_takes_a_turn_back(monkeypatch):
    monkeypatch.setattr(module, "SLICE", 0.05)

    async def act():
        turns, one, other = Turns(1), Page(), Page()
        turns.ask(one, 1)
        turns.ask(other, 1)
        assert (one.ahead, other.ahead) == (0, 1)
        while other.ahead:
            await asyncio.sleep(0.01)
        assert one.ahead == 1
        turns.done(one)
        turns.done(other)

    asyncio.run(asyncio.wait_for(act(), LIMIT))


LONG = """
from workbench.extensions.classroom.page.classroom import classroom
from workbench.run import MACHINE, Session, configure
room = classroom()
session = Session(configure("poisson5", n=256, solver="sd", preconditioner="none"), queue=MACHINE)
session.start()
"""
SHORT = f"""
from workbench.extensions.classroom.page.classroom import classroom
from workbench.run import MACHINE, Session, configure
room = classroom()
session = Session(configure("poisson5", n=8), queue=MACHINE)
print(session.wait({LIMIT}).converged)
"""
COUNT = f"""
import time
end, before = time.monotonic() + {LIMIT}, session.run.iterations
while session.run.iterations == before and time.monotonic() < end: time.sleep(.01)
print(session.run.iterations > before)
"""
WAITS = "import time; time.sleep(.3); print(session.state.name); session.stop(); session.join()"


@pytest.mark.skipif(not AVAILABLE, reason="kernels are forked on Linux only")
def test_a_long_run_lets_a_short_one_pass_and_continues(lent, monkeypatch):  # noqa: F811
    monkeypatch.setattr(module, "SLICE", 0.5)

    async def test(kernels):
        (one, first), (two, second) = await opened(kernels), await opened(kernels)
        await answer(first, LONG)
        assert await answer(second, SHORT) == "True"
        assert await answer(first, COUNT) == "True"
        # Another long one: each waits meanwhile.
        await answer(second, LONG)
        await answer(first, WAITS)
        await answer(second, WAITS)
        first.stop_channels()
        second.stop_channels()
        return [one.provisioner.pid, two.provisioner.pid]

    run(test, runs_at_once=1)


CHECK = """
from workbench.extensions.classroom.page.classroom import classroom
from workbench.extensions.lessons.check_turn import check_turn, computed
import threading
room = classroom()
said, may, has = [], threading.Event(), threading.Event()
def check():
    with check_turn(said.append) as turn:
        computed(lambda: (has.set(), may.wait(600)))()
    said.append("done")
at_work = threading.Thread(target=check)
at_work.start()
"""
HAS = f"print(has.wait({LIMIT}), said)"
PLACE = f"""
import time
end = time.monotonic() + {LIMIT}
while not said and time.monotonic() < end: time.sleep(.01)
print(has.is_set(), said)
"""
LET = "may.set(); at_work.join(); print(said[-1])"


@pytest.mark.skipif(not AVAILABLE, reason="kernels are forked on Linux only")
def test_checks_of_pages_take_turns_and_wait_for_no_run(lent, monkeypatch):  # noqa: F811
    # On a busy machine more time passes between two answers.
    monkeypatch.setattr(module, "SLICE", LIMIT)

    async def test(kernels):
        pages = [await opened(kernels) for _ in range(3)]
        (_, long), (_, first), (_, second) = pages
        await answer(long, LONG)
        await answer(first, CHECK)
        assert await answer(first, HAS) == "True [0]"
        await answer(second, CHECK)
        assert await answer(second, PLACE) == "False [1]"
        assert await answer(first, LET) == "done"
        assert await answer(second, HAS) == "True [1, 0]"
        assert await answer(second, LET) == "done"
        for _, client in pages:
            client.stop_channels()
        return [manager.provisioner.pid for manager, _ in pages]

    run(test, runs_at_once=1)
