"""Checks that compute take turns, in the order of arrival; those that compare, or know, wait for nothing."""

import functools
import importlib
import threading

import pytest

from tests.waiting import LIMIT, until
from workbench.extensions.lessons import LESSONS, check_turn
from workbench.extensions.lessons.check_turn import CheckTurn, computed
from workbench.extensions.lessons.exercise import Exercise, Number, Verdict
from workbench.extensions.lessons.own import declared
from workbench.extensions.lessons.page.exercise import ExerciseView
from workbench.extensions.lessons.references import some_answer
from workbench.run import Run, Session, configure
from workbench.run.jobs.run_queue import CHECKS, QueueSlot
from workbench.words import numbers

COMPUTE = {
    "without-pain": (),
    "polynomials": (),
    "rounding": (2, 3),
    "preconditioning": (1, 2, 3),
    "deflation": (2, 3, 4),
    "waiting": (1, 2, 3),
    "many-at-once": (1, 2, 3, 4),
}
"""Exercises whose checks solve or compute a spectrum."""
MODULES = ("rounding", "preconditioning", "deflation", "waiting", "many_at_once", "solved")


class TurnTakenError(Exception):
    pass


@pytest.fixture
def unknown():
    """Nothing is known that a judge has computed before."""
    for name in MODULES:
        for each in vars(importlib.import_module(f"workbench.extensions.lessons.{name}")).values():
            if hasattr(each, "cache_clear"):
                each.cache_clear()


@pytest.fixture
def before():
    """Another check, which has the turn."""
    slot = QueueSlot(CHECKS)
    slot.enqueue()
    yield slot
    slot.release()


def test_what_a_judge_computes_waits_for_a_turn_and_what_it_compares_does_not(unknown, monkeypatch):
    def refuse(*_, **__):
        raise TurnTakenError

    monkeypatch.setattr(CheckTurn, "take", refuse)
    made = Run.__init__

    def small(run, configuration, system=None, *parts, **named):
        # A step in the plane is less than a turn takes.
        assert system is not None, "it solves without a turn"
        assert system.operator.shape[0] <= 2
        made(run, configuration, system, *parts, **named)

    monkeypatch.setattr(Run, "__init__", small)
    found = {}
    for name, each in LESSONS.items():
        found[name] = []
        for number, exercise in enumerate(each.exercises, 1):
            with check_turn.check_turn():
                try:
                    exercise.check(some_answer(exercise))
                except TurnTakenError:
                    found[name].append(number)
    assert {name: tuple(each) for name, each in found.items()} == COMPUTE


def test_a_check_that_waits_says_its_place_and_afterwards_for_how_long(before, monkeypatch):
    monkeypatch.setattr(numbers, "NOTICED", 0.0)
    second = QueueSlot(CHECKS)
    second.enqueue()
    judge = computed(lambda answer: Verdict(answer == 2, "it is 2."))
    view = ExerciseView(Exercise("1 + 1?", Number(), judge), 1)
    view.field.value = "2"
    view.check()
    until(lambda: view.verdict.text == "queued, 2 checks before yours")
    before.release()
    until(lambda: view.verdict.text == "queued, 1 check before yours")
    second.release()
    assert view.wait(LIMIT)
    assert view.verdict.text == "Right: it is 2."
    assert view.tries.value.startswith("solved at the 1st try, waited ")
    assert not CHECKS.busy
    view.close()


def test_a_place_is_not_said_of_an_answer_that_has_changed(before):
    view = ExerciseView(Exercise("1 + 1?", Number(), computed(lambda answer: Verdict(answer == 2, "it is 2."))), 1)
    view.field.value = "2"
    view.check()
    until(lambda: view.verdict.text.startswith("queued"))
    view.field.value = "3"
    before.release()
    assert view.wait(LIMIT)
    assert view.verdict.text == ""
    view.close()


def test_a_check_whose_result_is_known_does_not_wait(before):
    known = functools.cache(computed(lambda: 2))
    view = ExerciseView(Exercise("1 + 1?", Number(), lambda answer: Verdict(answer == known(), "it is 2.")), 1)
    for answer in ("2", "3"):
        view.field.value = answer
        view.check()
        if answer == "2":
            until(lambda: view.verdict.text == "queued, 1 check before yours")
            before.release()
            assert view.wait(LIMIT)
            before.enqueue()
    assert view.wait(LIMIT)
    assert view.verdict.text == "Not yet: it is 2."
    view.close()


def test_a_judge_of_a_teacher_has_a_turn_and_may_run_what_it_likes():
    held = []

    def judge(answer):
        held.append(CHECKS.busy)
        # A run of its own waits in the queue of runs, which is another one.
        return Session(configure("poisson5", n=4)).wait(LIMIT).converged

    exercise = declared("Any?", judge)
    with check_turn.check_turn():
        assert exercise.check("1").right
        assert CHECKS.busy
    assert held == [True]
    assert not CHECKS.busy


def test_a_check_that_fails_gives_its_turn_back():
    @computed
    def fail(_answer):
        raise RuntimeError("broken")

    view = ExerciseView(Exercise("?", Number(), fail), 1)
    view.field.value = "1"
    view.check()
    assert view.wait(LIMIT)
    assert not CHECKS.busy
    view.close()


def test_checks_have_their_turns_in_the_order_in_which_they_asked(before):
    order, threads = [], []
    for name in "abc":

        def ask(name=name):
            with check_turn.check_turn():
                computed(order.append)(name)

        threads.append(threading.Thread(target=ask))
        threads[-1].start()
        until(lambda: len(CHECKS.slots) == 1 + len(threads))
    before.release()
    for each in threads:
        each.join(LIMIT)
    assert order == ["a", "b", "c"]
