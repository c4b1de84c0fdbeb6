"""Lines that are moved: what is said of them, line by line and as a whole."""

from __future__ import annotations

import pytest

from tests.waiting import until
from workbench.errors import InputError
from workbench.extensions.lessons.waiting import DERIVATIONS
from workbench.live import MoveLines


@pytest.fixture
def moves():
    view = MoveLines("Gropp")
    yield view
    view.close()


def settled(view):
    until(lambda: view.verdict.tone != "busy")
    return view.verdict.text


def test_a_change_is_marked_on_both_sides(moves):
    moves.show(3)
    words = settled(moves)
    assert "2 reductions follow one another" in words
    assert "The values above are of iteration 4 with 64 unknowns." in words
    before, after = moves.before.value.split("\n"), moves.after.value.split("\n")
    assert [line for line, mark in zip(before, moves.before.marks, strict=True) if mark] == ["s = A(p)"]
    assert [line for line, mark in zip(after, moves.after.marks, strict=True) if mark] == ["w = A(u)", "s = w + beta*s"]
    # The vectors s of both sides are the same.
    s = [notes[lines.index(line)] for lines, line, notes in (
        (before, "s = A(p)", moves.before.notes), (after, "s = w + beta*s", moves.after.notes)
    )]  # fmt: skip
    assert s[0] == s[1]
    until(lambda: moves.lanes.trace is not None)
    assert {event.iteration for event in moves.lanes.trace} == {4, 5}


def test_a_line_that_reads_what_is_not_there_is_said_in_a_sentence(moves):
    settled(moves)
    moves.after.value = "\n".join(reversed(moves.after.value.split("\n")))
    assert "before any line has set it" in settled(moves)
    assert moves.verdict.tone == "bad"
    assert "alpha" not in moves.verdict.text
    assert not moves.undo.disabled
    assert moves.lanes.trace is None, "the lanes of other lines are gone"


def test_where_x_differs_both_sides_show_the_iteration_of_the_first_line_that_does(moves):
    settled(moves)
    lines = moves.after.value
    moves.after.value = lines.replace("gamma = (r, u)", "gamma = (r, u)\ngamma = 0 - gamma")
    words = settled(moves)
    assert "up to iteration 1, in which the method breaks down, and γ = (r, u) is the first line" in words
    assert "The values above are of iteration 1 with 64 unknowns." in words
    assert moves.after.marks[moves.after.value.split("\n").index("gamma = (r, u)")] == "differs"
    delta = [notes[lines.split("\n").index("delta = (p, s)")] for lines, notes in (
        (moves.before.value, moves.before.notes), (moves.after.value, moves.after.notes)
    )]  # fmt: skip
    assert delta[0] == delta[1]


def test_a_change_may_be_the_first_one_that_is_shown():
    view = MoveLines("Gropp", change=4)
    assert "Change 4 of 5" in view.title.value
    view.close()


def test_what_there_is_not_is_refused(moves):
    with pytest.raises(InputError, match="the changes are 1 to 5, and not 6"):
        moves.show(len(DERIVATIONS["Gropp"]) + 1)
    with pytest.raises(InputError, match="unknown method"):
        MoveLines("cg")
