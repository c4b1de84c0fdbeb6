"""Rules across choices: all that are broken are said before a run, with changes that mend them together."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import io, sparse

from workbench import devices
from workbench.errors import InputError
from workbench.registry import registered
from workbench.run import Session, configure
from workbench.run.conflicts import Conflict, changed, changes_of, conflicts, in_words
from workbench.run.setup import assembled, prepare

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
    preconditioners = [name for name in registered("preconditioner") if name != "sum"]
    kinds = preconditioners, ("none", "levelset:4"), ("auto", "a-def2"), devices.names()
    for preconditioner, deflation, variant, device in itertools.product(*kinds):
        configuration = configure(
            "bubbles-2d",
            n=16,
            solver=solver,
            preconditioner=preconditioner,
            deflation=deflation,
            variant=variant,
            device=device,
        )
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
