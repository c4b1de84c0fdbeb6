"""The entries of a race: added, removed, replaced and taken back; opened as they ended; their states in words."""

import functools
import re

import pytest
from PIL import Image

from tests.live.conftest import upload
from tests.live.states import ENDLESS
from tests.waiting import LIMIT
from workbench.errors import InputError
from workbench.live.compare.race_form import method_of
from workbench.live.compare.race_text import doing
from workbench.run import Race, State, configure
from workbench.run.jobs.race_codec import from_link, load_race


def lane_of(**choices):
    return configure("two-layer", n=24, **choices)


METHODS = [lane_of(), lane_of(preconditioner="neumann:2"), lane_of(preconditioner="neumann:2", deflation="stripes")]


@pytest.fixture
def race(view_in):
    return functools.partial(view_in, "race", *METHODS, measure="iterations", budget=0)


@pytest.fixture
def ended_race(race):
    return race(state="ended")


def methods(view):
    return [method_of(entry.configuration) for entry in view.race.entries]


def cells(view):
    """The texts of the table of entries."""
    return [[cell["text"] for cell in row] for row in view.table.rows]


def test_a_removed_entry_comes_back_with_its_results_in_its_place(ended_race, eventually):
    view = ended_race
    before, shown, said = methods(view), cells(view), view.winner.text
    iterations = [entry.made.iterations for entry in view.race.entries]
    assert view.undoable == ""
    view.table.press("remove", [2])
    assert view.undoable == "Neumann 2 removed"
    assert methods(view) == [before[0], before[2]]
    view.undo()
    assert methods(view) == before
    assert [entry.made.history.count - 1 for entry in view.race.entries] == iterations
    # It is the run that the list has.
    assert len(view.runs.of("Race")) == 3
    assert not view.race.alive
    eventually(lambda: view.winner.text == said)
    # Also with its number.
    eventually(lambda: cells(view) == shown)
    assert view.can_redo
    view.redo()
    assert methods(view) == [before[0], before[2]]
    assert view.undoable == "Neumann 2 removed"
    view.undo()
    assert methods(view) == before
    assert view.undoable == ""
    view.undo()
    assert methods(view) == before


def test_entries_that_were_replaced_come_back(ended_race):
    view = ended_race
    before = methods(view)
    view.show([lane_of(solver="pipecg"), lane_of(solver="sd")])
    assert view.undoable == "entries replaced"
    view.undo()
    assert methods(view) == before
    assert all(entry.record for entry in view.race.entries)


def test_an_added_entry_goes_and_those_that_ran_again_since_stay(ended_race, eventually):
    view = ended_race
    view.add_method(lane_of(solver="pipecg"))
    assert view.undoable.startswith("Pipelined CG")
    view.race.wait(LIMIT)
    view.start()
    view.race.wait(LIMIT)
    again = view.race.entries[:3]
    view.undo()
    assert view.race.entries == again
    assert view.undoable == ""


def test_a_race_on_another_problem_comes_back_as_it_was(ended_race, eventually):
    view = ended_race
    view.remove(view.race.entries[0])
    view.rebase(configure("poisson5", n=16))
    view.start()
    view.race.wait(LIMIT)
    view.undo()
    # The race is as it was, and is marked as one of that problem.
    assert [entry.configuration for entry in view.race.entries] == METHODS
    assert all(entry.record for entry in view.race.entries)
    eventually(lambda: "These results are of Two layers, 24²" in view.belongs.value)
    view.start()
    assert {entry.configuration.problem.label for entry in view.race.entries} == {"Poisson, 16²"}


def test_an_entry_that_is_refused_is_no_step(ended_race):
    with pytest.raises(InputError, match="on another system"):
        ended_race.add(configure("poisson5", n=16))
    assert ended_race.undoable == ""


def test_methods_join_once_and_are_one_step(ended_race):
    view = ended_race
    before = methods(view)
    view.join([lane_of(), lane_of(preconditioner="ic"), lane_of(preconditioner="ssor")])
    added = [method_of(lane_of(preconditioner=name)) for name in ("ic", "ssor")]
    assert methods(view) == [*before, *added]
    assert view.undoable == "2 entries added"
    assert view.join([lane_of()]) == []
    view.undo()
    assert methods(view) == before


def test_a_race_opens_as_it_ended_in_another_view(ended_race, view_in, eventually):
    view = ended_race
    view.look.set("measure", "bytes")
    view.look.change(tolerance=1e-4, own=True)
    eventually(lambda: "less than" in view.winner.text)
    link, said = view.link()
    assert link.startswith("cgr1.")
    assert "at most 200 points a curve" in said
    (path,) = view.export("race")
    (path_again,) = view.export("race")
    assert path == path_again
    for race in (from_link(link), load_race(path)):
        other = view_in("race", configure("poisson5", n=8))
        other.open(race)
        assert not other.race.alive
        assert other.look.present.measure == "bytes"
        assert other.look.present.tolerance == 1e-4
        eventually(lambda: other.winner.text == view.winner.text == race.verdict)  # noqa: B023
        eventually(lambda: cells(other) == cells(view))  # noqa: B023
        eventually(lambda: other.fastest.value == view.fastest.value)  # noqa: B023
        eventually(lambda: f"As it ended {race.where}. Start runs it here anew." in other.belongs.value)  # noqa: B023
        assert len(other.convergence.curves) == 3
        assert other.undoable == "race opened"
        # What was opened can be handed on, with its date and machine.
        assert other.present.ended == race.ended
        other.start()
        other.race.wait(LIMIT)
        assert [entry.run is not None for entry in other.race.entries] == [True] * 3
        eventually(lambda: other.belongs.value == "")  # noqa: B023


def test_a_race_before_its_end_has_no_link_and_a_file_that_is_none_one_sentence(race, eventually):
    view = race()
    with pytest.raises(InputError, match="no entry has ended yet"):
        view.link()
    view.files.share.click()
    assert view.saved.text == "no entry has ended yet; press Start, or wait"
    for name, content, said in (
        ("photo.png", b"", "'photo.png' is no saved race; choose a .cg-race.json file"),
        ("a.cg-race.json", b"\x00", "a.cg-race.json holds no race; copy the whole text again"),
    ):
        upload(view.files.upload, name, content)
        eventually(lambda: view.saved.text == said)  # noqa: B023
    assert len(view.race.entries) == 3


def test_a_link_is_offered_to_be_copied_as_it_stands(ended_race):
    view = ended_race
    view.files.share.click()
    assert view.saved.quote == view.link()[0]
    assert view.saved.text.startswith("A link to this race as it ended: ")


def test_the_film_of_a_race_has_some_frames_and_is_small(ended_race):
    view = ended_race
    (path,) = view.export("gif")
    film = Image.open(path)
    assert 10 < film.n_frames <= 60
    assert path.stat().st_size <= 2 << 20


def test_entries_are_waiting_compiling_in_setup_or_running(monkeypatch, eventually):
    race = Race([lane_of(), lane_of(solver="sd")])
    first, second = race.entries
    assert doing(first, race) == "not started"
    monkeypatch.setattr(Race, "alive", True)
    assert doing(first, race) == "waiting"
    first._state = State.SETUP
    assert doing(first, race) == "setup"
    monkeypatch.setattr("workbench.run.setup.setup_phases.compiling.active", lambda _thread: True)
    with first.phases("A"):
        assert doing(first, race) == "compiling"
        finish = first.phases.kernels.ask()
        first.phases.kernels.ask()
        finish(None)
        assert doing(first, race) == "compiling (1 of 2 kernels)"
    # One that is set up while another one compiles does not run.
    run = race.recall(lane_of(), None, "failed")
    second._state = State.RUNNING
    assert doing(second, race) == "waiting"
    assert run.ended


def test_a_race_that_was_stopped_says_so(view_in, eventually):
    # So many cells that no rounding errors end the first one.
    chosen = {"problem": "two-layer", "n": 64}
    view = view_in("race", configure(**chosen, stopping=ENDLESS, solver="sd"), configure(**chosen), state="racing")
    view.stop()
    eventually(lambda: re.search(r"stopped, [12] before the end", view.status.text))


def test_a_change_that_is_refused_leaves_what_was_undone(ended_race):
    view = ended_race
    view.remove(view.race.entries[2])
    view.undo()
    with pytest.raises(InputError, match="another system"):
        view.add(configure("two-layer", n=25))
    assert view.can_redo
    view.redo()
    assert len(view.race.entries) == 2


def test_results_on_a_system_come_back_while_those_of_another_run(ended_race):
    view = ended_race
    before = methods(view)
    view.show([configure("two-layer", n=24, rhs="random", stopping=ENDLESS)])
    view.start()
    view.undo()
    assert methods(view) == before
    assert all(entry.record for entry in view.race.entries)


def test_results_after_a_change_of_the_problem_come_back_while_others_run(ended_race, eventually):
    view = ended_race
    view.remove(view.race.entries[2])
    view.rebase(lane_of(rhs="random", solver="pipecg"))
    view.start()
    eventually(lambda: not view.race.alive)
    before = [(entry.configuration, entry.made.iterations) for entry in view.race.entries]
    view.undo()
    # On the former system again, where the entries have not run.
    view.rebase(lane_of(stopping=ENDLESS))
    view.start()
    assert view.race.alive
    view.redo()
    assert [(entry.configuration, entry.made.history.count - 1) for entry in view.race.entries] == before


def test_an_entry_that_was_not_run_comes_back_without_starting(race, eventually):
    view = race()
    waiting = view.race.entries[2]
    view.remove(waiting)
    view.start()
    view.race.wait(LIMIT)
    view.undo()
    (back,) = [entry for entry in view.race.entries if method_of(entry.configuration) == method_of(METHODS[2])]
    eventually(lambda: view.status.state == "paused")
    assert (back.run, back.state, back.begun) == (None, State.PAUSED, False)
    view.entries.act("pause", [back.number])
    view.race.wait(LIMIT)
    assert back.result.converged
