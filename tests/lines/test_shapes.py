"""The shapes of names, and the sentence for each way in which names, shapes and dtypes do not fit together."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.devices.cpu import Cpu
from workbench.devices.element_wise import ElementWise
from workbench.devices.operator_protocols import OperatorTraits
from workbench.lines.parse import parse
from workbench.lines.shapes import check, infer, infer_vectors
from workbench.lines.types import SCALAR, VECTOR, LinesError, block, small

CPU = Cpu()


class Doubling(OperatorTraits):
    """An operator of the host."""

    traffic = flops = 0

    def apply(self, x, out, *_):
        out[:] = 2 * x
        return np.array([np.vdot(x, out), np.vdot(out, out), np.vdot(x, x)])


def refusal(text, operators=None, **values):
    with pytest.raises(LinesError) as caught:
        CPU.lines(text, operators=operators)(**values)
    return str(caught.value)


def vector(size=4, dtype=np.float64):
    return np.arange(1, size + 1).astype(dtype)


def inferred(text, given=()):
    return infer_vectors(parse(text), given)


def test_vectors_are_those_given_and_what_is_made_of_them():
    assert inferred("y = a*x\nb = 2*a\nz = y + b", ["x"]) == {"x", "y", "z"}


def test_operands_of_dot_products_and_operators_are_vectors():
    assert inferred("g = (x, y)\ns = A(p)\nh = g*g") == {"x", "y", "s", "p"}


def test_a_name_made_of_a_vector_only_later_is_a_vector_everywhere():
    assert inferred("t = 0\nt = t + x\nu = t", ["x"]) == {"t", "x", "u"}


def test_an_unknown_name_suggests_the_nearest():
    assert refusal("x = x + alhpa*p", x=vector(), p=vector(), alpha=2.0) == (
        "alpha was given but no line uses it: unknown name 'alpha'; did you mean alhpa?"
    )
    assert refusal("x = x + alpha*p", x=vector(), p=vector()) == (
        "line 'x = x + alpha*p': unknown name 'alpha'; known: p, x"
    )
    assert refusal("beta = 2\nx = x + bata*x", x=vector()) == (
        "line 'x = x + bata*x': unknown name 'bata'; did you mean beta?"
    )


def test_a_name_is_known_only_after_the_line_that_sets_it():
    for text, line, name in (("x = x + t\nt = 2*x\nx = t", "x = x + t", "t"), ("x = g*x\ng = (x, x)", "x = g*x", "g")):
        sentence = f"line {line!r} reads {name} before any line has set it; set it in a line above"
        assert refusal(text, x=vector()) == sentence


def test_an_unknown_operator_suggests_the_nearest():
    assert refusal("s = AA(x)\nx = s", operators={"A": Doubling()}, x=vector()) == (
        "line 's = AA(x)': unknown operator 'AA'; did you mean A?"
    )
    assert refusal("s = A(x)\nx = s", x=vector()) == "line 's = A(x)': unknown operator 'A'; known: none"


def test_a_name_given_but_not_used_is_refused():
    assert refusal("x = 2*x", x=vector(), q=1.0) == "q was given but no line uses it: unknown name 'q'; known: x"


def test_a_vector_cannot_become_a_scalar():
    assert refusal("alpha = 2*x", x=vector(), alpha=1.0) == (
        "line 'alpha = 2*x' assigns a vector to the scalar alpha; a dot product is written alpha = (a, b)"
    )


def test_a_vector_cannot_become_a_scalar_through_a_chain():
    assert refusal("t = 2*x\nalpha = t", x=vector(), alpha=1.0) == (
        "line 'alpha = t' assigns a vector to the scalar alpha; a dot product is written alpha = (a, b)"
    )


def test_a_dot_product_cannot_land_in_a_vector():
    assert refusal("x = (x, x)", x=vector()) == ("line 'x = (x, x)' assigns a dot product, a scalar, to the vector x")


def test_a_number_cannot_stand_in_a_dot_product_or_under_an_operator():
    assert refusal("g = (x, a)", x=vector(), a=2.0) == (
        "line 'g = (x, a)' needs the vector a, but a was given as a number"
    )
    assert refusal("x = A(a)", operators={"A": Doubling()}, x=vector(), a=2.0) == (
        "line 'x = A(a)' needs the vector a, but a was given as a number"
    )


def test_shapes_must_be_equal():
    assert refusal("x = x + y", x=vector(4), y=vector(5)) == (
        "vector y has shape (5,), the others (4,); all must be equal"
    )
    assert refusal("x = 2*x", x=np.ones((2, 3, 1))) == (
        "vector x has shape (2, 3, 1), the others (2,); all must be equal"
    )


def test_dtypes_must_be_equal():
    assert refusal("x = x + y", x=vector(), y=vector(dtype=np.float32)) == (
        "vector y has dtype float32, the others float64; all must be equal"
    )


def test_shapes_and_dtypes_are_checked_on_later_calls_too():
    update = CPU.lines("x = x + y")
    update(x=vector(4), y=vector(4))
    with pytest.raises(LinesError, match=r"vector y has shape \(5,\), the others \(4,\)"):
        update(x=vector(4), y=vector(5))
    with pytest.raises(LinesError, match="vector y has dtype complex128, the others float64"):
        update(x=vector(4), y=vector(4, complex))


@pytest.mark.parametrize("dtype", [np.int64, np.bool_, np.float16, np.longdouble])
def test_only_the_four_floating_dtypes_are_computed_in(dtype):
    assert refusal("x = x*a", x=vector(dtype=dtype), a=0.5).startswith(
        f"vectors of dtype {np.dtype(dtype)} cannot be used; convert them to one of"
    )


def test_a_vector_that_is_written_may_overlap_no_other():
    x = vector(8)
    assert refusal("x = x + y", x=x, y=x) == "x is written and shares memory with y; pass a copy of one"
    assert refusal("x = x + y", x=x[:6], y=x[2:]) == "x is written and shares memory with y; pass a copy of one"
    assert refusal("x = x + y", x=x, y=x[::-1]) == "x is written and shares memory with y; pass a copy of one"


def test_overlap_is_checked_on_later_calls_too():
    update = CPU.lines("x = x + y")
    x = vector()
    update(x=x, y=vector())
    with pytest.raises(LinesError, match="x is written and shares memory with y"):
        update(x=x, y=x)


def test_vectors_that_are_only_read_may_overlap():
    x = vector(8)
    z = np.zeros(6)
    CPU.lines("z = x + y")(x=x[:6], y=x[2:], z=z)
    np.testing.assert_array_equal(z, x[:6] + x[2:])


def test_a_read_only_array_may_be_read_but_not_written():
    x, z = vector(), vector()
    x.setflags(write=False)
    CPU.lines("z = 2*x")(x=x, z=z)
    np.testing.assert_array_equal(z, 2 * x)
    assert refusal("x = 2*x", x=x) == "x is written, but the array is read-only; pass a copy"


def test_a_result_that_nobody_reads_is_refused():
    assert refusal("x = 2*x\nt = x + 1", x=vector()) == (
        "line 't = x + 1' sets t, which no line reads; give it as an array to keep it"
    )
    assert refusal("s = A(x)", operators={"A": Doubling()}, x=vector()) == (
        "line 's = A(x)' sets s, which no line reads; give it as an array to keep it"
    )


def test_a_program_without_a_vector_is_refused():
    assert refusal("a = 2*b", b=1.0) == (
        "no vector was given; pass the arrays of the program by name, as in update(x=x, p=p)"
    )


@pytest.mark.parametrize(("value", "kind"), [([1.0, 2.0], "list"), ("3", "str"), (None, "NoneType")])
def test_what_is_neither_array_nor_number_is_refused(value, kind):
    assert refusal("x = a*x", x=vector(), a=value) == f"a is a {kind}, neither an array nor a number"


def test_a_complex_number_among_real_vectors_is_refused():
    assert refusal("x = a*x", x=vector(), a=2j) == (
        "a is the complex number 2j, but the vectors are float64; make them complex"
    )


@pytest.mark.parametrize("number", [3, 3.0, np.float32(3), np.int8(3), np.array(3.0), True])
def test_numbers_of_all_kinds_are_accepted(number):
    x = vector()
    CPU.lines("x = a*x")(x=x, a=number)
    np.testing.assert_array_equal(x, float(number) * vector())


def test_a_program_may_have_many_scalars():
    many = {f"a{k}": float(k) for k in range(200)}
    doubled = [f"b{k} = 2*a{k}" for k in range(200)]
    text = "\n".join([*doubled, "s = " + " + ".join(f"b{k}" for k in range(200)), "x = s*x"])
    x = np.ones(4)
    CPU.lines(text)(x=x, **many)
    np.testing.assert_array_equal(x, np.full(4, 2.0 * 199 * 100))


def test_a_workspace_knows_the_scalars_of_earlier_programs():
    space = CPU.workspace(4, np.dtype(float), vectors={"x": vector()})
    (first,) = space.lines("g = (x, x)")
    (second,) = space.lines("x = g*x")
    first()
    second()
    np.testing.assert_array_equal(space.vector("x"), 30 * vector())
    with pytest.raises(LinesError, match="assigns a vector to the scalar g"):
        space.lines("g = 2*x")


def test_factors_of_an_element_wise_operator_are_checked_like_vectors():
    short = ElementWise("d*v", {"d": vector(3)})
    assert refusal("x = M(y)", operators={"M": short}, x=vector(), y=vector()) == (
        "vector M_d has shape (3,), the others (4,); all must be equal"
    )


def test_the_names_of_factors_are_reserved():
    scaling = ElementWise("d*v", {"d": vector()})
    assert refusal("x = M(M_d)", operators={"M": scaling}, x=vector(), M_d=vector()) == (
        "the name M_d belongs to operator M; rename the vector"
    )


def test_an_element_wise_operator_may_use_the_functions_of_the_language():
    root = ElementWise("v/sqrt(d)", {"d": vector() ** 2})
    x = np.zeros(4)
    CPU.lines("x = M(y)", operators={"M": root})(x=x, y=vector())
    np.testing.assert_allclose(x, 1, rtol=1e-15)


BLOCK_CG = """
    S = A(P)
    delta = (P, S)
    alpha = solve(delta, gamma)
    X = X + P@alpha
    R = R - S@alpha
    U = M(R)
    previous = gamma
    gamma = (R, U)
    beta = solve(previous, gamma)
    P = U + P@beta
"""


def test_one_text_has_the_shapes_of_its_arrays():
    shapes = infer(parse(BLOCK_CG), {name: block(3) for name in "XPR"})
    assert {name for name, shape in shapes.items() if shape == block(3)} == set("XPRSU")
    assert {shapes[name] for name in ("alpha", "beta", "gamma", "delta", "previous")} == {small(3, 3)}
    shapes = infer(parse(BLOCK_CG), "XPR")
    assert {shapes[name] for name in "XPRSU"} == {VECTOR}
    assert {shapes[name] for name in ("alpha", "beta", "gamma", "delta", "previous")} == {SCALAR}


def test_blocks_of_two_widths_meet_in_a_small_matrix():
    shapes = infer(parse("g = (X, Y)\nZ = X@g"), {"X": block(2), "Y": block(5)})
    assert shapes["g"] == small(2, 5)
    assert shapes["Z"] == block(5)


@pytest.mark.parametrize(
    ("text", "column", "sentence"),
    [
        ("Z = X + Y", 5, "combines an N x 2 block vector with an N x 3 block vector element by element"),
        ("Z = X@g", 5, "multiplies an N x 2 block vector by a 3 x 3 matrix"),
        ("Z = X + x@g", 9, "multiplies a vector by a 3 x 3 matrix"),
        ("h = solve(g, k)", 1, "solves with a 3 x 3 matrix for a 2 x 2 matrix"),
        ("h = (X, x)", 1, "has the operands an N x 2 block vector and a vector"),
        ("x = X + x", 1, "assigns an N x 2 block vector to x, a vector; rename it"),
        ("h = g + k", 5, "combines a 3 x 3 matrix with a 2 x 2 matrix"),
    ],
)
def test_shapes_that_do_not_fit_are_refused_with_their_place(text, column, sentence):
    given = {"X": block(2), "Y": block(3), "x": VECTOR, "g": small(3, 3), "k": small(2, 2)}
    lines = parse(f"Y = 2*Y\n{text}")
    with pytest.raises(LinesError) as refusal:
        check([lines], infer(lines, given), given, ())
    assert sentence in str(refusal.value)
    assert (refusal.value.line, refusal.value.column) == (2, column)
