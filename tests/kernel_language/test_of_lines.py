"""Passes of lines as functions of rows for the cores, and as trees: their statements in both texts."""

from __future__ import annotations

import numpy as np

from workbench.kernel_language.c_text import statements
from workbench.kernel_language.lines_text import LinesText
from workbench.kernel_language.of_lines import LineTrees
from workbench.kernel_language.tree import INTEGER, Constant, Type
from workbench.lines.entries import elements, of_line, slot_of
from workbench.lines.parse import parse
from workbench.lines.schedule import plan
from workbench.lines.shapes import infer
from workbench.lines.types import VECTOR, Entry, accumulator, block, small, tall_names


def texts(text, given, dtype, *, c=False, once=False, stored=None):
    """The assignments to variables in the text for the cores, or in C."""
    shapes = infer(parse(text), given)
    vectors = tall_names(shapes)
    (step,) = plan(parse(text), vectors, vectors, {})
    names, vector = sorted(set(shapes) - vectors), np.dtype(dtype)
    if c:
        places = {name: Constant(k, Type(INTEGER)) for k, name in enumerate(names)}
        of = LineTrees(shapes, places, vector, accumulator(vector), stored).rows(step)
        lines = statements(of, of.body, 0)
    else:
        text = LinesText(shapes, {name: k for k, name in enumerate(names)}, frozenset(stored or ()))
        lines = text.before(step.scalars) if once else text.row(step)
    return [line.strip().removesuffix(";") for line in lines if line.strip().startswith(("v", "s0", "s1", "s_"))]


def test_a_vector_line_in_both_texts():
    text, given = "x = x + 2*conj(y)/a", dict.fromkeys("xy", VECTOR)
    assert texts(text, given, "complex64")[-1] == "v_x = (v_x + ((narrow(2.0) * conj(v_y)) / c_a))"
    assert texts(text, given, "complex64", c=True)[-1] == (
        "v_x = T_ADD(v_x, T_DIV(T_MUL(T_OF(2.0f), T_CONJ(v_y)), c_a))"
    )


def test_a_choice_in_both_texts():
    text, given = "x = x if a <= 1 else -x", {"x": VECTOR}
    assert texts(text, given, "float32")[-1] == "v_x = (v_x if real(c_a) <= real(narrow(1.0)) else (-v_x))"
    assert texts(text, given, "complex64", c=True)[-1] == (
        "v_x = ((T_REAL(c_a) <= T_REAL(T_OF(1.0f))) ? v_x : T_NEG(v_x))"
    )


def test_a_product_with_a_small_matrix_entry_by_entry():
    given = {"X": block(2), "Y": block(2), "g": small(2, 2)}
    assert texts("X = Y@g", given, "float32")[-2:] == [
        "v0x0_X = ((v0x0_Y * c0x0_g) + (v0x1_Y * c1x0_g))",
        "v0x1_X = ((v0x0_Y * c0x1_g) + (v0x1_Y * c1x1_g))",
    ]


def test_a_target_that_is_read_waits_until_all_its_entries_are_computed():
    given = {"X": block(2), "g": small(2, 2)}
    targets = [line.partition(" = ")[0] for line in texts("X = X@g", given, "float32")]
    assert targets == ["v0x0_X", "v0x1_X", "v1x0_X", "v1x1_X", "v0x0_X", "v0x1_X"]


def test_a_vector_scales_the_rows_of_a_block():
    given = {"x": VECTOR, "X": block(2), "Y": block(2)}
    assert texts("X = x*Y", given, "float32") == [
        "v_x = at(a_x, row)",
        "v0x0_Y = at(a_Y, row*2 + 0)",
        "v0x1_Y = at(a_Y, row*2 + 1)",
        "v0x0_X = (v_x * v0x0_Y)",
        "v0x1_X = (v_x * v0x1_Y)",
    ]


def test_a_vector_in_another_precision_is_converted_where_it_is_read_and_stored():
    given = "x = 2*x", {"x": VECTOR}, "float64"
    stored = {"x": np.dtype("float32")}
    assert texts(*given, c=True, stored=stored) == ["v_x = ((T)(a_x[row]))", "v_x = (2.0 * v_x)"]
    assert texts(*given, stored=stored) == ["v_x = narrow(at(a_x, row))", "v_x = (narrow(2.0) * v_x)"]


def test_scalar_lines_read_what_a_solution_has_set():
    given = {"g": small(2, 2), "h": small(2, 1), "x": VECTOR}
    lines = texts(
        "a = solve(g, h)\nb = a + a\na = solve(g, b)\nc = a",
        given | {"a = solve(g)": small(2, 2)},
        "float64",
        once=True,
    )
    assert [line.partition(" = ")[2] for line in lines if line.startswith("s0x0_a")] == ["scalars[slots[0]]"] * 2


def test_a_gram_matrix_is_a_sum_per_entry_and_lies_row_by_row():
    (dot,) = lines = parse("g = (X, Y)")
    shapes = infer(lines, {"X": block(2), "Y": block(3)})
    made = of_line(dot, shapes)
    assert [(one.left.column, one.right.column) for one in made] == [(j, k) for j in range(2) for k in range(3)]
    assert [slot_of(one.target, {"g": 70}, shapes) for one in made] == list(range(70, 76))
    assert elements("g", shapes)[-1] == Entry("g", 1, 2)
