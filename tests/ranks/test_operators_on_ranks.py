"""What runs on ranks gives the counts and the x of one process: stencils, matrices, levels, block vectors."""

from __future__ import annotations

import functools
import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.ranks.compared import CASES, LARGER, ON_ACCELERATORS
from tests.waiting import LIMIT
from workbench.deflation.slab_subspace import redundant
from workbench.errors import InputError
from workbench.run.configuration import configure
from workbench.run.on_ranks import check_ranks
from workbench.run.ranks.launcher import environment, mpiexec

SCRIPT = Path(__file__).with_name("compared.py")


def _missing() -> str:
    """What the ranks need and this machine lacks."""
    if importlib.util.find_spec("mpi4py") is None:
        return "mpi4py is not installed"
    try:
        mpiexec(2)
    except InputError as error:
        return str(error)
    return ""


pytestmark = pytest.mark.skipif(bool(_missing()), reason=_missing())


@functools.cache
def found(ranks: int) -> dict[str, dict]:
    """The comparisons of all cases, made in one group of processes."""
    with tempfile.TemporaryDirectory() as folder:
        command = [mpiexec(ranks), "-n", str(ranks), sys.executable, "-m", "mpi4py", str(SCRIPT), folder]
        env = environment() | {"NUMBA_NUM_THREADS": "1"}
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {line.pop("case"): line for line in lines}


@pytest.mark.parametrize(
    ("ranks", "case"),
    [
        pytest.param(ranks, case, marks=[pytest.mark.slow] if ranks == 4 else [])
        for ranks, cases in CASES.items()
        for case in cases
    ],
)
def test_counts_and_x_are_those_of_one_process(ranks, case):
    if case in ON_ACCELERATORS:
        pytest.importorskip("pyopencl")
    one = found(ranks)[case]
    assert "refused" not in one, one
    assert one["kernels"] in ([], ["FaceSweep", "BoxesOfSlab", "ResidualOfSlab", "Accelerator"])
    assert abs(one["iterations"][0] - one["iterations"][1]) <= 1
    assert one["iterations"][0] > 2
    assert one["reasons"][0] == one["reasons"][1]
    assert one["reasons"][0].startswith("converged")
    assert one["error"] <= 1e-8
    assert one["entries"][0] == one["entries"][1]
    if case.startswith(("graph", "poisson27", "stand-in")):
        assert max(one["bytes"]) <= 1.2 / ranks * one["whole"]


@pytest.mark.parametrize("case", LARGER)
def test_memory_of_a_rank_is_at_most_half_more_than_its_share(case):
    one = found(2)[case]
    assert max(one["ranks"]) <= 1.5 * one["alone"] / 2


def test_many_deflation_vectors_on_ranks_are_noted():
    assert redundant(10_000, 4) == ()
    assert "each of the 4 ranks has all of E and solves with it: 20000 deflation vectors" in redundant(20_000, 4)[0]


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"preconditioner": "ssor"}, "preconditioner ssor does not run on ranks; use .*jacobi"),
        ({"preconditioner": "ic"}, "preconditioner ic does not run on ranks"),
        ({"format": "ell"}, "format ell does not run on ranks, .*; use problem"),
        ({"device": "opencl"}, "rows of a matrix on device cpu alone, got opencl"),
        ({"ranks": 12}, "a rank needs a plane of the grid, and 11 planes on 12 ranks leave 0; use at most 11 ranks"),
    ],
)
def test_what_matrices_on_ranks_refuse(choices, sentence):
    with pytest.raises(InputError, match=sentence):
        check_ranks(configure("poisson27", n=11, **{"ranks": 2, **choices}))
