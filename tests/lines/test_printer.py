"""Formulas entry by entry, and their text in both dialects."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.lines.entries import elements, of_line, of_lines, slot_of
from workbench.lines.parse import parse
from workbench.lines.printer import C, Numba, printed
from workbench.lines.shapes import infer
from workbench.lines.types import VECTOR, Entry, block, small


def texts(text, dialect, given):
    lines = parse(text)
    made = of_lines(lines, infer(lines, given))
    return [f"{printed(one.target, dialect)} = {printed(one.expression, dialect)}" for one in made]


NUMBA = Numba(np.dtype("float32"), "xyXY", "c")
FLOAT = C(np.dtype("complex64"), "T", "xyXY", "c")


def test_a_vector_line_in_both_dialects():
    text, given = "x = x + 2*conj(y)/a", dict.fromkeys("xy", VECTOR)
    assert texts(text, NUMBA, given) == ["v_x = (v_x + ((np.float32(2.0) * np.conj(v_y)) / c_a))"]
    assert texts(text, FLOAT, given) == ["v_x = T_ADD(v_x, T_DIV(T_MUL(T_OF(2.0f), T_CONJ(v_y)), c_a))"]


def test_a_choice_in_both_dialects():
    text, given = "x = x if a <= 1 else -x", {"x": VECTOR}
    assert texts(text, NUMBA, given) == [
        "v_x = (np.float32(v_x) if np.real(c_a) <= np.real(np.float32(1.0)) else np.float32((-v_x)))"
    ]
    assert texts(text, FLOAT, given) == ["v_x = (T_REAL(c_a) <= T_REAL(T_OF(1.0f)) ? v_x : T_NEG(v_x))"]


def test_a_product_with_a_small_matrix_entry_by_entry():
    given = {"X": block(2), "Y": block(2), "g": small(2, 2)}
    assert texts("X = Y@g", NUMBA, given) == [
        "v0x0_X = ((v0x0_Y * c0x0_g) + (v0x1_Y * c1x0_g))",
        "v0x1_X = ((v0x0_Y * c0x1_g) + (v0x1_Y * c1x1_g))",
    ]


def test_a_target_that_is_read_waits_until_all_its_entries_are_computed():
    given = {"X": block(2), "g": small(2, 2)}
    targets = [line.partition(" = ")[0] for line in texts("X = X@g", NUMBA, given)]
    assert targets == ["v1x0_X", "v1x1_X", "v0x0_X", "v0x1_X"]


def test_a_vector_scales_the_rows_of_a_block():
    given = {"x": VECTOR, "X": block(2), "Y": block(2)}
    assert texts("X = x*Y", NUMBA, given) == ["v0x0_X = (v_x * v0x0_Y)", "v0x1_X = (v_x * v0x1_Y)"]


def test_a_gram_matrix_is_a_sum_per_entry_and_lies_row_by_row():
    (dot,) = lines = parse("g = (X, Y)")
    shapes = infer(lines, {"X": block(2), "Y": block(3)})
    made = of_line(dot, shapes)
    assert [(one.left.column, one.right.column) for one in made] == [(j, k) for j in range(2) for k in range(3)]
    assert [slot_of(one.target, {"g": 70}, shapes) for one in made] == list(range(70, 76))
    assert elements("g", shapes)[-1] == Entry("g", 1, 2)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_numba_divides_complex_numbers_by_numpy(dtype):
    dialect = Numba(np.dtype(dtype), "xy", "c")
    assert texts("x = x/y", dialect, dict.fromkeys("xy", VECTOR)) == ["v_x = np.true_divide(v_x, v_y)"]
