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
    assert "2 reductions follow one another" in settled(moves)
    before, after = moves.before.value.split("\n"), moves.after.value.split("\n")
    assert [line for line, mark in zip(before, moves.before.marks, strict=True) if mark] == ["s = A(p)"]
    assert [line for line, mark in zip(after, moves.after.marks, strict=True) if mark] == ["w = A(u)", "s = w + beta*s"]
    # The vectors s of both sides are the same.
    s = [notes[lines.index(line)] for lines, line, notes in (
        (before, "s = A(p)", moves.before.notes), (after, "s = w + beta*s", moves.after.notes)
    )]  # fmt: skip
    assert s[0] == s[1]
    until(lambda: moves.lanes.trace is not None)


def test_a_line_that_reads_what_is_not_there_is_said_in_a_sentence(moves):
    settled(moves)
    moves.after.value = "\n".join(reversed(moves.after.value.split("\n")))
    assert "before any line has set it" in settled(moves)
    assert moves.verdict.tone == "bad"
    assert not moves.undo.disabled


def test_what_there_is_not_is_refused(moves):
    with pytest.raises(InputError, match="the changes are 1 to 5, and not 6"):
        moves.show(len(DERIVATIONS["Gropp"]) + 1)
    with pytest.raises(InputError, match="unknown method"):
        MoveLines("cg")
