"""Rules across choices: all that are broken are said before a run, with changes that mend them together."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from scipy import io, sparse

from tests.all_pairs import all_pairs
from workbench import devices
from workbench.errors import MOST_UNKNOWNS, InputError
from workbench.process import limits
from workbench.registry import lookup, registered
from workbench.run import Session, configure
from workbench.run.choices.conflicts import Conflict, changed, changes_of, conflicts, in_words
from workbench.run.setup.prepare import assembled, prepare
from workbench.settings import AZ_FORMS, BLOCKS, COMPACT, FORMATS, GIVEN_FORM

CASES = {
    "hybrid3 with both levels": (
        {"problem": "bubbles-2d", "n": 16, "solver": "hybrid3", "device": "opencl", "preconditioner": "neumann:2"}
        | {"deflation": "levelset:4"},
        {"deflation": "none", "preconditioner": "jacobi"},
    ),
    "a second level that wraps M": (
        {"problem": "bubbles-2d", "n": 16, "solver": "hybrid2", "device": "opencl", "preconditioner": "jacobi"}
        | {"deflation": "levelset:4", "variant": "a-def2"},
        {"preconditioner": "jacobi", "variant": "def1"},
    ),
    "hybrid on the cores": ({"problem": "poisson5", "solver": "hybrid3"}, {"solver": "pipecg"}),
    "too large": ({"problem": "poisson5", "n": 40_000, "memory_limit": 10**8}, {"problem.n"}),
    "cluster and norm": (
        {"problem": "poisson5", "cluster": "local:2", "stopping": {"norm": "error"}},
        {"rhs": "ones-scaled", "cluster": None},
    ),
    "columns": (
        {"problem": "poisson5", "rhs": "random:4", "solver": "pipecg", "stopping": {"norm": "natural"}},
        {"solver": "block-cg", "norm": "residual"},
    ),
    "a matrix without grid and phases": (
        {"problem": "stand-in", "preconditioner": "mg", "deflation": "levelset:4"},
        {"deflation": "none", "preconditioner": "amg:sa"},
    ),
    "a cycle below a recurrence": (
        {"problem": "poisson5", "n": 64, "solver": "pr-cg", "preconditioner": "kcycle"},
        {"preconditioner": "neumann:2"},
    ),
    "a cycle on the grid, in a sum": (
        {"problem": "bubbles-2d", "n": 64, "solver": "pr-cg", "preconditioner": "jacobi + mg"},
        {"preconditioner": "neumann:2"},
    ),
    "no whole nodes": (
        {"problem": "poisson5", "n": 8, "deflation": "parts:8,node=6"},
        {"deflation.node": 2},
    ),
    "triangles on an accelerator": (
        {"problem": "poisson5", "device": "opencl", "preconditioner": "ic"},
        {"preconditioner": "block-ic"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_all_conflicts_are_told_with_changes_that_mend_them(name):
    choices, wanted = CASES[name]
    if choices.get("device") == "opencl" and "opencl" not in devices.names():
        pytest.skip("no OpenCL device")
    configuration = configure(**choices)
    found = conflicts(configuration)
    changes = changes_of(found)
    assert set(changes) == set(wanted)
    assert isinstance(wanted, set) or changes == wanted
    assert conflicts(changed(configuration, changes)) == []
    # The setup refuses with the same sentence, and all of it.
    with pytest.raises(InputError) as caught:
        prepare(configuration)
    assert (str(caught.value), caught.value.changes) == (in_words(found), changes)


def test_a_reason_without_a_way_out_is_told_whole():
    found = [
        Conflict("cuda:x is no number", {"device": "cpu"}),
        Conflict("norm error needs x; use rhs ones", {"rhs": "ones"}),
    ]
    assert in_words(found) == "cuda:x is no number; and norm error needs x; use device cpu, rhs ones"


@pytest.mark.parametrize("solver", registered("solver"))
def test_every_choice_of_blocks_is_possible_or_mended(solver):
    kinds = {
        "preconditioner": [name for name in registered("preconditioner") if name != "sum"],
        "deflation": ("none", "levelset:4"),
        "variant": ("auto", "a-def2"),
        "device": devices.names(),
    }
    for case in all_pairs(**kinds):
        configuration = configure("bubbles-2d", n=16, solver=solver, **case)
        found = conflicts(configuration)
        assert conflicts(changed(configuration, changes_of(found))) == [], configuration.label


def complex_symmetric(folder):
    A = sparse.diags_array([np.full(9, -1.0), np.full(10, 4 + 1j), np.full(9, -1.0)], offsets=[-1, 0, 1])
    io.mmwrite(folder / "A.mtx", sparse.coo_array(A), symmetry="symmetric")
    return configure("matrix-file", path=str(folder / "A.mtx"), preconditioner="neumann:2", deflation="blocks:2")


def test_a_complex_symmetric_matrix_is_refused_once_and_all_that_must_change_is_said(tmp_path):
    configuration = complex_symmetric(tmp_path)
    with pytest.raises(InputError, match="use solver cocg, preconditioner jacobi, deflation none") as caught:
        prepare(configuration)
    assert "complex symmetric, not Hermitian" in str(caught.value)
    mended = changed(configuration, caught.value.changes)
    assert conflicts(mended, lambda chosen: assembled(chosen).operator) == []
    session = Session(mended)
    assert session.wait().converged


def test_what_the_solver_reads_of_a_file_follows_the_solver(tmp_path):
    mended = changed(complex_symmetric(tmp_path), {"solver": "cocg"})
    found = conflicts(mended, lambda chosen: assembled(chosen).operator)
    assert changes_of(found) == {"preconditioner": "jacobi", "deflation": "none"}


def test_a_cycle_on_the_matrix_of_a_file_is_refused_once_its_size_is_known(tmp_path):
    for size, changes in ((120, {}), (121, {"preconditioner": "neumann:2"})):
        path = tmp_path / f"{size}.mtx"
        io.mmwrite(path, sparse.diags_array([2.0 + np.arange(size)], offsets=[0]).tocoo(), symmetry="symmetric")
        chosen = configure("matrix-file", path=str(path), solver="pr-cg", preconditioner="kcycle")
        assert changes_of(conflicts(chosen, lambda chosen: assembled(chosen).operator)) == changes


SIDES = {2: (4, 8, 11, 16), 3: (4, 6, 8)}
"""Cells per side of small problems, by dimensions."""
SET = {"largest", "bottom", "count", "steps"}
"""Parameters of which a setup may need fewer or more than are known before."""


def drawn(kind, rng):
    """A block with some of its parameters drawn."""
    cls = lookup(kind, rng.choice([name for name in registered(kind) if name not in ("matrix-file", "suitesparse")]))
    parameters = [at for at in cls.parameters() if at.name not in SET and rng.random() < 0.3]
    return cls.create({at.name: value for at in parameters if (value := drawn_value(at, rng)) is not None})


def drawn_value(parameter, rng):
    low = parameter.low if parameter.low is not None else 0.1 + (parameter.above or 0)
    high = parameter.high if parameter.high is not None and math.isfinite(parameter.high) else low + 10
    if parameter.choices:
        return rng.choice(parameter.choices)
    if parameter.kind is int:
        return rng.randint(int(low), int(min(high, low + 12)))
    return {bool: rng.random() < 0.5, float: rng.uniform(low, high)}.get(parameter.kind)


def random_configuration(rng):
    """One on a small system; None where a block refuses its parameters."""
    try:
        problem = drawn("problem", rng)
        sides = len(problem.grid or ())
        largest = {at.name: at.high for at in problem.parameters()}.get("n")
        problem = problem.changed({"n": rng.choice([*SIDES[sides], largest])} if sides else {"of": "bcsstk15"})
        return configure(
            problem,
            **{kind: drawn(kind, rng) if kind != "deflation" or rng.random() < 0.6 else "none" for kind in BLOCKS},
            device=rng.choice([name for name in devices.names() if name != "auto"]),
            rhs=rng.choice(["problem"] * 3 + ["ones", "ones-scaled", "random", "random:3", "sources:3", "phases"]),
            x0=rng.choice(["problem", "zero", "random"]),
            precision=rng.choice(["float64", "float64", "mixed"]),
            format=rng.choice([GIVEN_FORM] * 24 + [*FORMATS, "csr:1", "csr:8", "csr:256"]),
            az=rng.choice([*AZ_FORMS, COMPACT, COMPACT]),
            stopping={"norm": rng.choice(["residual"] * 3 + ["preconditioned", "natural", "error"])},
        )
    except InputError:
        return None


@pytest.mark.parametrize("seed", range(3))
def test_what_a_form_lets_through_starts_and_what_it_refuses_is_refused_by_the_setup(seed, monkeypatch):
    # So that the largest systems fit on no machine.
    monkeypatch.setattr(limits, "memory", lambda: (2**34, 2**25))
    rng, counted = random.Random(seed), [0, 0]
    while sum(counted) < 120:
        if (configuration := random_configuration(rng)) is None:
            continue
        found = conflicts(configuration)
        try:
            prepare(configuration)
            refusal = ""
        except InputError as error:
            refusal = str(error)
        assert bool(found) == bool(refusal), (configuration, refusal)
        mended = changed(configuration, changes_of(found))
        if found and changes_of(found) and math.prod(mended.problem.grid or (1,)) < 10_000:
            prepare(mended)
        counted[bool(found)] += 1
    assert min(counted) >= 8


def test_a_matrix_file_without_a_path_cannot_run():
    (conflict,) = conflicts(configure("matrix-file"))
    assert "needs a path" in conflict.sentence
    assert conflict.fields == ("problem.path",)


def test_a_page_allows_no_more_unknowns_than_its_server(tmp_path, monkeypatch):
    monkeypatch.setenv(MOST_UNKNOWNS, "10000")
    assert conflicts(configure("bubbles-2d", n=100)) == []
    for problem, fitting in (("bubbles-2d", 100), ("poisson27", 21)):
        (found,) = conflicts(configure(problem, n=128))
        assert found.changes == {"problem.n": fitting}
        assert found.reason.endswith("may have 10\u202f000 on pages of this server")
        with pytest.raises(InputError, match=f"; use n {fitting}$"):
            prepare(configure(problem, n=128))
    # The size of a file is known once it is read.
    io.mmwrite(tmp_path / "large.mtx", sparse.eye(10_001, format="csr"), symmetry="symmetric")
    with pytest.raises(InputError, match="this problem has 10\u202f001 unknowns .*; take a smaller one$"):
        prepare(configure(str(tmp_path / "large.mtx")))
    for text in ("many", "0", "-1", "1e6", "١"):
        with pytest.raises(InputError, match="must be a count above 0, got "):
            limits.page_unknowns(text)
