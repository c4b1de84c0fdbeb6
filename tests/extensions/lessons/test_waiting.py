"""Lesson 6: every change keeps the iterates of CG, the last ones are known methods, and the judges say why."""

from __future__ import annotations

import pytest

from workbench.devices.clock import NETWORK
from workbench.errors import InputError
from workbench.extensions.lessons.exercise import Order
from workbench.extensions.lessons.waiting import CG_LINES, DERIVATIONS, EXERCISES, EXPOSED, PIPELINED, assessed
from workbench.lines.dependence import waiting
from workbench.solvers.cgcg import ChronopoulosGear
from workbench.solvers.gropp import Gropp
from workbench.solvers.pipecg import PipelinedCG
from workbench.solvers.user_defined import tidied
from workbench.words.numbers import duration

GEAR = 6
"""The change by which the lesson has come to Chronopoulos and Gear."""
EARLY = "\n".join(sorted(EXPOSED.split("\n"), key=lambda line: line != "x = x + alpha*p"))
"""With x updated before alpha is known."""


@pytest.mark.parametrize("to", DERIVATIONS)
def test_every_change_keeps_the_iterates(to):
    before = CG_LINES
    for change in DERIVATIONS[to]:
        assert change.lines != before
        assert assessed(change.lines).difference is None, change.title
        before = change.lines


def test_the_changes_lead_to_the_methods_of_the_family():
    last, gear = DERIVATIONS["pipelined"][-1], DERIVATIONS["pipelined"][GEAR - 1]
    assert len(DERIVATIONS["pipelined"]) == GEAR + 2, "the text counts them"
    assert len(DERIVATIONS["Gropp"]) == 5, "the text counts them"
    for lines, method in ((gear.lines, ChronopoulosGear), (last.lines, PipelinedCG)):
        assert sorted(lines.split("\n")) == sorted(tidied(method.iterate).split("\n"))
        assert waiting(lines) == waiting(method.iterate)
    gropp = waiting(DERIVATIONS["Gropp"][-1].lines)
    assert (gropp.reductions, set(gropp.hidden)) == (2, set(waiting(Gropp.iterate).hidden))


def test_the_model_rewards_what_the_text_says():
    cg, gear, pipelined = (assessed(each) for each in (CG_LINES, DERIVATIONS["pipelined"][GEAR - 1].lines, PIPELINED))
    assert cg.seconds > gear.seconds > pipelined.seconds
    assert cg.waited == pytest.approx(2 * gear.waited, rel=0.01), "one reduction of two"
    assert pipelined.waited < gear.waited
    assert assessed(EXPOSED).seconds > 1.2 * pipelined.seconds


@pytest.mark.parametrize(
    ("number", "answer", "why"),
    [
        (1, CG_LINES, "but 2 reductions still follow one another"),
        (
            1,
            CG_LINES.replace("r - alpha*s", "r - 0.9*alpha*s"),
            "is the first line that gives another value than in CG",
        ),
        (2, EXPOSED, "there is an order with"),
        (2, EARLY, "x differs from that of CG from iteration 1 on"),
        (3, 4, "on 4 GPUs CG takes"),
        (3, 64, "but already on 32 GPUs CG takes"),
        (3, 1, "on 1 GPU CG takes"),
    ],
)
def test_a_wrong_answer_is_told_why(number, answer, why):
    verdict = EXERCISES[number - 1].check(answer)
    assert not verdict.right
    assert why in verdict.sentence


def test_the_waits_of_an_order_are_counted():
    """Change 4 leaves no sum that needs another, but its lines wait for two."""
    assert [assessed(change.lines).stops for change in DERIVATIONS["pipelined"]] == [2, 2, 2, 2, 1, 1, 1, 0]
    verdict = EXERCISES[0].check(DERIVATIONS["pipelined"][3].lines)
    assert verdict.right
    assert "As the lines stand, 2 sums are waited for" in verdict.sentence
    assert "As the lines stand" not in EXERCISES[0].check(DERIVATIONS["pipelined"][4].lines).sentence
    # A student compares with the picture of the best order.
    best = duration(assessed(DERIVATIONS["pipelined"][5].lines).seconds)
    assert f"while A works takes {best}" in verdict.sentence
    assert "while A works" not in EXERCISES[0].check(DERIVATIONS["pipelined"][5].lines).sentence


def test_a_wait_for_two_messages_counts_both():
    # Chronopoulos and Gear with all sums at the end: those of w = A u leave with its kernel, the others with the next.
    gear = DERIVATIONS["pipelined"][GEAR - 1].lines.split("\n")
    sums = [line for line in gear if line.split(" = ")[0] in ("gamma", "uu", "rr")]
    at_the_end = [line for line in gear if line not in sums]
    place = at_the_end.index("omega = (u, w)")
    at_the_end[place:place] = sums
    found = assessed("\n".join(at_the_end))
    assert found.difference is None
    assert found.stops == 2
    names = [event.name for event in found.trace if event.lane == NETWORK]
    assert sum("omega" in name for name in names) == sum("gamma" in name for name in names) == 2
    assert not any("omega" in name and "gamma" in name for name in names)


def test_two_products_do_not_count_as_one_reduction_won():
    lines = DERIVATIONS["pipelined"][3].lines.replace("s = w + beta*s", "s = A(p)")
    verdict = EXERCISES[0].check(lines)
    assert not verdict.right
    assert "the lines apply A 2 times" in verdict.sentence


def test_an_order_has_the_lines_of_the_question():
    order = Order("a = b\nc = d\na = b")
    assert order.read("\n c = d\na = b\n a = b\n") == "c = d\na = b\na = b"
    with pytest.raises(InputError, match="'c = d' occurs 2 times in the answer, but 1 in the question"):
        order.read("c = d\na = b\nc = d")
    with pytest.raises(InputError, match="1 time in the answer, but 0"):
        order.read("a = b\nc = d\na = b\ne = f")
    with pytest.raises(InputError, match="1, 2, 4 and so on, and 12 is none"):
        EXERCISES[2].check(12)
    with pytest.raises(InputError, match="line 1: .s = A.p.: operator .A. is applied as A.v."):
        EXERCISES[0].check("s = A*p")
