"""The text of paper lines: what parses into what, and the sentence for everything that does not."""

from __future__ import annotations

import warnings

import pytest

from workbench.errors import InputError
from workbench.lines.parse import parse
from workbench.lines.types import Application, Binary, Dot, Formula, LinesError, Solve

OUTSIDE = (
    "is outside the language; it has + - * / @, sqrt, abs, conj, a dot product (a, b), an operator A(p), "
    "solve(a, b) and a if b > c else d"
)
DOT = "a dot product is written (a, b) with two vector names"

REFUSED = {
    "": "the text holds no line; write at least one formula such as x = x + alpha*p",
    "# nothing but a comment": "the text holds no line; write at least one formula such as x = x + alpha*p",
    "x + y": "line 'x + y' must have the form name = expression",
    "x += y": "line 'x += y' must have the form name = expression",
    "x: float = y": "line 'x: float = y' must have the form name = expression",
    "x = y = z": "line 'x = y = z' must have the form name = expression",
    "pass": "line 'pass' must have the form name = expression",
    "import os": "line 'import os' must have the form name = expression",
    "x, y = z": "line 'x, y = z' must assign to one name",
    "x[0] = y": "line 'x[0] = y' must assign to one name",
    "x.real = y": "line 'x.real = y' must assign to one name",
    "abs = y": "line 'abs = y' assigns to abs, which is a function of the language",
    "g = (x, y, z)": f"line 'g = (x, y, z)': {DOT}",
    "g = (x,)": f"line 'g = (x,)': {DOT}",
    "g = ()": f"line 'g = ()': {DOT}",
    "g = (x, 2*y)": f"line 'g = (x, 2*y)': {DOT}",
    "g = (x + y, y)": f"line 'g = (x + y, y)': {DOT}",
    "g = (2, y)": f"line 'g = (2, y)': {DOT}",
    "s = A(x, y)": "line 's = A(x, y)': an operator is written A(p) with one vector name",
    "s = A()": "line 's = A()': an operator is written A(p) with one vector name",
    "s = A(p=x)": "line 's = A(p=x)': an operator is written A(p) with one vector name",
    "s = A.T(x)": "line 's = A.T(x)': an operator is written A(p) with one vector name",
    "s = A(2*x)": "line 's = A(2*x)': an operator takes one vector name; put the expression on a line of its own",
    "s = A(B(x))": "line 's = A(B(x))': an operator takes one vector name; put the expression on a line of its own",
    "x = A(x)": "line 'x = A(x)' overwrites its own argument; give the product a name of its own",
    "r = b - A(x)": "line 'r = b - A(x)': an operator must stand alone on its line, as in s = A(p)",
    "r = -A(x)": "line 'r = -A(x)': an operator must stand alone on its line, as in s = A(p)",
    "r = sqrt(A(x))": "line 'r = sqrt(A(x))': an operator must stand alone on its line, as in s = A(p)",
    "x = sqrt(x, y)": "line 'x = sqrt(x, y)': sqrt takes one argument",
    "x = abs()": "line 'x = abs()': abs takes one argument",
    "x = sqrt(x=y)": "line 'x = sqrt(x=y)': sqrt takes one argument",
    "x = y + sqrt": "line 'x = y + sqrt': sqrt is a function of the language; it is written sqrt(a)",
    "x = conj": "line 'x = conj': conj is a function of the language; it is written conj(a)",
    "x = y**2": f"line 'x = y**2': 'y ** 2' {OUTSIDE}",
    "x = y % 2": f"line 'x = y % 2': 'y % 2' {OUTSIDE}",
    "x = y // 2": f"line 'x = y // 2': 'y // 2' {OUTSIDE}",
    "x = solve(a)": "line 'x = solve(a)': a small system is solved by solve(a, b) with two names, which gives a^-1 b",
    "x = 1 + solve(a, b)": "line 'x = 1 + solve(a, b)': solve must stand alone on its line, as in "
    "alpha = solve(delta, gamma)",
    "x = y[0]": f"line 'x = y[0]': 'y[0]' {OUTSIDE}",
    "x = y.real": f"line 'x = y.real': 'y.real' {OUTSIDE}",
    "x = 2j*y": f"line 'x = 2j*y': '2j' {OUTSIDE}",
    "x = 'a'": f"line \"x = 'a'\": \"'a'\" {OUTSIDE}",
    "x = True": f"line 'x = True': 'True' {OUTSIDE}",
    "x = not y": f"line 'x = not y': 'not y' {OUTSIDE}",
    "x = ~y": f"line 'x = ~y': '~y' {OUTSIDE}",
    "x = y > z": f"line 'x = y > z': 'y > z' {OUTSIDE}",
    "x = [y, z]": f"line 'x = [y, z]': '[y, z]' {OUTSIDE}",
    "x = y if z else w": f"line 'x = y if z else w': 'y if z else w' {OUTSIDE}",
    "x = y if z == w else w": f"line 'x = y if z == w else w': 'y if z == w else w' {OUTSIDE}",
    "x = y if 0 < z < w else w": f"line 'x = y if 0 < z < w else w': 'y if 0 < z < w else w' {OUTSIDE}",
    "x = 2 + (y, z)": "line 'x = 2 + (y, z)': a dot product must stand alone on its line, as in c = (p, q)",
    "x = 1e999*x": "line 'x = 1e999*x' holds a number above 1.8e+308, the largest there is",
    f"x = 1{'0' * 400}": f"line 'x = 1{'0' * 400}' holds a number above 1.8e+308, the largest there is",
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:30])
def test_what_is_outside_the_language_is_refused_with_its_sentence(text):
    with pytest.raises(LinesError) as refusal:
        parse(text)
    assert str(refusal.value) == REFUSED[text]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x = = y", "line 'x = = y': unexpected '='"),
        ("x = (y", "line 'x = (y': '(' was never closed"),
        ("lambda = 2", "line 'lambda = 2': unexpected '='"),
        ("x = y +", "line 'x = y +': unexpected end of the line"),
        ("x = y\n    y = x", "line 'y = x': unexpected indent"),
    ],
)
def test_broken_python_is_refused_with_the_line_and_what_was_unexpected(text, sentence):
    with pytest.raises(LinesError) as refusal:
        parse(text)
    assert str(refusal.value) == sentence


def test_the_line_at_fault_is_quoted_not_the_first():
    with pytest.raises(LinesError, match=r"^line 'y = x\*\*2'"):
        parse("x = x + y\ny = x**2\nz = x")


def test_a_refusal_is_wrong_input_for_the_command_line():
    assert issubclass(LinesError, InputError)


def test_the_kinds_of_lines():
    lines = parse("""
        s = A(p)                    # the product
        delta = (p, s)

        alpha = gamma/delta if delta > 0 else 0
        x = x + alpha*p
    """)
    product, dot, scalar, vector = lines
    assert isinstance(product, Application)
    assert (product.target, product.operator, product.argument, product.text) == ("s", "A", "p", "s = A(p)")
    assert isinstance(dot, Dot)
    assert (dot.target, dot.left, dot.right, dot.text) == ("delta", "p", "s", "delta = (p, s)")
    assert isinstance(scalar, Formula)
    assert scalar.target == "alpha"
    assert set(scalar.reads) == {"gamma", "delta"}
    assert isinstance(vector, Formula)
    assert (vector.target, vector.reads, vector.text) == ("x", ("x", "alpha", "p"), "x = x + alpha*p")


def test_a_dot_product_needs_no_parentheses_and_two_lines_may_share_a_row():
    dot, formula = parse("g = x, y; z = x")
    assert isinstance(dot, Dot)
    assert (dot.left, dot.right) == ("x", "y")
    assert isinstance(formula, Formula)


def test_a_formula_may_span_rows_inside_parentheses():
    (line,) = parse("x = (x +\n     y)")
    assert isinstance(line, Formula)
    assert set(line.reads) == {"x", "y"}


def test_functions_are_no_names():
    (line,) = parse("x = sqrt(abs(y)) + conj(z) - +y")
    assert isinstance(line, Formula)
    assert sorted(line.reads) == ["y", "z"]
    assert isinstance(line.expression, Binary)


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">="])
def test_all_four_comparisons_belong_to_the_language(sign):
    (line,) = parse(f"x = y if y {sign} 2*a else -y")
    assert isinstance(line, Formula)
    assert set(line.reads) == {"y", "a"}


def test_the_text_of_a_line_is_what_was_written():
    text = "α = (r, r)  # a comment\r\nx = (x +\n  α*p); s = A(x)\n\x0cu = M(s)"
    assert [line.text for line in parse(text)] == ["α = (r, r)", "x = (x +\n  α*p)", "s = A(x)", "u = M(s)"]


def test_python_warns_of_nothing_while_one_types():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert parse("a = 1 if g > 0else 0")
    assert not seen


def test_block_lines():
    solve, product = parse("alpha = solve(delta, gamma)\nX = X + P@alpha")
    assert isinstance(solve, Solve)
    assert solve.reads == ("delta", "gamma")
    assert isinstance(product, Formula)
    assert product.reads == ("X", "P", "alpha")


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("x = y**2", 1, 5),
        ("\n    x = y\n    y = α + y**2", 3, 13),
        ("x = (y +\n     sqrt)", 2, 6),
        ("x = y\ns = A(2*x)", 2, 7),
        ("x = y\n  \ud800", 2, 3),
        ("x = y\nx = (y", 2, 5),
    ],
)
def test_a_refusal_knows_line_and_column(text, line, column):
    with pytest.raises(LinesError) as refusal:
        parse(text)
    assert (refusal.value.line, refusal.value.column) == (line, column)


def test_nodes_are_equal_wherever_they_stand():
    (first,), (_, second) = parse("x = x + a*y"), parse("z = y\nx = x + a*y")
    assert first == second
    assert hash(first) == hash(second)
    assert first.place != second.place


def test_the_text_of_an_expression_parses_into_it():
    (line,) = parse("x = -(a + 2*y)/sqrt(y) - (y if a <= 1e-3 else x@b)")
    assert isinstance(line, Formula)
    (again,) = parse(f"x = {line.expression}")
    assert isinstance(again, Formula)
    assert again.expression == line.expression


def test_a_sum_of_hundreds_of_terms_is_refused():
    (line,) = parse("x = " + " + ".join(["y"] * 200))
    assert str(line.expression)
    sentence = "has more than 200 levels of operations; put parts of it on lines of their own"
    for text in (" + ".join(["y"] * 201), " + ".join(["y"] * 1000), "-" * 500 + "y"):
        with pytest.raises(LinesError, match=rf"^line '.{{1,60}}' {sentence}$") as caught:
            parse(f"r = b\nx = {text}")
        assert (caught.value.line, caught.value.column) == (2, 5)
    for text in (" + ".join(["y"] * 100_000), "-" * 100_000 + "y"):
        with pytest.raises(LinesError, match=rf"^a formula {sentence}$"):
            parse(f"x = {text}")
