"""Random programs against the line-by-line NumPy evaluation of the same text.

Three kinds of devices run them. One is written here in NumPy and does exactly what a plan says: a pass sees the arrays
that it loads and leaves those that it stores, and what was never stored is NaN. It makes the same roundings as the
reference, so results are equal to the last bit, and as nothing is compiled, many programs can be tried. The other is
the CPU; each program costs it about half a second per pass and dtype, so programs are few, the same in every run, and
sizes many. The third are the accelerators of this machine.
"""

from __future__ import annotations

import ast

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, example, given, note, settings
from hypothesis import strategies as st
from scipy import sparse

from tests.all_pairs import on_devices
from tests.conftest import DTYPES
from workbench.devices.cpu import Cpu
from workbench.devices.element_wise import ElementWise
from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.programs import Workspace
from workbench.devices.programs.function import Lines
from workbench.devices.programs.on_cores import StepByStep
from workbench.lines.interpret import evaluate
from workbench.lines.parse import parse
from workbench.lines.types import Application, Binary, Call, Dot, Name, Negation, Number, Selection, accumulator, walk

SIZES = (1, 2, 7, 16383, 16384, 16385, 3 * 16384 + 5)
LARGE = 200001
# Vectors and numbers that every program may read. k, d and k0 are never written: a comparison looks at nothing else, so
# that rounding cannot turn it, and d stays away from zero, so that it may be divided by.
GIVEN, FIXED, LOCAL = ("x", "y", "z"), ("k", "d"), ("t", "u", "v")
NUMBERS, FIXED_NUMBERS, COMPUTED, DOTS = ("a", "b"), ("k0",), ("c", "e"), ("g", "h")
OPERATORS = ("A", "S", "F", "M")
CG = """
    s = A(p)
    g = (p, s)
    c = b/g if g > 0 else 0
    e = b
    x = x - c*s
    u = M(x)
    b = (x, u)
    h = (u, u)
    a = b/e
    z = z + c*p
    p = u + a*p
"""
EVERYTHING = """
    c = (a + 1)/(2 + abs(a)) if k0 > 0 else -a
    t = x*y - 0.5*conj(z)/d
    u = sqrt(1 + abs(t)) if k < 0.25 else -t
    x = c*x + b*u
    g = (x, t)
    h = (u, x)
    e = sqrt(1 + abs(g))
    y = y + u/e - sqrt(d)
    z = t if k >= k0 else h*t/e
    a = (y, y)
"""
COUNTING = """
    a = a + 1
    h = a*a
    x = x + h*y
    g = (x, y)
    a = a + h
    x = x - a*y
"""
PIPELINED = """
    z = y + b*z
    q = x + b*q
    s = w + b*s
    y = y - a*z
    w = w - a*q
    x = x - a*s
    g = (x, w)
    h = (w, w)
"""


@st.composite
def expressions(draw, vectors, numbers, depth):
    """The text of a formula in these names. Every denominator is away from zero."""
    names = [*vectors, *numbers]
    if depth == 0:
        # What earlier lines have made is read more often than what was given, or passes would not depend on each other.
        made = [name for name in names if name in (*LOCAL, *COMPUTED, *DOTS)]
        return draw(st.sampled_from([*names, *made, *made, "2", "0.5"]))
    left = draw(expressions(vectors, numbers, depth - 1))
    right = draw(expressions(vectors, numbers, draw(st.integers(0, depth - 1))))
    fixed = [name for name in (*FIXED, *FIXED_NUMBERS) if name in names]
    forms = [f"({left} + {right})", f"({left} - {right})", f"{left}*{right}", f"{left}/(2 + abs({right}))"]
    forms += [f"-{left}", f"abs({left})", f"conj({left})", f"sqrt(1 + abs({left}))"]
    if "d" in vectors:
        forms += [f"{left}/d", "sqrt(d)"]
    sign = draw(st.sampled_from(["<", "<=", ">", ">="]))
    limit = draw(st.sampled_from([*fixed, "0.25"]))
    forms += [f"({left} if {draw(st.sampled_from(fixed))} {sign} {limit} else {right})"]
    return draw(st.sampled_from(forms))


@st.composite
def programs(draw, least=3, most=9, depth=2, operators=OPERATORS, known=(), known_numbers=()):
    """The text of a program that has a vector, reads nothing before it is set and leaves no result unread."""
    vectors = [*GIVEN, *FIXED, *known]
    numbers = [*NUMBERS, *FIXED_NUMBERS, *known_numbers]
    lines, unread = [], set()

    def read(text):
        unread.difference_update(node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name))

    kinds = ["vector"] * 5 + ["scalar"] * 2 + ["dot"] * 3 + ["operator"] * bool(operators)
    for kind in draw(st.lists(st.sampled_from(kinds), min_size=least, max_size=most)):
        if kind == "vector":
            target = draw(st.sampled_from([*GIVEN, *LOCAL, *LOCAL]))
            # One operand at least is a vector, so that a local cannot turn out to be a scalar.
            value = draw(expressions(tuple(vectors), tuple(numbers), depth))
            value += draw(st.sampled_from([" + ", " - ", "*"])) + draw(st.sampled_from(vectors))
            names = vectors
        elif kind == "scalar":
            target = draw(st.sampled_from([*COMPUTED, *NUMBERS]))
            value = draw(expressions((), tuple(numbers), depth))
            names = numbers
        elif kind == "dot":
            target = draw(st.sampled_from([*DOTS, *NUMBERS]))
            value = f"({draw(st.sampled_from(vectors))}, {draw(st.sampled_from(vectors))})"
            names = numbers
        else:
            argument = draw(st.sampled_from(vectors))
            target = draw(st.sampled_from([name for name in (*GIVEN, *LOCAL) if name != argument]))
            value = f"{draw(st.sampled_from(operators))}({argument})"
            names = vectors
        read(value)
        lines.append(f"{target} = {value}")
        if target not in names:
            names.append(target)
        if target in LOCAL:
            unread.add(target)
        if kind == "operator":
            # Dot products of an operator's two vectors are those that it may offer itself.
            for name in draw(st.lists(st.sampled_from([*DOTS, *NUMBERS]), max_size=2)):
                left, right = (draw(st.sampled_from([argument, target])) for _ in range(2))
                lines.append(f"{name} = ({left}, {right})")
                read(lines[-1])
                if name not in numbers:
                    numbers.append(name)
    lines += [f"g = ({name}, d)" for name in ("x", *sorted(unread))]
    return "\n".join(lines)


def data(size, dtype, seed):
    """Entries of modulus 0.5 to 2, d with a real part of at least 0.35; numbers in double precision."""
    rng = np.random.default_rng(seed)

    def draw(shape, angle):
        modulus = rng.uniform(0.5, 2, shape)
        turned = modulus * np.exp(1j * rng.uniform(-angle, angle, shape))
        return turned if np.dtype(dtype).kind == "c" else modulus * np.sign(turned.real)

    values = {name: draw(size, np.pi).astype(dtype) for name in (*GIVEN, "k", "p", "q", "s", "w")}
    values["d"] = draw(size, np.pi / 4).astype(dtype)
    return values | {name: draw((), np.pi).item() for name in (*NUMBERS, *FIXED_NUMBERS)}


def restricted(values, text):
    """Only what the program uses of the values, since it refuses the rest; arrays copied."""
    tree = ast.parse("\n".join(line.text for line in parse(text)))
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - set(LOCAL)
    return {
        name: value.copy() if isinstance(value, np.ndarray) else value for name, value in values.items() if name in used
    }


def matrices(size, dtype, seed):
    """A sparse matrix, a tridiagonal Hermitian one, and a diagonal, with entries of about 1."""
    rng = np.random.default_rng(seed)
    turn = np.exp(0.3j) if np.dtype(dtype).kind == "c" else 1.0
    columns = rng.integers(0, size, 3 * size)
    general = sparse.coo_array((rng.uniform(-1, 1, 3 * size) * turn, (np.repeat(np.arange(size), 3), columns)))
    general.resize(size, size)
    low = rng.uniform(-1, 1, size) * turn
    low[0] = 0
    main = rng.uniform(1, 2, size).astype(low.dtype)
    bands = sparse.diags_array([main, low[1:], low[1:].conj()], offsets=[0, -1, 1], shape=(size, size))
    diagonal = rng.uniform(0.5, 2, size)
    return (
        sparse.csr_array(general).astype(dtype),
        (main.astype(dtype), low.astype(dtype), sparse.csr_array(bands).astype(dtype)),
        diagonal.astype(dtype),
    )


def reference_operators(size, dtype, seed):
    general, (_, _, bands), diagonal = matrices(size, dtype, seed)
    return {
        "A": lambda v: general @ v,
        "S": lambda v: bands @ v,
        "F": lambda v: 2 * v[::-1],
        "M": lambda v: diagonal * v,
    }


# Part 1: a device that does what the plan says, in NumPy.


class Applied(OperatorTraits):
    """An operator of the plan's device; the dot products that it offers are the reference's, the others NaN."""

    traffic = flops = 0

    def __init__(self, product, fused_dots=("xy", "yy", "xx")):
        self.product, self.fused_dots = product, fused_dots

    def apply(self, x, out, *wanted):
        out[:] = self.product(x)
        wide = accumulator(out.dtype)
        left, right = x.astype(wide), out.astype(wide)
        pairs = {"xy": (left, right), "yy": (right, right), "xx": (left, left)}
        return np.array([np.vdot(*pair) if name in wanted else np.nan for name, pair in pairs.items()])


class PlanDevice(StepByStep):
    """Every pass sees its loads and scalars and nothing else, and leaves its stores and dot products."""

    def scalars(self, count, dtype):
        return np.full(count, np.nan, dtype)

    def to_host(self, vector):
        return vector

    def write_scalar(self, scalars, slot, value):
        scalars[slot] = value

    def settle(self):
        pass

    def zeros(self, size, dtype):
        return np.full(size, np.nan, dtype)

    def overlap(self, a, b):
        return np.shares_memory(a, b)

    def compile_pass(self, step, shapes, slots, dtype, stored):
        return slots

    def bind_pass(self, slots, step, arrays, scalars):
        bound = dict(zip(dict.fromkeys([*step.loads, *step.stores]), arrays, strict=True))

        def number(name):
            return scalars[slots[name]]

        def run():
            for line in step.scalars:
                used = {name: number(name) for name in line.reads} | {"some": np.zeros(1, arrays_dtype)}
                evaluate(f"{line.target} = {line.expression}", used)
                scalars[slots[line.target]] = used[line.target]
            seen = {name: bound[name].copy() for name in step.loads}
            dots = {}
            for line in step.body:
                if isinstance(line, Dot):
                    used = {"left": seen[line.left], "right": seen[line.right]}
                    evaluate("total = (left, right)", used)
                    dots[line.target] = used["total"]
                else:
                    used = {name: seen[name] if name in seen else number(name) for name in line.reads}
                    used |= {"target": np.zeros(size, arrays_dtype)}
                    evaluate(f"target = {line.expression}", used)
                    seen[line.target] = used["target"]
            for name in step.stores:
                bound[name][:] = seen[name]
            for name, value in dots.items():
                scalars[slots[name]] = value

        size = arrays[0].size if arrays else 0
        arrays_dtype = arrays[0].dtype if arrays else {"f": np.float64, "c": np.complex128}[scalars.dtype.kind]
        return run


def assert_same(found, expected, what):
    np.testing.assert_array_equal(found, expected, err_msg=f"{what} differs")


SOME = settings(max_examples=25, suppress_health_check=list(HealthCheck))
MANY = settings(SOME, max_examples=250)
PLANS = programs(most=12, depth=1), st.sampled_from(["float64", "complex64"]), st.booleans(), st.integers(0, 7)
PAIRS = programs(most=6, depth=1), st.data()


@SOME
@given(*PLANS)
@example(CG, "float64", True, 7)
@example(PIPELINED, "complex64", True, 7)
@example("t = x*y\ng = (t, t)\nx = x/2\nh = (x, t)\nz = t*g", "float64", True, 0)
@example("t = A(x)\nt = 2*t\ng = (t, t)\nx = x + t/g", "float64", True, 7)
@example("t = x + y\nx = 2*x\ng = (t, t)\nt = t + g*y\nx = t", "float64", True, 7)
@example("t = a*x\ng = (t, t)\na = 2*a\nx = x + a*t/g", "float64", True, 7)
@example("g = (x, x)\ng = a\nx = g*x", "float64", True, 7)
@example("x = a*x\na = (x, x)\na = (x, y)\ny = a*x", "float64", True, 7)
@example("y = A(x)\nh = (x, x)\nh = (x, y)", "float64", True, 1)
@example("t = x + y\ng = (t, t)\nz = t/g\nt = t*z\ng = (t, z)\nx = g*t", "float64", True, 7)
def test_a_plan_gives_what_its_lines_give(text, dtype, fuse, offered):
    size = 5
    functions = reference_operators(size, dtype, 1)
    some = tuple(name for k, name in enumerate(("xy", "yy", "xx")) if offered >> k & 1)
    operators = {name: Applied(function, some) for name, function in functions.items() if name != "M"}
    operators["M"] = ElementWise("d*v", {"d": matrices(size, dtype, 1)[2]})
    expected = restricted(data(size, dtype, 2), text)
    vectors = [name for name, value in expected.items() if isinstance(value, np.ndarray)]
    given = {name: np.copy(value) if name in vectors else value for name, value in expected.items()}
    update = Lines(PlanDevice(), text, fuse=fuse, operators=operators)
    for call in range(2):
        returned = update(**given)
        evaluate(text, expected, functions)
        for name in vectors:
            assert_same(given[name], expected[name], f"{name} after call {call}")
        for name, value in returned.items():
            assert_same(value, expected[name], f"{name} after call {call}")
        # The next call is given other arrays of the same values, and no value of this one but those.
        expected = {name: expected[name] for name in given}
        given = {name: np.copy(value) if name in vectors else value for name, value in expected.items()}


@pytest.mark.slow
@MANY
@given(*PLANS)
def test_many_plans_give_what_their_lines_give(text, dtype, fuse, offered):
    test_a_plan_gives_what_its_lines_give.hypothesis.inner_test(text, dtype, fuse, offered)


@SOME
@given(*PAIRS)
@example("t = x + y\nu = 2*t\ng = (u, u)", None)
def test_programs_of_one_workspace_hand_vectors_and_scalars_on(first, more):
    size, dtype = 4, np.dtype(float)
    set_by_first = {line.target for line in parse(first)}
    second = "x = u + t + g*y\nt = 3*x"
    if more is not None:
        known = [name for name in LOCAL if name in set_by_first]
        numbers = [name for name in (*COMPUTED, *DOTS) if name in set_by_first]
        second = more.draw(programs(most=6, depth=1, known=tuple(known), known_numbers=tuple(numbers)))
    functions = reference_operators(size, dtype, 3)
    operators = {name: Applied(function) for name, function in functions.items() if name != "M"}
    operators["M"] = ElementWise("d*v", {"d": matrices(size, dtype, 3)[2]})
    expected = data(size, dtype, 4)
    expected = {name: value for name, value in expected.items() if name not in (*LOCAL, "p", "q", "s")}
    vectors = {name: value.copy() for name, value in expected.items() if isinstance(value, np.ndarray)}
    numbers = {name: value for name, value in expected.items() if name not in vectors}
    space = Workspace(PlanDevice(), size, dtype, vectors=vectors, operators=operators, scalars=numbers)
    for name, value in numbers.items():
        space.set_scalar(name, value)
    begin, go_on = space.lines(first, second)
    for text, program in ((first, begin), (second, go_on), (second, go_on)):
        program()
        evaluate(text, expected, functions)
        for name in vectors:
            assert_same(space.vector(name), expected[name], name)
        for line in parse(text):
            if space.has_scalar(line.target):
                assert_same(space.scalar(line.target), expected[line.target], line.target)


@pytest.mark.slow
@MANY
@given(*PAIRS)
def test_many_programs_of_one_workspace_hand_vectors_and_scalars_on(first, more):
    test_programs_of_one_workspace_hand_vectors_and_scalars_on.hypothesis.inner_test(first, more)


# Part 2: the CPU.


class UnboundedError(Exception):
    """Rounding may change the result of this program by more than is worth a comparison."""


def magnitude(node, values, sizes):
    """|value| of a formula if nothing cancelled: each rounding in it changes the value by at most eps times this."""
    match node:
        case Name(name=name):
            return sizes[name]
        case Number(value=value):
            return abs(value)
        case Binary(sign="+" | "-"):
            return magnitude(node.left, values, sizes) + magnitude(node.right, values, sizes)
        case Binary(sign="*"):
            return magnitude(node.left, values, sizes) * magnitude(node.right, values, sizes)
        case Binary():
            # |a/b| (1 + da/a + db/b), with da and db proportional to the magnitudes of a and b.
            top, bottom = magnitude(node.left, values, sizes), magnitude(node.right, values, sizes)
            divisor = np.abs(value_of(node.right, values))
            if not np.all(bottom < 1e3 * divisor):
                raise UnboundedError
            return top / divisor * (1 + bottom / divisor)
        case Negation():
            return magnitude(node.operand, values, sizes)
        case Call(function="sqrt"):
            inside = node.argument
            return magnitude(inside, values, sizes) / np.sqrt(np.abs(value_of(inside, values)))
        case Call():
            return magnitude(node.argument, values, sizes)
        case Selection():
            return np.maximum(magnitude(node.body, values, sizes), magnitude(node.otherwise, values, sizes))
    raise AssertionError(node)


def value_of(node, values):
    used = {part.name: values[part.name] for part in walk(node) if isinstance(part, Name)}
    used |= {"some": np.zeros(1, complex)} if not any(np.ndim(value) for value in used.values()) else {}
    evaluate(f"result = {node}", used)
    return used["result"]


def expected_with_bounds(text, values, functions, dtype):
    """The reference's values, and a bound on how far another order of the same roundings may lie from them."""
    size = next(value.size for value in values.values() if isinstance(value, np.ndarray))
    exact = {name: np.asarray(value).astype(accumulator(dtype)) for name, value in values.items()}
    sizes = {name: np.abs(value) for name, value in exact.items()}
    operations, dots = 1, 0
    absolute = {"A": abs(functions["general"]), "S": abs(functions["bands"])}
    for line in parse(text):
        match line:
            case Dot():
                sizes[line.target] = np.sum(sizes[line.left] * sizes[line.right])
                dots += 1
            case Application():
                argument = sizes[line.argument]
                if line.operator in absolute:
                    sizes[line.target] = absolute[line.operator] @ argument
                else:
                    sizes[line.target] = np.abs(functions[line.operator](argument))
            case _:
                sizes[line.target] = magnitude(line.expression, exact, sizes)
        rounding = sum(isinstance(node, ast.BinOp | ast.Call) for node in ast.walk(ast.parse(line.text)))
        operations += 10 if isinstance(line, Application) else 1 + rounding
        evaluate(line.text, exact, functions)
        if not np.all(sizes[line.target] < 1e12):
            raise UnboundedError
    evaluate(text, values, functions)
    # 4 covers the larger constants of complex products, quotients and roots; 2, that both sides round.
    relative = 2 * 4 * operations * np.finfo(dtype).eps + dots * size * np.finfo(float).eps
    return {name: relative * bound for name, bound in sizes.items()}


def compare_where_bounded(*arguments, **options):
    """For programs that hypothesis generates: try another one where rounding decides."""
    try:
        compare(*arguments, **options)
    except UnboundedError:
        assume(False)


def compare(text, dtype, sizes=SIZES, fusions=(True, False), uses_operators=False, device=None):
    device = device or Cpu()
    programs_of = {fuse: device.lines(text, fuse=fuse) for fuse in fusions}
    for size in sizes:
        functions, operators = {"general": sparse.eye_array(1), "bands": sparse.eye_array(1)}, None
        if uses_operators:
            general, (main, low, bands), diagonal = matrices(size, dtype, size)
            functions = reference_operators(size, dtype, size) | {"general": general, "bands": bands}
            operators = {
                "A": device.csr(general.data, general.indices, general.indptr),
                "S": device.stencil(main, (low,), (1,)),
                "F": device.callable(functions["F"], size, np.dtype(dtype)),
                "M": ElementWise("d*v", {"d": device.array(diagonal, diagonal.dtype)}),
            }
        start = restricted(data(size, dtype, size), text)
        expected = restricted(start, text)
        bounds = expected_with_bounds(text, expected, functions, np.dtype(dtype))
        for fuse in fusions:
            given = restricted(start, text)
            update = device.lines(text, fuse=fuse, operators=operators) if operators else programs_of[fuse]
            placed = {name: device.array(value, dtype) if np.ndim(value) else value for name, value in given.items()}
            returned = update(**placed)
            found = {name: device.to_host(value) if np.ndim(given[name]) else value for name, value in placed.items()}
            for name, value in (found | returned).items():
                if isinstance(value, np.ndarray):
                    assert value.dtype == dtype
                wrong = np.abs(value - expected[name]) - bounds[name]
                worst = np.max(wrong)
                assert worst <= 0, (
                    f"{name} is off by {worst:.3g} more than rounding allows; N {size}, {dtype}, fuse {fuse}\n{text}"
                )


FEW = {
    "suppress_health_check": list(HealthCheck),
    "phases": [Phase.explicit, Phase.generate],
    "derandomize": True,
}


@settings(max_examples=6, **FEW)
@given(programs(least=5, most=7, operators=()), st.sampled_from(DTYPES))
@example(PIPELINED, "complex64")
def test_fused_programs_on_the_cpu(text, dtype):
    note(text)
    compare_where_bounded(text, dtype, fusions=(True,))


@settings(max_examples=8, **FEW)
@given(programs(least=5, most=9), st.sampled_from(DTYPES), st.booleans())
@example(CG, "complex64", True)
@example(PIPELINED, "float32", True)
def test_programs_on_accelerators(accelerator, text, dtype, fuse):
    note(text)
    options = {"sizes": SIZES[1::3], "fusions": (fuse,), "uses_operators": True, "device": accelerator}
    compare_where_bounded(text, dtype, **options)


@settings(max_examples=2, **FEW)
@given(programs(least=4, most=5, operators=()), st.sampled_from(DTYPES))
def test_programs_line_by_line_on_the_cpu(text, dtype):
    note(text)
    compare_where_bounded(text, dtype)


@settings(max_examples=3, **FEW)
@given(programs(least=5, most=7), st.sampled_from(DTYPES))
@example(CG, "float64")
def test_programs_with_operators_on_the_cpu(text, dtype):
    note(text)
    compare_where_bounded(text, dtype, fusions=(True,), uses_operators=True)


TEXTS = {"everything": EVERYTHING, "counting": COUNTING, "pipelined": PIPELINED}


@on_devices(text=list(TEXTS), dtype=DTYPES, fuse=[True, False])
def test_every_form_of_the_language(device, case):
    sizes = (*SIZES, LARGE) if case["fuse"] else (7, LARGE)
    compare(TEXTS[case["text"]], case["dtype"], sizes=sizes, fusions=(case["fuse"],), device=device)
