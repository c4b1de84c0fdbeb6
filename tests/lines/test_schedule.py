"""How many passes a program makes, what each loads and stores, and its bytes and flops, all counted by hand.

A device that only keeps the plan stands in for the CPU, so nothing is compiled here.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.devices.element_wise import ElementWise
from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.programs import Workspace
from workbench.devices.programs.on_cores import StepByStep
from workbench.lines.schedule import Apply, Pass
from workbench.lines.types import Dot

N = 10
# The loop of preconditioned CG (Saad 2003, Algorithm 9.1) with the update of x put off until that of p.
START = """
    s = A(x)
    r = b - s
    u = M(r)
    gamma = (r, u)
    p = u
"""
ITERATE = """
    s = A(p)
    delta = (p, s)
    alpha = gamma/delta if delta > 0 else 0
    previous = gamma
    r = r - alpha*s
    u = M(r)
    gamma = (r, u)
    uu = (u, u)
    rr = (r, r)
    beta = gamma/previous
    x = x + alpha*p
    p = u + beta*p
"""


class Paper(StepByStep):
    """A device on which nothing runs."""

    def scalars(self, count, dtype):
        return np.zeros(count, dtype)

    def to_host(self, vector):
        return vector

    def write_scalar(self, scalars, slot, value):
        scalars[slot] = value

    def zeros(self, size, dtype):
        return np.zeros(size, dtype)

    def settle(self):
        pass

    def compile_pass(self, step, shapes, slots, dtype, stored):
        return None

    def bind_pass(self, kernel, step, arrays, scalars):
        return lambda: None


def operator(fused_dots=("xy", "yy", "xx"), traffic=1000, flops=100):
    return SimpleNamespace(apply=None, fused_dots=fused_dots, traffic=traffic, flops=flops)


def scaling(formula="d*v", *factors):
    return ElementWise(formula, {name: np.ones(N) for name in factors or ("d",)})


def programs(*texts, vectors="x", scalars="", fuse=True, dtype=float, **operators):
    space = Workspace(
        Paper(),
        N,
        np.dtype(dtype),
        vectors={name: np.zeros(N, dtype) for name in vectors.split()},
        operators=operators,
        scalars=scalars.split(),
        fuse=fuse,
    )
    return space.lines(*texts)


def steps(text, **given):
    (program,) = programs(text, **given)
    return program.steps


def seen(step):
    """What a step does, for comparison: names only, order of loads and stores left out."""
    if isinstance(step, Apply):
        return (step.operator, step.argument, step.target, dict(step.dots))
    return (
        [line.target for line in step.scalars],
        [line.target for line in step.body],
        set(step.loads),
        set(step.stores),
    )


def test_cg_with_an_element_wise_preconditioner_makes_three_passes():
    _, iterate = programs(START, ITERATE, vectors="b x", A=operator(), M=scaling())
    assert iterate.passes == 3
    product, residual, direction = iterate.steps
    assert seen(product) == ("A", "p", "s", {"delta": "xy"})
    assert seen(residual) == (
        ["alpha", "previous"],
        ["r", "u", "gamma", "uu", "rr"],
        {"r", "s", "M_d"},
        {"r"},
    )
    # u is computed again from r, never stored: one load of d more is less than a store and a load of u.
    assert seen(direction) == (["beta"], ["u", "x", "p"], {"r", "M_d", "x", "p"}, {"x", "p"})


def test_an_operator_sets_a_scalar_once():
    made = steps("s = A(x)\ng = (x, s)\ng = (s, s)\na = 1/g\nx = a*s", A=operator())
    assert [seen(step) for step in made[:2]] == [("A", "x", "s", {"g": "xy"}), ([], ["g"], {"s"}, set())]


def test_cg_without_a_preconditioner_reads_the_residual_twice_and_nothing_else():
    _, iterate = programs(START, ITERATE, vectors="b x", A=operator(), M=ElementWise("v", {}))
    assert [seen(step) for step in iterate.steps[1:]] == [
        (["alpha", "previous"], ["r", "u", "gamma", "uu", "rr"], {"r", "s"}, {"r"}),
        (["beta"], ["u", "x", "p"], {"r", "x", "p"}, {"x", "p"}),
    ]


def test_cg_with_a_general_preconditioner_stores_u():
    _, iterate = programs(START, ITERATE, vectors="b x", A=operator(), M=operator())
    assert [seen(step) for step in iterate.steps] == [
        ("A", "p", "s", {"delta": "xy"}),
        (["alpha", "previous"], ["r"], {"r", "s"}, {"r"}),
        ("M", "r", "u", {"gamma": "xy", "uu": "yy", "rr": "xx"}),
        (["beta"], ["x", "p"], {"x", "p", "u"}, {"x", "p"}),
    ]


def test_a_vector_that_an_operator_needs_is_stored_and_read_rather_than_computed_again():
    # u is stored for A, so reading it beats reading r and M_d; v, which costs no further read, is computed again.
    text = "r = r - a*s\nu = M(r)\ng = (r, u)\ns = A(u)\np = u + g*p + g*s"
    (program,) = programs(text, vectors="r s p", scalars="a", A=operator(), M=scaling())
    assert seen(program.steps[-1]) == ([], ["p"], {"p", "u", "s"}, {"p"})
    text = "v = 2*r\ng = (v, v)\ns = A(v)\np = v + g*p + g*s + g*r"
    (program,) = programs(text, vectors="r s p", A=operator())
    assert seen(program.steps[-1]) == ([], ["v", "p"], {"p", "r", "s"}, {"p"})


def test_the_start_of_cg_stores_what_the_iteration_reads():
    start, _ = programs(START, ITERATE, vectors="b x", A=operator(), M=scaling())
    product, rest = start.steps
    assert seen(product) == ("A", "x", "s", {})
    assert seen(rest) == ([], ["r", "u", "gamma", "p"], {"b", "s", "M_d"}, {"r", "p"})


def test_cg_line_by_line_stores_everything():
    _, iterate = programs(START, ITERATE, vectors="b x", A=operator(), M=scaling(), fuse=False)
    assert iterate.passes == 9
    assert [seen(step) for step in iterate.steps] == [
        ("A", "p", "s", {}),
        ([], ["delta"], {"p", "s"}, set()),
        (["alpha", "previous"], ["r"], {"r", "s"}, {"r"}),
        ([], ["u"], {"r", "M_d"}, {"u"}),
        ([], ["gamma"], {"r", "u"}, set()),
        ([], ["uu"], {"u"}, set()),
        (["beta"], ["rr"], {"r"}, set()),
        ([], ["x"], {"x", "p"}, {"x"}),
        ([], ["p"], {"u", "p"}, {"p"}),
    ]


def test_bytes_and_flops_of_cg():
    _, iterate = programs(START, ITERATE, vectors="b x", A=operator(traffic=1000, flops=100), M=scaling())
    # r, s, d in and r out; x, p, r, d in and x, p out.
    assert iterate.bytes == 1000 + (3 + 1) * 8 * N + (4 + 2) * 8 * N
    # 2 for r, 1 for u, 2 for each of 3 dot products; 1 for u again, 2 for x, 2 for p.
    assert iterate.flops == 100 + (2 + 1 + 6) * N + (1 + 2 + 2) * N


@pytest.mark.parametrize(("dtype", "word", "flops"), [("f", 4, 4), ("d", 8, 4), ("F", 8, 16), ("D", 16, 16)])
def test_bytes_and_flops_of_an_axpy_with_a_dot_product(dtype, word, flops):
    # Real: one product, one sum, two for the dot product. Complex: 6 + 2 + 8.
    (program,) = programs("x = x + a*y\ng = (x, y)", vectors="x y", scalars="a", dtype=dtype)
    assert program.bytes == 3 * word * N
    assert program.flops == flops * N


def test_a_division_counts_one_flop_and_eleven_in_complex():
    for dtype, flops in (("d", 1), ("D", 11)):
        (program,) = programs("x = -abs(x)/sqrt(y)", vectors="x y", dtype=dtype)
        assert program.flops == flops * N


def test_scalar_lines_move_no_bytes_and_make_no_pass():
    (program,) = programs("a = b/c\nd = a*a", scalars="b c")
    assert program.passes == 0
    assert program.bytes == program.flops == 0
    assert len(program.steps) == 1


def test_a_scalar_line_after_a_pass_that_it_does_not_need_comes_before_it():
    (step,) = steps("x = 2*x\na = b*b\nx = a*x", scalars="b")
    assert seen(step) == (["a"], ["x", "x"], {"x"}, {"x"})


def test_a_scalar_that_needs_a_dot_product_of_the_pass_begins_a_new_one():
    first, second = steps("x = x + y\ng = (x, x)\na = 1/g\nx = a*x", vectors="x y")
    assert seen(first) == ([], ["x", "g"], {"x", "y"}, {"x"})
    assert seen(second) == (["a"], ["x"], {"x"}, {"x"})


def test_a_vector_line_that_needs_a_dot_product_of_the_pass_begins_a_new_one():
    first, second = steps("g = (x, x)\ny = y + x\nx = x/g", vectors="x y")
    assert seen(first) == ([], ["g", "y"], {"x", "y"}, {"y"})
    assert seen(second) == ([], ["x"], {"x"}, {"x"})


def test_a_scalar_that_a_vector_line_has_used_may_change_only_after_the_pass():
    first, second = steps("x = a*x\na = 2*a\nx = a*x", scalars="a")
    assert seen(first) == ([], ["x"], {"x"}, {"x"})
    assert seen(second) == (["a"], ["x"], {"x"}, {"x"})


def test_a_dot_product_may_not_change_a_scalar_that_its_pass_uses():
    first, second = steps("x = a*x\na = (x, x)", scalars="a")
    assert seen(first) == ([], ["x"], {"x"}, {"x"})
    assert seen(second) == ([], ["a"], {"x"}, set())


def test_two_dot_products_of_one_name_are_taken_in_order():
    first, second = steps("g = (x, x)\ng = (x, y)", vectors="x y")
    assert seen(first)[1] == seen(second)[1] == ["g"]
    assert set(second.loads) == {"x", "y"}


def test_independent_lines_share_one_pass():
    (step,) = steps("x = x + y\ng = (x, y)\nz = z - y\nh = (z, z)", vectors="x y z")
    assert seen(step) == ([], ["x", "g", "z", "h"], {"x", "y", "z"}, {"x", "z"})
    assert [dot.target for dot in step.dots] == ["g", "h"]


def test_a_vector_is_loaded_once_and_not_at_all_when_it_is_written_first():
    (step,) = steps("z = x + x\nz = z*z\nx = z", vectors="x z")
    assert step.loads == ("x",)
    assert set(step.stores) == {"z", "x"}


def test_a_local_vector_lives_in_registers():
    (step,) = steps("t = x + y\nx = t*t\ng = (t, x)", vectors="x y")
    assert set(step.loads) == {"x", "y"}
    assert step.stores == ("x",)


@pytest.mark.parametrize(
    ("formula", "again"),
    [
        ("x*y", True),  # both are read by the second pass anyway
        ("x*y*v", True),  # one read more
        ("x*y*v*w", True),  # two reads more, against a write, a fetch for it and a read
        ("x*y*v*w*z", False),  # three reads more
    ],
)
def test_a_local_is_computed_again_where_that_reads_less(formula, again):
    first, second = steps(f"t = {formula}\ng = (t, t)\nx = x + y*t/g", vectors="x y v w z")
    assert first.stores == (() if again else ("t",))
    assert ("t" in second.loads) is not again
    assert [line.target for line in second.body] == (["t", "x"] if again else ["x"])


def test_a_local_whose_operand_has_changed_is_stored():
    first, second = steps("t = x*y\nx = x + 1\ng = (t, t)\nx = x + t/g", vectors="x y")
    assert set(first.stores) == {"t", "x"}
    assert "t" in second.loads


def test_a_local_whose_operand_changes_in_a_pass_between_is_stored():
    first, _, third = steps("t = x*y\ng = (t, t)\nx = x/g\nh = (x, x)\nx = x + t/h", vectors="x y")
    assert first.stores == ("t",)
    assert "t" in third.loads


def test_a_local_whose_scalar_has_changed_is_stored():
    first, second = steps("t = a*x\ng = (t, t)\na = 2*a\nx = x + a*t/g", scalars="a")
    assert first.stores == ("t",)
    assert "t" in second.loads


def test_a_local_made_of_itself_is_stored():
    first, second = steps("t = x + y\nt = t*t\ng = (t, t)\nx = x + t/g", vectors="x y")
    assert first.stores == ("t",)
    assert "t" in second.loads


def test_a_local_made_of_another_local_is_stored():
    # Computing u again would need t, which would then be stored instead.
    first, second = steps("t = x + y\nu = t*t\ng = (u, u)\nx = x + u/g", vectors="x y")
    assert first.stores == ("u",)
    assert set(second.loads) == {"x", "u"}


def test_a_local_that_an_operator_needs_is_stored():
    first, product, last = steps("t = x + y\ns = A(t)\nx = s", vectors="x y", A=operator())
    assert first.stores == ("t",)
    assert seen(product) == ("A", "t", "s", {})
    assert seen(last) == ([], ["x"], {"s"}, {"x"})


def test_a_local_is_not_stored_for_a_step_that_overwrites_it_first():
    first, second = steps("t = x*x\ng = (t, t)\nt = x/g\nx = t", vectors="x")
    assert first.stores == ()
    assert second.stores == ("x",)


def test_a_vector_that_another_program_reads_is_stored():
    first, second = programs("t = 2*x\ng = (t, t)", "x = t/g")
    (only,) = first.steps
    assert only.stores == ("t",)
    assert second.steps[0].loads == ("t",)


def test_a_vector_that_both_programs_write_before_reading_is_stored_by_neither():
    first, second = programs("t = 2*x\ng = (t, t)", "t = 3*x\nx = t/g")
    assert first.steps[0].stores == ()
    assert second.steps[0].stores == ("x",)


def test_dot_products_are_taken_from_an_operator_that_offers_them():
    product, rest = steps("s = A(p)\na = (p, s)\nb = (s, s)\nc = (p, p)\np = a*s", vectors="p", A=operator())
    assert seen(product) == ("A", "p", "s", {"a": "xy", "b": "yy", "c": "xx"})
    assert seen(rest) == ([], ["p"], {"s"}, {"p"})


def test_dot_products_that_an_operator_does_not_offer_are_made_in_a_pass():
    product, dots = steps("s = A(p)\na = (p, s)\nb = (s, s)\nc = (p, p)", vectors="p", A=operator(fused_dots=("xy",)))
    assert seen(product) == ("A", "p", "s", {"a": "xy"})
    assert seen(dots) == ([], ["b", "c"], {"s", "p"}, set())


def test_results_that_passes_alone_read_are_split():
    """Then the operator offers other dot products, which it takes from behind those that it does not offer."""
    M = SimpleNamespace(**vars(operator()), split_dots=("xy", "xx"))
    text = "u = M(r)\na = (r, u)\nb = (u, u)\nc = (r, r)\n"
    product, rest = steps(f"{text}p = u + a*p", vectors="r p", M=M)
    assert seen(product) == ("M", "r", "u", {"a": "xy", "c": "xx"})
    assert product.split
    assert seen(rest) == ([], ["b", "p"], {"u", "p"}, {"p"})
    for more, vectors in (("s = M(u)\np = s", "r p"), ("p = u + a*p", "r p u"), ("u = u + p\np = u", "r p")):
        product = steps(text + more, vectors=vectors, M=M)[0]
        assert seen(product) == ("M", "r", "u", {"a": "xy", "b": "yy", "c": "xx"})
        assert not product.split


def test_an_operator_that_says_nothing_of_dot_products_offers_all():
    (product,) = steps("s = A(p)\na = (s, s)", vectors="p", A=OperatorTraits())
    assert seen(product) == ("A", "p", "s", {"a": "yy"})


def test_a_dot_product_with_its_sides_exchanged_is_another_one():
    # (s, p) is the conjugate of (p, s), so it is not the operator's xy.
    product, dots = steps("s = A(p)\na = (s, p)", vectors="p", A=operator(), dtype=complex)
    assert seen(product) == ("A", "p", "s", {})
    assert [type(line) for line in dots.body] == [Dot]


def test_only_dot_products_that_follow_at_once_are_taken_from_the_operator():
    product, rest = steps("s = A(p)\np = p + s\na = (p, s)", vectors="p", A=operator())
    assert seen(product) == ("A", "p", "s", {})
    assert seen(rest) == ([], ["p", "a"], {"p", "s"}, {"p"})


def test_a_pass_over_numbers_alone_still_has_an_array_to_sweep_over():
    _, fill = steps("s = A(x)\nh = (x, s)\nt = 2\ng = (t, t)", A=operator())
    assert isinstance(fill, Pass)
    assert fill.loads == ()
    assert fill.stores == ("t",)


def test_line_by_line_keeps_every_vector():
    (program,) = programs("t = x + y\nu = t*t\nx = u", vectors="x y", fuse=False)
    assert [step.stores for step in program.steps] == [("t",), ("u",), ("x",)]
    assert program.bytes == (3 + 2 + 2) * 8 * N
