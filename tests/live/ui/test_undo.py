"""Undo of values, and listeners."""

from hypothesis import given
from hypothesis import strategies as st

from workbench.live.ui.listeners import Listeners
from workbench.live.ui.undo import MOST, History


def test_a_stroke_is_one_step_until_something_else_happens():
    history = History(0)
    for value in (1, 2, 3):
        history.push(value, "n")
    history.undo()
    assert history.present == 0
    history.push(1, "n")
    history.push(1, "b")  # equal, and of another stroke: the first one has ended
    history.push(2, "n")
    history.undo()
    assert history.present == 1


def test_a_stroke_that_comes_back_is_no_step():
    history = History(0)
    history.push(1, "n")
    history.push(0, "n")
    assert not history.can_undo


@given(st.lists(st.integers(0, 5), max_size=2 * MOST))
def test_undo_goes_back_over_all_values_and_redo_forward(values):
    history = History(-1)
    seen = [-1]
    for value in values:
        history.push(value)
        if value != seen[-1]:
            seen.append(value)
    seen = seen[-MOST - 1 :]
    back = [history.present]
    while history.can_undo:
        history.undo()
        back.append(history.present)
    assert back[::-1] == seen
    while history.can_redo:
        history.redo()
    assert history.present == seen[-1]


def test_a_listener_that_fails_does_not_keep_others_from_hearing(caplog):
    listeners, heard = Listeners("a test"), []

    def fail(value):
        raise RuntimeError(value)

    listeners.add(fail)
    listeners.add(heard.append)
    listeners.notify(1)
    listeners.forget(heard.append)
    listeners.notify(2)
    assert heard == [1]
    assert "a listener of a test failed" in caplog.text
