"""Lines that act on every column alone in one pass, against the same lines one by one and against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.all_pairs import on_devices
from tests.conftest import DTYPES, random_values
from workbench import devices
from workbench.devices.element_wise import ElementWise
from workbench.devices.programs.block_workspace import BlockWorkspace
from workbench.lines.block_passes import BlockPass, Products, Scaling, Term, Update, scaling
from workbench.lines.types import small

TEXT = """
    X = X + P*alpha
    R = R - S*alpha
    U = M(R)
    gamma = dots(R, U)
    rr = dots(R, R)
    P = U + P*beta
"""
TRANSPOSED = """
    R = R - S*alpha
    U = M(R)
    Rbar = conj(R)
    gamma = dots(Rbar, U)
"""
SIZE = 1003


def values_of(columns, dtype):
    rng = np.random.default_rng(columns)
    values = {name: random_values((SIZE, columns), dtype, rng) for name in "XPRSU"}
    values |= {name: random_values(columns, dtype, rng) for name in ("alpha", "beta")}
    return values | {"d": np.abs(random_values(SIZE, dtype, rng)).astype(dtype)}


def space_of(device, text, values, formula):
    dtype = values["X"].dtype
    blocks = {}
    for name in "XPRSU":
        blocks[name] = device.zero_block(*values[name].shape, dtype)
        device.assign(blocks[name], device.array(values[name], dtype))
    factors = {"d": device.array(values["d"], dtype)} if "d" in formula else {}
    columns = values["X"].shape[1]
    operators = {"M": ElementWise(formula, factors)}
    space = BlockWorkspace(device, SIZE, columns, dtype, vectors=blocks, operators=operators)
    shape = small(1, columns)
    (program,) = space.lines(text, matrices={"alpha": shape, "beta": shape})
    double = np.result_type(dtype, np.float64)
    space.matrices.update({name: values[name].astype(double) for name in ("alpha", "beta")})
    return space, program


def expected(values, formula):
    double = {name: array.astype(np.result_type(array.dtype, np.float64)) for name, array in values.items()}
    made = dict(double)
    made["X"] = double["X"] + double["P"] * double["alpha"]
    made["R"] = double["R"] - double["S"] * double["alpha"]
    made["U"] = {"d*v": double["d"][:, None], "0.25*v": 0.25, "v": 1}[formula] * made["R"]
    made["P"] = made["U"] + double["P"] * double["beta"]
    sums = {"gamma": (made["R"].conj() * made["U"]).sum(axis=0), "rr": (made["R"].conj() * made["R"]).sum(axis=0)}
    return made, sums


@on_devices(columns_and_formula=[(1, "d*v"), (3, "v"), (9, "0.25*v"), (17, "d*v")], dtype=DTYPES)
def test_a_pass_is_what_numpy_computes(device, case):
    columns, formula = case["columns_and_formula"]
    dtype = case["dtype"]
    values = values_of(columns, dtype)
    space, program = space_of(device, TEXT, values, formula)
    program()
    made, sums = expected(values, formula)
    eps = np.finfo(dtype).eps
    for name in "XRUP":
        np.testing.assert_allclose(device.to_host(space.vectors[name]), made[name], rtol=0, atol=100 * eps)
    for name, right in sums.items():
        np.testing.assert_allclose(space.matrices[name], right, rtol=0, atol=50 * eps * np.abs(sums["rr"]).max())


def test_several_lines_are_one_pass_that_reads_and_writes_once(device):
    values = values_of(17, np.float64)
    _, program = space_of(device, TEXT, values, "d*v")
    assert program.passes == 1
    # X, P, R, S are read, X, R, U, P written, and 1/D is read.
    assert program.bytes == 8 * values["X"].nbytes + values["d"].nbytes
    assert program.flops == 17 * SIZE * (2 * 5 + 1)


def test_products_without_conjugation(device):
    values = values_of(8, np.complex128)
    space, program = space_of(device, TRANSPOSED, values, "d*v")
    program()
    assert program.passes == 1
    made, _ = expected(values, "d*v")
    np.testing.assert_allclose(space.matrices["gamma"], (made["R"] * made["U"]).sum(axis=0), rtol=1e-10)


@pytest.mark.parametrize("twice", [True, False])
def test_a_product_counts_where_its_line_is_and_may_be_missing(device, twice):
    values = values_of(17, np.float64)
    update, product = "R = R - S*alpha\n", "gamma = dots(R, R)\n" * twice
    space, program = space_of(device, product + update + product + "X = X + P*beta", values, "v")
    program()
    assert program.passes == 1
    R = values["R"] - values["S"] * values["alpha"]
    np.testing.assert_allclose(device.to_host(space.vectors["R"]), R, rtol=1e-13, atol=1e-13)
    if twice:
        np.testing.assert_allclose(space.matrices["gamma"], (R * R).sum(axis=0), rtol=1e-12)


def test_other_operators_and_matrices_end_a_pass():
    device, values = devices.device("cpu"), values_of(16, np.float64)
    space, _ = space_of(device, TEXT, values, "v")
    space.operators["A"] = device.callable(lambda v: 2 * v, SIZE, np.dtype(float))
    space.vectors["T"] = device.zero_block(SIZE, 16, np.dtype(float))
    square = small(16, 16)
    (program,) = space.lines(
        """
        U = M(R)
        gamma = dots(R, U)
        S = A(P)
        X = X + P@C
        R = R - S*alpha
        rr = dots(R, R)
        """,
        matrices={"C": square, "alpha": small(1, 16)},
    )
    assert program.passes == 4


def test_what_a_pass_loads_and_stores():
    statements = (
        Update("R", (Term(1, "R"), Term(-1, "S", "alpha"))),
        Scaling("U", "R", "d"),
        Products("gamma", "R", "U"),
        Update("P", (Term(1, "U"), Term(1, "P", "beta"))),
    )
    work = BlockPass(statements)
    assert work.loads == ("R", "S", "P")
    assert work.stores == ("R", "U", "P")
    assert work.rows == ("alpha", "beta")
    assert work.factors == ("d",)


@pytest.mark.parametrize(
    ("formula", "factor"), [("v", None), ("d*v", "d"), ("0.5*v", 0.5), (" 1e-3 * v", 1e-3), ("d*v*d", ""), ("e*v", "")]
)
def test_element_wise_operators_as_statements(formula, factor):
    made = scaling("U", "R", formula, ["d"])
    assert (made is None) if factor == "" else made == Scaling("U", "R", factor)
