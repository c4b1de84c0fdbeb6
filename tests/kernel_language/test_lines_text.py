"""Passes of lines as functions of rows: their statements."""

from __future__ import annotations

from workbench.kernel_language.lines_text import LinesText
from workbench.lines.entries import elements, of_line, slot_of
from workbench.lines.parse import parse
from workbench.lines.schedule import plan
from workbench.lines.shapes import infer
from workbench.lines.types import VECTOR, Entry, block, small, tall_names


def texts(text, given, dtype, *, once=False, stored=(), split=()):
    """The assignments to variables in the text."""
    shapes = infer(parse(text), given)
    vectors = tall_names(shapes)
    (step,) = plan(parse(text), vectors, vectors, {})
    names = sorted(set(shapes) - vectors)
    lines = LinesText(shapes, {name: f"slots[{k}]" for k, name in enumerate(names)}, frozenset(stored), split)
    made = lines.before(step.scalars) if once else lines.row(step)
    return [line.strip() for line in made if line.strip().startswith(("v", "s0", "s1", "s_"))]


def test_a_vector_line():
    text, given = "x = x + 2*conj(y)/a", dict.fromkeys("xy", VECTOR)
    assert texts(text, given, "complex64")[-1] == "v_x = (v_x + ((narrow(2.0) * conj(v_y)) / c_a))"


def test_a_choice():
    text, given = "x = x if a <= 1 else -x", {"x": VECTOR}
    assert texts(text, given, "float32")[-1] == "v_x = (v_x if real(c_a) <= real(narrow(1.0)) else (-v_x))"


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


def test_a_vector_in_another_precision_is_converted_where_it_is_read():
    given = "x = 2*x", {"x": VECTOR}, "float64"
    assert texts(*given, stored=("x",)) == ["v_x = narrow(at(a_x, row))", "v_x = (narrow(2.0) * v_x)"]


def test_a_coarse_vector_is_added_where_a_vector_is_read():
    (loaded, _) = texts("x = 2*x", {"x": VECTOR}, "float64", split=("x",))
    assert loaded == "v_x = at(a_x, row) + narrow(at(rest_x, at(parts_x, row)))"


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
