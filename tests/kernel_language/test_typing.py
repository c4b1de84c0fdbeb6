"""Types, folding and counts of typed kernels, and the texts in which they can be seen."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.kernel_language import helper, kernel, typed
from workbench.kernel_language.c_text import c_text
from workbench.kernel_language.count import flops

# A kernel is read, never run: its words are those of the language.
conj = inside = unrolled = wide = None
TWO = 2


@helper
def squared(number):
    return number * number


@kernel(dots=True)
def product(row, data, indices, starts, x, y):
    """y = A x."""
    value = 0
    for j in range(starts[row], starts[row + 1]):
        value += data[j] * x[indices[j]]
    y[row] = value
    return x[row], value


@kernel(halo="steps[bands - 1]")
def banded(row, lower, steps, x, y, *, bands, scaled=False):
    value = TWO * x[row]
    for k in unrolled(bands):
        if inside(row - steps[k]):
            value += lower[k][row] * x[row - steps[k]]
    if scaled:
        value *= 0.5
    y[row] = value


def types(made):
    return {name: str(kind.dtype) for name, kind in made.variables.items()}


def typed_product(dtype, wide, **more):
    dtypes = dict.fromkeys(("data", "x", "y"), dtype) | {"indices": "int32", "starts": "uint32"}
    return typed(product, dtypes, dtype, wide, **more)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_a_literal_takes_the_type_of_what_is_added_to_it(dtype):
    made = typed_product(dtype, np.result_type(dtype, float))
    assert types(made) == {"value": dtype}


def test_integers_are_widened_where_they_are_read():
    c = c_text(typed_product("float32", "float64"), spread=True)
    assert "GLOBAL const int* RESTRICT indices, GLOBAL const unsigned int* RESTRICT starts" in c
    assert "x[((I64)(indices[j]))]" in c


def test_terms_of_sums_are_converted():
    made = typed_product("complex64", "complex128")
    assert "const W left_ = W_OF_T(x[row]), right_ = W_OF_T(value);" in c_text(made, spread=False)


def test_sums_may_be_left_out():
    made = typed_product("float64", "float64", summed=False)
    assert made.sums == 0
    assert "room" not in c_text(made, spread=False)


def dtypes_of_bands(bands):
    arrays = dict.fromkeys(("x", "y", *(f"lower_{k}" for k in range(bands))), "float32")
    return arrays | {f"steps_{k}": "int64" for k in range(bands)}


def test_constants_fold_branches_and_loops():
    plain = typed(
        banded, dtypes_of_bands(2), "float32", "float64", constants={"bands": 2}, numbered={"lower": 2, "steps": 2}
    )
    assert list(plain.arguments) == ["lower_0", "lower_1", "steps_0", "steps_1", "x", "y"]
    text = c_text(plain, spread=True)
    assert "halo_ = steps_1" in text
    assert "(2.0f * x[row])" in text
    assert "0.5" not in text
    _, inner, *ends = text.split("FOR_EACH_IN")
    assert "if" not in inner
    assert [end.count("if ((row >= steps_") for end in ends] == [2, 2]
    assert flops(plain, lambda _: 1) == 5


def test_a_constant_may_decide_an_argument_away():
    @kernel()
    def one(row, x, y, scale, *, scaled=False):
        y[row] = x[row] * scale[row] if scaled else x[row]

    dtypes = dict.fromkeys(("x", "y", "scale"), "float64")
    assert list(typed(one, dtypes, "float64", "float64").arguments) == ["x", "y"]
    assert list(typed(one, dtypes, "float64", "float64", constants={"scaled": True}).arguments) == ["x", "y", "scale"]


def test_an_argument_of_a_helper_is_evaluated_once():
    @kernel()
    def one(row, x, y):
        y[row] = squared(x[row] + 1)

    text = c_text(typed(one, {"x": "float32", "y": "float32"}, "float32", "float64"), spread=True)
    assert text.count("x[row]") == 1
    assert "number_1_ = (x[row] + 1.0f)" in text


def test_a_variable_has_the_type_in_which_all_that_is_assigned_meets():
    @kernel()
    def one(row, x, z, y, k):
        value = k[row]
        value += 0.5
        value += x[row]
        other = 3
        other = value if row > 3 else wide(z[row])
        third = 2 / (1 + abs(row - 1) * 0.5)
        y[row] = other + third

    dtypes = {"x": "float32", "z": "complex64", "y": "complex128", "k": "int16"}
    made = typed(one, dtypes, "complex64", "complex128")
    assert types(made) == {"value": "float32", "other": "complex128", "third": "float32"}


def test_a_real_factor_of_a_complex_number_stays_real():
    @kernel()
    def one(row, d, x, y):
        y[row] = x[row] * d[row] + 2 * x[row]

    made = typed(one, {"d": "float32", "x": "complex64", "y": "complex64"}, "complex64", "complex128")
    assert "T_ADD(T_SCALE(d[row], x[row]), T_SCALE(2.0f, x[row]))" in c_text(made, spread=True)
    assert flops(made, lambda _: 1) == 6


def test_rows_of_block_vectors():
    dtypes = dict.fromkeys(("data", "x", "y"), "float64") | {"indices": "int32", "starts": "int32"}
    blocks = {"x": 6, "y": 6}
    made = typed(product, dtypes, "float64", "float64", blocks=blocks, summed=False)
    assert flops(made, lambda _: 7) == 2 * 6 * 7
    assert "COLUMNS value[k_] = (value[k_] + (data[j] * x[((I64)(indices[j]))*6 + k_]));" in c_text(made, spread=False)
    single = typed(product, dtypes, "float64", "float64", blocks={"x": 1, "y": 1}, summed=False)
    plain = typed(product, dtypes, "float64", "float64", summed=False)
    assert c_text(single, spread=False) == c_text(plain, spread=False)
