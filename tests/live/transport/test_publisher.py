"""The publisher and the link: credits, resync, no traffic without a page."""

import threading
import time

import pytest

from tests.conftest import in_threads
from workbench.live.transport.publisher import CREDIT, Link, Publisher


def make_link():
    sent = []
    return Link(lambda message, buffers: sent.append((message, buffers)), lambda: None), sent


def test_nothing_is_free_before_a_page_is_ready():
    link, _ = make_link()
    assert not link.free
    link.receive({"kind": "ack", "seq": 5})
    assert not link.free
    link.receive({"kind": "ready"})
    assert link.free


def test_credits_are_used_up_and_come_back_with_acknowledgements():
    link, sent = make_link()
    link.receive({"kind": "ready"})
    for _ in range(CREDIT):
        assert link.free
        link.send({})
    assert not link.free
    link.receive({"kind": "ack", "seq": sent[0][0]["seq"]})
    assert link.free


def test_an_acknowledgement_of_what_was_never_sent_gives_no_extra_credit():
    link, _ = make_link()
    link.receive({"kind": "ready"})
    link.receive({"kind": "ack", "seq": 1_000})
    for _ in range(CREDIT):
        link.send({})
    assert not link.free


def test_ready_asks_once_for_everything_and_frees_the_link():
    link, _ = make_link()
    link.receive({"kind": "ready"})
    assert link.restart()
    assert not link.restart()
    for _ in range(CREDIT):
        link.send({})
    link.receive({"kind": "ready"})
    assert link.free
    assert link.restart()


def test_unknown_messages_are_ignored():
    link, _ = make_link()
    link.receive({})
    link.receive({"kind": "something"})
    assert not link.free


def test_the_publisher_sleeps_until_woken_and_ticks_while_a_view_goes_on(eventually, opened):
    ticks = []
    going = threading.Event()
    publisher = opened(Publisher(rate=200))
    publisher.add(lambda: bool(ticks.append(time.monotonic())) or going.is_set())
    eventually(lambda: len(ticks) == 1)
    time.sleep(0.1)
    assert len(ticks) == 1
    going.set()
    publisher.wake()
    eventually(lambda: len(ticks) > 5)
    going.clear()


def test_the_rate_is_kept(eventually, opened):
    ticks = []
    publisher = opened(Publisher(rate=20))
    publisher.add(lambda: bool(ticks.append(1)) or True)
    begun = time.monotonic()
    eventually(lambda: len(ticks) >= 10)
    publisher.close()
    assert len(ticks) <= 20 * (time.monotonic() - begun) + 2


def test_a_view_that_says_when_is_looked_at_then_and_when_something_happens(eventually, opened):
    ticks = []
    publisher = opened(Publisher(rate=200))
    publisher.add(lambda: ticks.append(time.monotonic()) or 0.4)
    eventually(lambda: len(ticks) >= 3)
    assert ticks[2] - ticks[1] > 0.3
    publisher.close()
    # Long before it said.
    seldom = []
    publisher = opened(Publisher(rate=200))
    publisher.add(lambda: seldom.append(1) or 1e6)
    eventually(lambda: seldom)
    before = len(seldom)
    publisher.wake()
    eventually(lambda: len(seldom) > before)


def test_each_view_is_looked_at_as_often_as_it_asks_for_and_all_when_something_happens(eventually, opened):
    often, seldom, once = [], [], []
    publisher = opened(Publisher(rate=100))
    publisher.add(lambda: bool(seldom.append(1)) or 60.0)
    publisher.add(lambda: bool(once.append(1)))
    publisher.add(lambda: bool(often.append(1)) or True)
    eventually(lambda: len(often) > 10)
    # Each view that is added wakes all.
    assert len(seldom) <= 3
    assert len(once) <= 2
    before = len(seldom), len(once)
    publisher.wake()
    eventually(lambda: (len(seldom), len(once)) == (before[0] + 1, before[1] + 1))


def test_a_mistake_in_one_view_leaves_the_others_alive(eventually, caplog, opened):
    seen = []
    publisher = opened(Publisher(rate=200))
    publisher.add(lambda: 1 / 0 > 0)
    publisher.add(lambda: bool(seen.append(1)))
    eventually(lambda: len(seen) >= 1)
    publisher.wake()
    eventually(lambda: len(seen) >= 2)
    publisher.close()
    assert "could not be brought up to date" in caplog.text


def test_what_answers_a_button_comes_before_the_views_that_are_there(eventually, opened):
    order = []
    publisher = opened(Publisher())
    publisher.add(lambda: bool(order.append("a view")))
    publisher.add(lambda: bool(order.append("the answer")), first=True)
    eventually(lambda: "the answer" in order[:-1])
    publisher.close()
    assert order[order.index("the answer") + 1] == "a view"


def test_a_publisher_at_rest_looks_at_nothing_and_catches_up(eventually, opened):
    ticks = []
    publisher = opened(Publisher(rate=200))
    publisher.add(lambda: bool(ticks.append(1)) or True)
    eventually(lambda: ticks)
    with publisher.at_rest():
        time.sleep(0.05)
        before = len(ticks)
        publisher.wake()
        time.sleep(0.1)
        assert len(ticks) == before
    eventually(lambda: len(ticks) > before + 1)


@pytest.mark.usefixtures("frequent_switches")
def test_views_that_come_and_go_in_several_threads_are_all_counted(opened):
    publisher = opened(Publisher())
    views = [[(lambda: False) for _ in range(200)] for _ in range(4)]

    def come_and_go(k):
        for view in views[k]:
            publisher.add(view)
        for view in views[k][1:]:
            publisher.remove(view)

    in_threads(4, come_and_go)
    assert set(publisher.views) == {own[0] for own in views}
