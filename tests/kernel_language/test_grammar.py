"""What the kernel language refuses, with the line."""

from __future__ import annotations

import ast
import re

import numpy as np
import pytest

from tests.kernel_language.defining import function
from workbench.kernel_language import KernelError, helper, kernel, typed


def refused(line, *, why="", quoted=None):
    """The kernel with this line is refused when it is defined, in a sentence with the line."""
    text = f"def one(row, x, y, starts, c):\n    value = 0\n    {line}\n    y[row] = value\n"
    quoted = quoted or ast.unparse(ast.parse(line)).splitlines()[0]
    with pytest.raises(KernelError, match=f"kernel one: .*{re.escape(why)}.*{re.escape(quoted)}"):
        kernel()(function(text))


@pytest.mark.parametrize(
    "line",
    [
        "value, y[row] = 1, 2",
        "value = other = 1",
        "x[row]",
        "pass",
        "with x: value = 1",
        "import numpy",
        "del value",
        "assert value",
    ],
)
def test_statements(line):
    refused(line)


@pytest.mark.parametrize(
    "expression",
    [
        "x[row:]",
        "x[row, 0]",
        "x.size",
        "'text'",
        "1j",
        "None",
        "[x[row]]",
        "(x[row], 1)",
        "lambda: 1",
        "x[row] ** 2",
        "x[row] @ 2",
        "~row",
        "+row",
        "0 < row < 2",
        "row is value",
        "conj(x[row], 1)",
        "min(1)",
        "abs(x=1)",
        "np.abs(x[row])",
    ],
)
def test_expressions(expression):
    refused(f"value = {expression}", quoted={"x[row:]": "row:", "x[row, 0]": "(row, 0)"}.get(expression, expression))


@pytest.mark.parametrize("head", ["for k in x:", "for k in zip(x, y):", "for k in range():", "for k, j in range(2):"])
def test_loops(head):
    refused(f"{head}\n        value += 1")


def test_else_of_loops():
    for head in ("while row < 0:", "for k in range(3):"):
        refused(f"{head}\n        value += 1\n    else:\n        value = 2", quoted=head)


@pytest.mark.parametrize("word", ["break", "continue"])
def test_leaving_an_unrolled_loop(word):
    refused(f"for k in unrolled(3):\n        if row > k:\n            {word}", why="is unrolled", quoted=word)


@pytest.mark.parametrize("name", ["value_", "_value", "Value", "T", "W_ADD", "rows_", "chunk_", "sum_0_"])
def test_names_that_a_wrapper_may_use(name):
    refused(f"{name} = 1", why="is not in lower case, or ends with an underscore")


@pytest.mark.parametrize(
    "name", ["taken", "total", "at", "double", "half", "template", "restrict", "np", "range", "conj"]
)
def test_words_of_the_printed_texts(name):
    refused(f"{name} = 1", why="is a word of the printed texts")
    refused(f"for {name} in range(2):\n        value += 1", why="is a word of the printed texts")
    with pytest.raises(KernelError, match=name):
        kernel()(function(f"def one(row, {name}):\n    {name}[row] = 1\n"))


def test_parameters_are_not_assigned():
    refused("c = 1", why="is a parameter")
    refused("row += 1", why="is a parameter")


@pytest.mark.parametrize("head", ["one(row, *x)", "one(row, **x)", "one(row, x=1)", "one(row, x, /)", "one()"])
def test_heads(head):
    with pytest.raises(KernelError, match="parameters are"):
        kernel()(function(f"def {head}:\n    value = 1\n"))


@pytest.mark.parametrize(
    ("options", "last"),
    [
        ({}, "return x[row]"),
        ({"sums": 1}, "y[row] = 1"),
        ({"sums": 1}, "return x[row], 1"),
        ({"dots": True}, "return 1"),
    ],
)
def test_what_is_returned(options, last):
    with pytest.raises(KernelError, match="values are summed"):
        kernel(**options)(function(f"def one(row, x, y):\n    y[row] = 0\n    {last}\n"))


def test_an_early_return():
    refused("if row > 0:\n        return x[row]", why="only the last line", quoted="return x[row]")


@pytest.mark.parametrize("body", ["x = a\n    return x", "y[0] = a", "return", "return a ** 2"])
def test_helpers(body):
    with pytest.raises(KernelError, match="kernel one"):
        helper(function(f"def one(a, y):\n    {body}\n"))


DTYPES = {
    "x": "float32",
    "y": "float32",
    "z": "complex64",
    "k": "int32",
    "steps_0": "int64",
    "steps_1": "int64",
    "c": float,
}


def refused_types(*lines, why, columns=1):
    """The kernel is defined, and refused when its types are known."""
    text = "def one(row, x, y, z, k, steps, c, *, s=2):\n" + "".join(f"    {line}\n" for line in lines)
    made = kernel()(function(text))
    blocks = {"x": columns, "y": columns}
    with pytest.raises(KernelError, match=re.escape(why)):
        typed(made, DTYPES, "float32", "float64", numbered={"steps": 2}, blocks=blocks)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("y[row] = z[row]", "complex64 does not become float32 by itself: y[row] = z[row]"),
        ("k[row] = x[row]", "float32 does not become int32 by itself"),
        ("k[row] = 0.5", "0.5 does not become an integer"),
        ("y[row] = row/2", "/ is for fractions"),
        ("y[row] = x[row]//2", "// is for integers"),
        ("y[row] = x[row] & 1", "& is for integers"),
        ("y[x[row]] = 1", "an integer is needed: x[row]"),
        ("y[row] = (row > 1) + 1", "a test is no number"),
        ("y[row] = -(row > 1)", "a test is no number"),
        ("y[row] = row > 1", "a test and a number do not mix"),
        ("y[row] = 1 if x[row] else 2", "a fraction is no test"),
        ("y[row] = value", "value is neither a variable nor an argument"),
        ("y[row] = unknown(x[row])", "no such function"),
        ("y[row] = min(z[row], 1)", "no such function of these numbers"),
        ("y[row] = sqrt(row)", "sqrt is for fractions"),
        ("y[row] = steps[2]", "numbered from 0 to 1"),
        ("y[row] = steps[row]", "numbered from 0 to 1"),
        ("y[row] = 1 // (s - 2)", "zero"),
        ("y[row] = row[0]", "row is no array"),
    ],
)
def test_types(line, why):
    refused_types(line, why=why)


def test_the_count_of_an_unrolled_loop():
    refused_types("for j in unrolled(row):", "    y[row] = j", why="is not a constant")


def test_loops_and_their_variables():
    refused_types("for j in range(0, 9, -1):", "    y[row] = j", why="the step of a loop is positive")
    refused_types("j = 1", "for j in range(3):", "    y[row] = j", why="j is a variable already")
    refused_types("for j in range(3):", "    j = 4", why="j counts a loop")
    refused_types("for j in range(3):", "    y[row] = j", "y[row] = j", why="may be read before it is assigned")


@pytest.mark.parametrize(
    "lines",
    [
        ("if row > 0:", "    v = 1", "y[row] = v"),
        ("for j in range(k[row]):", "    v = 1", "y[row] = v"),
        ("while row < 0:", "    v = 1", "y[row] = v"),
        ("y[row] = v", "v = 1"),
    ],
)
def test_a_variable_that_may_have_no_value(lines):
    refused_types(*lines, why="may be read before it is assigned" if lines[0] != "y[row] = v" else "neither a variable")


@pytest.mark.parametrize(
    "line",
    ["y[row] = x[row]/2", "y[row] = abs(x[row])", "y[row] = x[row] if row > 1 else 0", "y[row] = wide(x[row])"],
)
def test_rows_of_block_vectors(line):
    refused_types(line, why="kernel one", columns=3)


def test_a_helper_with_an_argument_that_is_not_always_evaluated():
    twice = helper(function("def twice(a):\n    return a + a\n"))
    text = "def one(row, x, y):\n    y[row] = twice(x[row - 1]) if row > 0 else 0\n"
    made = kernel()(function(text, twice=twice))
    with pytest.raises(KernelError, match=re.escape("x[row - 1] must be assigned to a variable before")):
        typed(made, {"x": np.float64, "y": np.float64}, np.float64, np.float64)
