"""Pictures of an active run travel together; whatever is no mere progress goes at once."""

import pytest

from workbench.live.field.frame_batch import TURN, Frame, FrameBatch


@pytest.fixture
def clock(monkeypatch):
    """Time that stands still until it is set."""
    now = [130 * TURN]
    monkeypatch.setattr("workbench.live.transport.rate_limit.time.monotonic", lambda: now[0])
    return now


def shot(number, *, live=True, made=None):
    def make():
        if made is not None:
            made.append(number)
        return {"iteration": number}, bytes([number] * number)

    return Frame(make, live)


def reported(made):
    message, buffer = made
    return [one["iteration"] for one in (*message["before"], message)], buffer


def test_pictures_wait_for_each_other_and_go_in_order(clock):
    reel, made = FrameBatch(), []
    assert reported(reel.add(shot(1), "a")) == ([1], b"\1")
    for number in (2, 3):
        clock[0] += TURN / 4
        assert reel.add(shot(number, made=made), "a") is None
        assert reel.waits
        assert reel.due() is None
        assert made == []
    clock[0] += TURN / 2
    found = reel.due()
    assert found is not None
    message, buffer = found
    assert reported((message, buffer)) == ([2, 3], b"\2\2\3\3\3")
    assert message["before"][0]["bytes"] == 2
    assert message["milliseconds"] == pytest.approx(1000 * TURN)
    assert reel.due() is None
    assert not reel.waits


@pytest.mark.parametrize(("kind", "live"), [("another", True), ("a", False)])
def test_what_is_no_mere_progress_goes_at_once_and_alone(clock, kind, live):
    reel = FrameBatch()
    reel.add(shot(1), "a")
    reel.add(shot(2), "a")
    assert reported(reel.add(shot(3, live=live), kind)) == ([3], b"\3\3\3")
    assert not reel.waits
