"""Formulas: values agree with NumPy, mistakes are reported with their column, hostile text is refused."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import refusal
from workbench.errors import InputError
from workbench.problems.formula import MAX_LENGTH, Formula

X = np.linspace(0.05, 0.95, 7)
AXES = {"x": X[None, :], "y": X[:5, None] ** 2}
ONE = {"sin": np.sin, "cos": np.cos, "exp": np.exp, "abs": np.abs, "tanh": np.tanh, "floor": np.floor, "sqrt": np.sqrt}
TWO = {"min": np.minimum, "max": np.maximum, "hypot": np.hypot}
SIGNS = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
COMPARED = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal}

# Each draw is a text and, built with it, the same value by NumPy; they meet only in the comparison.
leaves = st.one_of(
    st.floats(0.01, 100).map(lambda number: (repr(number), np.float64(number))),
    st.integers(0, 50).map(lambda number: (str(number), np.float64(number))),
    st.sampled_from(list(AXES.items())),
    st.sampled_from([("pi", np.float64(np.pi)), ("e", np.float64(np.e))]),
)


def grown(inner):
    return st.one_of(
        st.tuples(st.sampled_from(sorted(SIGNS)), inner, inner).map(
            lambda of: (f"({of[1][0]} {of[0]} {of[2][0]})", SIGNS[of[0]](of[1][1], of[2][1]))
        ),
        st.tuples(st.sampled_from(sorted(ONE)), inner).map(lambda of: (f"{of[0]}({of[1][0]})", ONE[of[0]](of[1][1]))),
        st.tuples(st.sampled_from(sorted(TWO)), inner, inner).map(
            lambda of: (f"{of[0]}({of[1][0]},{of[2][0]})", TWO[of[0]](of[1][1], of[2][1]))
        ),
        st.tuples(inner, st.integers(0, 4)).map(
            lambda of: (f"({of[0][0]})**{of[1]}", np.power(of[0][1], float(of[1])))
        ),
        inner.map(lambda of: (f"-({of[0]})", np.negative(of[1]))),
        st.tuples(st.sampled_from(sorted(COMPARED)), inner, inner, inner, inner, st.booleans()).map(chosen),
    )


def chosen(of):
    sign, one, other, yes, no, short = of
    values = np.where(COMPARED[sign](one[1], other[1]), yes[1], no[1])
    condition = f"{one[0]} {sign} {other[0]}"
    return f"({yes[0]} if {condition} else {no[0]})" if short else f"where({condition}, {yes[0]}, {no[0]})", values


trees = st.recursive(leaves, grown, max_leaves=8).filter(lambda drawn: len(drawn[0]) <= MAX_LENGTH)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@settings(max_examples=100)
@given(trees)
def test_the_values_are_those_of_numpy(tree):
    text, expected = tree
    with np.errstate(all="ignore"):
        values = Formula.parse(text)(**AXES)
    assert values.shape == (5, 7)
    assert values.dtype == np.float64
    np.testing.assert_allclose(values, np.broadcast_to(expected, (5, 7)), rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2**3**2", 512),
        ("-2**2", -4),
        ("1 - 2 - 3", -4),
        ("0 < x < 1", 1),
        ("0 < x < 1 and not y > 2", 1),
        ("x > 2 or y > 2", 0),
        ("(x < 1)*3 - (y < 1)", 2),
        ("min(3, 1, 2) + max(1, 2, 3)", 4),
        ("log(e)", 1),
        (" 7 ", 7),
    ],
)
def test_precedence_chains_and_logic(text, value):
    assert Formula.parse(text)(x=0.5, y=0.25) == pytest.approx(value, rel=1e-15)


def test_conditions_discard_the_undefined_branch_without_warnings():
    values = Formula.parse("where(x > 0, log(x), 0)", ["x"])(x=np.array([-1.0, 0.0, 1.0]))
    assert values.tolist() == [0, 0, 0]
    assert np.isinf(Formula.parse("1/x", ["x"])(x=0.0))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the formula is empty; write a number, or a formula such as 1 + x*y"),
        ("1 + sine(x)", "column 5: unknown function 'sine'; did you mean sin?"),
        ("  2*u", "column 5: unknown name 'u'; known: x, y, pi"),
        ("x^2", "column 2: '^' has no meaning in a formula; write ** for a power"),
        ("1 + 2x", "column 6: a number is followed by a letter; write * between factors, as 2*x"),
        ("x + ", "column 4: the formula ends too early; something must follow +"),
        ("x + (y", "column 5: the formula cannot be read here ('(' was never closed); check brackets and operators"),
        ("sin", "column 1: sin is a function; write sin(...)"),
        ("x(2)", "column 1: x is not a function; write x*(...) for a product"),
        ("sin(x, y)", "column 1: sin takes 1 argument, got 2"),
        ("1 + x**99", "column 8: this exponent is 99; at most 64 is allowed"),
        ("9**9**9**9", "column 7: this exponent is 3.87e+08; at most 64 is allowed"),
        ("1e999", "column 1: this number is too large for float64; at most 1.7e308 is possible"),
        ("True", "column 1: this is not a real number; write digits, as 1 or 0.5 or 1e-3"),
    ],
)
def test_mistakes_are_reported_with_their_column(text, sentence):
    assert refusal(Formula.parse, text).startswith(sentence)


HOSTILE = [
    "().__class__.__bases__[0].__subclasses__()",
    "__import__('os').system('true')",
    "x.real",
    "(lambda: 0)()",
    "exec(x)",
    "open(x)",
    "[x for x in y]",
    "(x for x in y)",
    "{x}",
    "f'{x}'",
    "'a'*9",
    "x := 3",
    "sin(*x)",
    "sin(x=1)",
    "x is y",
    "x in y",
    "x << 9",
    "x // 2",
    "~x",
    "x @ y",
    "await x",
    "yield",
    "...",
    "None",
    "1j",
    "0x10",
    "1_000",
    "x\n+ 1",
    "x # y",
    "x²",
    "ｓｉｎ(x)",
    "x\x00",
    "\ud800",
    "(" * 90 + "x" + ")" * 90 + ".real",
    "(" * 250 + ")" * 250,
    "-" * 499 + "1",
    "not " * 124 + "x",
    "+".join("1" * 250),
    "9" * 400,
    "x" * 501,
    "9**9**9**9**9",
    "x**(9**9)",
    "x**-(9**9)",
    "x**(1/0)",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_refused(text, monkeypatch):
    started, start, here = [], threading.Thread.start, threading.get_ident()

    def noted(thread):
        # Threads that other tests have left may begin others, and end, at any time.
        if threading.get_ident() == here:
            started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", noted)
    said = refusal(Formula.parse, text)
    assert "\n" not in said
    assert len(said) < 300
    assert not any(thread.is_alive() for thread in started)


@settings(max_examples=100)
@given(st.one_of(st.text(max_size=60), st.text("xy()+-*/.,0123 sincoeifls<>=!", max_size=60)))
def test_any_text_is_parsed_or_refused(text):
    try:
        made = Formula.parse(text)
    except InputError:
        return
    assert made(**AXES).shape == (5, 7)
