"""Judges on 200 generated answers each: no verdict contradicts its answer, the numbers that it shows, or another one.

Answers are right in other forms, nearly right at both sides of the tolerance, absurd, empty, huge and not finite.
"""

from __future__ import annotations

import ast
import itertools
import random
import re
from pathlib import Path

import pytest

from workbench.errors import InputError
from workbench.extensions.lessons import LESSONS
from workbench.extensions.lessons.exercise import Choice, Number, Numbers, Order, Verdict
from workbench.words.numbers import MISSING

SOURCES = Path(__file__).parents[3] / "notebooks/lessons/source"
ANSWERS, OF_LINES = 200, 50
"""Of texts fewer are tried, since most run a method of their own; 200 take half a minute and find no more."""
ABSURD = ("", " ", "nan", "inf", "-inf", "1e999", "5/0", "--3", "nine", "½", "1 2", "0x10", "9" * 400, "\x00", "−", ",",
          None, True, [9], float("nan"), float("inf"), 10**400, "{}", "x = ", "<b>9</b>")  # fmt: skip
FORMS = ("{:.15g}", "  {:.15g} ", "+{:.15g}", "{:.15e}", "{:.14f}")
EACH = [
    pytest.param(taught, number, id=f"{taught.name}-{number}")
    for taught in LESSONS.values() for number in range(1, len(taught.exercises) + 1)
]  # fmt: skip
ONE_OF_MANY = re.compile(
    r"(?<![\d.,/×]\s)(?<![\d.,/])\b1 (iterations|eigenvalues|GPUs|times|boxes|columns|vectors|steps|lines)\b"
)
NO_CHANGE = re.compile(r"from ([\d.]+)\S* to \1(?![\d.])|([\d.]+)°, not \2°|takes (\S+\s\S+) and pipelined CG \3\b")


def solution(taught, number):
    """The answer of the solutions, `lesson.check(1, 2)`."""
    for node in ast.walk(ast.parse((SOURCES / f"{taught.stem}.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "lesson.check" and len(node.args) == 2:
            found, answer = map(ast.literal_eval, node.args)
            if found == number:
                return answer
    raise AssertionError(f"no solution of exercise {number}")


def generated(kind, right, draw):
    """Answers to try, which begin with the right one, its forms, and those near it."""
    yield right
    if isinstance(kind, Number):
        yield from (form.format(right) for form in FORMS)
        yield f"{right:.12g}".replace(".", ",").replace("-", "\u2212")
        yield from (f"{right:.12g}{kind.unit}", f"{right:.12g} {kind.unit}", f"{4 * right:.12g}/4")
        if kind.whole:
            yield from range(int(max(kind.low, right - 12)), int(min(kind.high, right + 12)) + 1)
        else:
            yield from (
                right * (1 + sign * size * 10.0**-k) for k in range(10) for size in (1, 2, 5) for sign in (1, -1)
            )
        yield from (kind.low, kind.high, kind.low - 1, kind.high + 1, kind.low - 1e-9, kind.high + 1e-9)
    elif isinstance(kind, Choice):
        yield from (*kind.options, *(option.upper() for option in kind.options), *(f" {each}" for each in kind.options))
    elif isinstance(kind, Numbers):
        values = [float(part) for part in right.split()]
        for separator in (" ", "  ", ", ", ";", "; ", ",", "\t"):
            yield separator.join(f"{value:g}" for value in draw.sample(values, len(values)))
        yield " ".join(f"{value:g}".replace(".", ",") for value in values)
        while True:
            changed = [value * (1 + draw.choice((-1, 1)) * 10 ** -draw.uniform(0, 9)) for value in values]
            keep = [values[0], *changed[1:-1], values[-1]]
            yield " ".join(map(repr, draw.choice((changed, keep, keep, changed[1:], [*values, values[0]]))))
    else:
        lines = right.strip().split("\n")
        yield from (f"\n{right}\n", right.replace("\n", "\r\n"), right.upper(), right.replace("*", " * "))
        while True:
            made = list(lines)
            for _ in range(draw.randint(1, 3)):
                there = draw.randrange(len(made))
                line = made.pop(there) if len(made) > 1 else made[0]
                if isinstance(kind, Order) or draw.random() < 0.6:
                    made.insert(draw.randrange(len(made) + 1), line)
                elif draw.random() < 0.5:
                    made.insert(there, re.sub(r"[a-z]", lambda _: draw.choice("pqrsuwxz"), line, count=1))
            yield "\n".join(made)


def answers(kind, right):
    """200 answers, or 50 of lines."""
    count = ANSWERS if isinstance(kind, Number | Choice | Numbers) else OF_LINES
    draw = random.Random(2024)
    fill = (
        draw.uniform(0, 20) if isinstance(kind, Number) else "".join(draw.choices("09.,;- xλ", k=5))
        for _ in range(ANSWERS)
    )
    near = list(itertools.islice(generated(kind, right, draw), count - len(ABSURD)))
    return list(itertools.islice([*near, *ABSURD, *fill], count))


def judged(exercise, answer):
    """The verdict, or the sentence that refuses the answer."""
    try:
        return exercise.check(answer)
    except InputError as error:
        return str(error)


def value_of(exercise, answer):
    return exercise.answer.read(answer)


@pytest.mark.parametrize(("taught", "number"), EACH)
def test_no_verdict_contradicts_itself_its_answer_or_another(taught, number):
    exercise = taught.exercises[number - 1]
    kind, right = exercise.answer, solution(taught, number)
    found = [(answer, judged(exercise, answer)) for answer in answers(kind, right)]
    assert isinstance(found[0][1], Verdict)
    assert found[0][1].right
    verdicts = [(answer, each) for answer, each in found if isinstance(each, Verdict)]
    assert all(each.right or each.hint for _answer, each in verdicts), "a first wrong answer gets a hint"
    for _answer, each in found:
        sentences = [each] if isinstance(each, str) else [each.sentence, each.hint]
        for sentence in filter(None, sentences):
            assert len(sentence.splitlines()) == 1
            # A refusal repeats the answer.
            assert isinstance(each, str) or not re.search(r"\b(nan|inf|None)\b", sentence)
            assert f" {MISSING} " not in sentence
            assert not ONE_OF_MANY.search(sentence), sentence
            assert not NO_CHANGE.search(sentence), sentence
    said = {truth: {each.sentence for _answer, each in verdicts if each.right == truth} for truth in (True, False)}
    assert not said[True] & said[False], "a sentence is right for one answer and wrong for another"
    # The same answer in another form has the same verdict.
    by_value = {}
    for answer, each in verdicts:
        by_value.setdefault(repr(value_of(exercise, answer)), set()).add(each)
    assert all(len(each) == 1 for each in by_value.values())
    if isinstance(kind, Number):
        # Right answers are one interval: none that is wrong is closer to the right one than one that is right.
        ordered = [
            each.right for _value, each in sorted((value_of(exercise, answer), each) for answer, each in verdicts)
        ]
        assert len(list(itertools.groupby(ordered))) <= 3
