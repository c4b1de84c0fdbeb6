"""Every row of the papers has a state, a command that shows it, and a place in the document."""

from __future__ import annotations

import itertools
import re
import shlex
from pathlib import Path

import pytest

from scripts.papers_rows import GROUNDS, PAGE, ROOT, STATES, Row, page, rows
from workbench.cli.program import parser
from workbench.extensions.papers import PAPERS, target_of
from workbench.extensions.papers.report import Choices
from workbench.extensions.papers.standing import INDEPENDENT, OF_SUPPORT, Reason, Standing, Support

EVERY = rows()
COMMANDS = sorted({row.command for row in EVERY if row.command.startswith("workbench ")})


def test_the_document_is_that_of_the_declared_rows():
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_row_has_a_state_and_says_why_it_is_not_whole():
    assert {row.status for row in EVERY} <= set(STATES)
    assert [row for row in EVERY if row.status == "works" and not row.command] == []
    whole = ("works", "context")
    unmarked = [row for row in EVERY if row.status not in whole and row.remark.partition(": ")[0] not in GROUNDS]
    assert unmarked == []
    assert {each.value for each in Support} <= set(GROUNDS)
    assert [row for row in EVERY if row.status == "context" and not row.remark] == []
    assert len({(row.paper, row.part, row.row) for row in EVERY}) == len(EVERY)


SMALL_WORDS = {"a", "an", "and", "as", "at", "be", "by", "can", "for", "from", "in", "of", "on", "or", "the", "with"}
ALIKE = 0.6
"""The share of equal words from which two rows of a paper with the same numbers are one."""


def words_of(row: Row) -> set[str]:
    """The words of a row without small ones and plurals."""
    return {word.removesuffix("s") for word in re.findall(r"\w+", row.row.lower()) if word not in SMALL_WORDS}


def alike(one: Row, other: Row) -> bool:
    """True if two rows name the same thing: most words are equal, and all numbers are."""
    words, others = words_of(one), words_of(other)
    numbers, other_numbers = ({word for word in each if re.search(r"\d", word)} for each in (words, others))
    return numbers == other_numbers and len(words & others) >= ALIKE * len(words | others)


def test_a_row_is_counted_once():
    """Also in other words: a claim that a second reading of the paper found again is the same row."""
    found = [
        (one.paper, one.row, other.row)
        for one, other in itertools.combinations(EVERY, 2)
        if one.paper == other.paper and alike(one, other)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Neu2 lies between block-IC 4n and 8n", 'Neu2 between block-IC 4n and 8n "can be noticed"', True),
        ("Operation count, Table II", "Table II operations", True),
        ("Fig. 1 flow of hybrid 1", "Fig. 2 flow of hybrid 2", False),
        ("Stripe vectors: n^2 in 3D", "Planar vectors: n in 3D", False),
    ],
)
def test_rows_are_alike_by_words_and_numbers(one, other, expected):
    rows_of = [Row("two-level", "claims", text, "works", "", "") for text in (one, other)]
    assert alike(*rows_of) == expected


def test_commands_are_those_of_the_workbench_or_tests():
    others = {row.command for row in EVERY if row.command} - set(COMMANDS)
    assert [command for command in others if not command.startswith("pytest tests/")] == []
    assert [command for command in others if not Path(ROOT, command.removeprefix("pytest ")).exists()] == []


@pytest.mark.parametrize("verb", sorted({shlex.split(command)[1] for command in COMMANDS}))
def test_commands_take_their_options(verb):
    of_verb = parser(verb)
    for command in COMMANDS:
        _, name, *arguments = shlex.split(command)
        if name == verb:
            of_verb.parse_args([name, *arguments])
        if name == verb == "reproduce":
            target_of(*arguments[:2])


def test_every_reason_in_the_papers_says_what_it_rests_on():
    """Also those of tables and figures to come: a reason without its ground is refused here."""
    found = [
        reason
        for targets in PAPERS.values()
        for target in targets.values()
        for column in target.compared
        for reason in column.reasons.values()
    ]
    assert len(found) > 10
    for reason in found:
        assert isinstance(reason, Reason)
        assert isinstance(reason.support, Support)
        assert reason.text
        assert reason.words.startswith(
            (f"{Support.MEASURED.value}: ", f"{Support.PLAUSIBLE.value}: ", "not explained: ")
        )
    # A number beyond the limit counts as what its reason rests on, or as not explained.
    assert set(OF_SUPPORT.values()) == {Standing.EXPLAINED, Standing.PLAUSIBLE, Standing.OPEN}


def lines_of(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading of the document on the papers, without its own headings."""
    text = (PAGE.parent / "papers.md").read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2]
    table = next(part for part in text.split("\n\n") if part.startswith("|"))
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()[2:]]


def numbers_of(paper: str) -> int:
    """Printed numbers in all items of a paper at full size, bubbles at the default one; nothing is computed."""
    found = 0
    for target in PAPERS[paper].values():
        if target.item is None or not target.compared:
            continue
        chosen = {"report": True, "device": "cuda", "accelerator_here": "", "why": ""}
        chosen["max_n"] = Choices(512 if paper == "hysing" else 1024, quick=False).size(target)
        cases = list(target.item.cases({**target.item.paper_values, **chosen}))
        rows = target.item.joined(cases, [{} for _ in cases])
        found += sum(row.get(column.printed) is not None for row in rows for column in target.compared)
    return found


def test_the_tally_of_the_document_adds_up():
    """Each number stands in one way; those of two papers are all that their items print."""
    lines = lines_of("How the printed numbers stand")
    *papers, every = [[int(cell) for cell in cells] for _, *cells in lines]
    assert every == [sum(column) for column in zip(*papers, strict=True)]
    assert [counts[0] for counts in papers] == [sum(counts[1 : 1 + len(INDEPENDENT)]) for counts in papers]
    named = [name for name, *_ in lines[:-1]]
    assert set(named) == set(PAPERS)
    numbers = dict(zip(named, (counts[0] + sum(counts[1 + len(INDEPENDENT) :]) for counts in papers), strict=True))
    for paper in ("two-level", "hysing"):
        assert numbers[paper] == numbers_of(paper)


def test_claims_in_the_document_say_what_they_rest_on():
    claims = lines_of("Claims of the texts")
    assert len(claims) >= 9
    assert {ground for _, ground, *_ in claims} <= set(GROUNDS)
    for *_, command in claims:
        target_of(*command.strip("`").split()[1:])
