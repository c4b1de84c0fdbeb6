"""Lines of one's own in the page: checked while they are typed, counted, raced, and never lost."""

import pytest

from tests.waiting import LIMIT
from workbench.errors import InputError
from workbench.live import OwnMethod, RaceView, explore
from workbench.run import configure, user_solver

SLOWER = ("beta = gamma/previous", "beta = 0")


@pytest.fixture
def own(opened):
    return opened(OwnMethod("cg", "two-layer", n=12))


def edit(own, old, new):
    assert old in own.editor.iterate
    own.editor.iterate = own.editor.iterate.replace(old, new)


def test_it_opens_with_the_lines_of_the_original(own):
    assert own.editor.iterate.startswith("s = A(p)\ndelta = (p, s)")
    assert own.status.text == "These are the lines of CG; change some."
    assert own.name.value == "my-cg"


def test_a_wrong_line_is_marked_while_it_is_typed(own, eventually):
    edit(own, "s = A(p)", "s = A(p")
    eventually(lambda: own.status.tone == "bad")
    assert own.status.text.startswith("iteration, line 1: 's = A(p': '(' was never closed")
    assert own.editor.wrong == {"part": "iteration", "number": 1, "column": 6}
    assert own.race() is None
    assert own.editor.iterate.startswith("s = A(p\n")
    edit(own, "s = A(p", "s = A(p)")
    eventually(lambda: own.status.tone == "good")
    assert own.editor.wrong["number"] == 0


def test_costs_stand_side_by_side(own):
    edit(own, SLOWER[0], "w = A(u)\nomega = (u, w)\nbeta = gamma/previous + 0*omega")
    assert own.check()
    first, second = own.costs()
    assert (first.with_a, second.with_a) == (1, 2)
    assert second.vectors == first.vectors + 2
    assert f"<b>{second.bytes_per_unknown:.0f}</b>" in own.table.value


def test_a_race_has_both_and_the_same_lines_tie(own):
    view = own.race()
    results = view.race.wait(LIMIT)
    assert [result.summary["solver"] for result in results] == ["cg", "my-cg"]
    assert results[0].iterations == results[1].iterations
    edit(own, *SLOWER)
    again = own.race()
    slower = again.race.wait(LIMIT)
    assert slower[1].iterations > 3 * slower[0].iterations == 3 * results[0].iterations


def test_a_planted_bug_ends_with_a_sentence(own, eventually):
    edit(own, "r = r - alpha*s", "r = 3*r - alpha*s")
    results = own.race().race.wait(LIMIT)
    assert results[0].converged
    assert results[1].summary["reason"].startswith("diverged")
    eventually(lambda: own.status.text.startswith("my-cg: diverged: the residual grew without bound"))
    assert own.status.tone == "bad"


def test_reset_can_be_undone(own):
    assert own.undo_button.disabled
    edit(own, *SLOWER)
    mine = own.editor.iterate
    own.reset()
    assert "beta = gamma/previous" in own.editor.iterate
    own.undo()
    assert own.editor.iterate == mine


def test_another_original_takes_no_edited_line_away(own):
    own.original.value = "pipecg"
    assert "z = n + beta*z" in own.editor.iterate
    assert own.name.value == "my-pipecg"
    edit(own, "n = A(m)", "n = A(m)  # mine")
    own.original.value = "cg"
    assert "# mine" in own.editor.iterate


@pytest.mark.parametrize("name", ["pipecg", "cgcg", "cg3"])
def test_a_copy_costs_what_its_original_does(own, name):
    own.original.value = name
    first, second = own.costs()
    for what in ("with_a", "with_m", "updates", "reductions", "vectors", "passes", "bytes_per_unknown"):
        assert getattr(first, what) == getattr(second, what)


def test_what_has_no_lines_is_refused():
    with pytest.raises(InputError, match="unknown method written as paper lines 'hybrid2'"):
        OwnMethod("hybrid2")


def test_a_race_view_may_begin_with_it_and_the_form_says_that_it_cannot():
    mine = configure("two-layer", n=12, solver=user_solver("mine"))
    view = RaceView(mine)
    assert view.adding.form.blocks["solver"].choice.value == "cg"
    assert view.race.wait(LIMIT)[0].converged
    view.close()
    with pytest.raises(InputError, match="mine is no solver that the form offers"):
        explore("two-layer", n=12, solver=user_solver("mine"))
