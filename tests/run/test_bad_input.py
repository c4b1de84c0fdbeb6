"""Choices that cannot work are refused in one sentence, on the cores and on accelerators, and leave nothing behind."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from scipy import sparse

from tests.waiting import LIMIT
from workbench import devices
from workbench.errors import InputError
from workbench.operators import BandStencil
from workbench.problems import LinearSystem
from workbench.process import limits
from workbench.registry import find
from workbench.run import Run, Session, configure
from workbench.run.choices.memory_need import Where, way_out

BUBBLES = {"n": 40, "sides": "z-:dirichlet"}
REFUSED = {
    "more boxes than cells": ({"deflation": "levelset:50"}, "50 parts per side need as many cells, but a side has 40"),
    "blocks thinner than a cell": ({"deflation": "blocks:41"}, "41 parts per side .* use at most 40"),
    "too many for an inverse": (
        {"deflation": "blocks:22", "coarse": "inverse"},
        r"10648 deflation vectors takes 1.81 GB and is limited to 8192 vectors; use coarse solver auto",
    ),
    "too many for a dense factor": (
        {"deflation": "blocks:22", "coarse": "dense-cholesky"},
        r"10648 deflation vectors takes 0.907 GB and is limited to 8192 vectors; use coarse solver auto",
    ),
    **{
        f"{variant} with cycles": (
            {"deflation": "levelset:10", "coarse": "multilevel", "variant": variant},
            f"variant {variant} needs E solved to rounding, and coarse solver multilevel solves that of .* vectors "
            "approximately: the true residual would stop at 10 to 40 times its accuracy; use variant a-def2 or bnn",
        )
        for variant in ("def1", "def2", "a-def1")
    },
}


@pytest.mark.parametrize("case", REFUSED)
def test_choices_that_cannot_work_are_refused_on_the_cores(case):
    choices, sentence = REFUSED[case]
    with pytest.raises(InputError, match=sentence):
        Run(configure("bubbles-3d", **BUBBLES, **choices))


@pytest.mark.parametrize("case", ["more boxes than cells", "too many for an inverse", "def1 with cycles"])
def test_choices_that_cannot_work_are_refused_on_accelerators(accelerator, case):
    choices, sentence = REFUSED[case]
    gc.collect()
    before = accelerator.budget.allocated
    with pytest.raises(InputError, match=sentence):
        Run(configure("bubbles-3d", **BUBBLES, **choices, device=accelerator.spec))
    gc.collect()
    # A device keeps the sums of its dot products.
    assert accelerator.budget.allocated <= before + 10_000


@pytest.mark.parametrize(
    ("name", "takes"),
    [("inverse", "the explicit inverse of 500 .* 0.004 GB"), ("dense-cholesky", "the dense .* of 500 .* 0.002 GB")],
)
def test_dense_matrices_larger_than_memory_are_refused(monkeypatch, name, takes):
    monkeypatch.setattr(limits, "memory", lambda: (2**40, 10**6))
    matrix = sparse.csr_array(2 * np.eye(500) - np.eye(500, k=1) - np.eye(500, k=-1))
    with pytest.raises(InputError, match=f"{takes}, and 0.001 GB are free; use coarse solver auto"):
        find("coarse", name).factor(matrix)


@pytest.mark.parametrize("name", ["bubbles-2d", "bubbles-3d"])
@pytest.mark.parametrize("n", [8, 9, 33])
def test_the_largest_bubble_leaves_a_surrounding_phase(name, n):
    """A bubble that touches all sides leaves the corners, so that each phase has cells."""
    middle = ",".join(["0.5"] * int(name[-2]))
    system = find("problem", name, n=n, layout="list", bubbles=f"{middle},0.5").assemble()
    assert sorted(np.unique(system.phase)) == [0, 1]


def made_or_refused(configuration):
    """The run, or the sentence by which it is refused."""
    try:
        return Run(configuration), ""
    except InputError as error:
        return None, str(error)


def converges(run):
    while run.step():
        pass
    return run.reason.converged


LIMITS = [1, 10**4, 10**6, 3 * 10**6, 5 * 10**6, 6 * 10**6, 7 * 10**6, 8 * 10**6, 10**7, 2 * 10**7, 10**8]


def test_device_memory_that_ends_in_the_setup_is_a_sentence(accelerator):
    """At every limit a run works or is refused with the limit; what was allocated is dropped."""
    choices = {"n": 40, "preconditioner": "neumann:2", "deflation": "levelset:10", "device": accelerator.spec}
    worked = []
    for limit in LIMITS:
        configuration = configure("bubbles-3d", **choices, memory_limit=limit)
        run, refusal = made_or_refused(configuration)
        if run is None:
            assert "may use" in refusal
            assert "MB are needed; " in refusal
            continue
        assert converges(run)
        assert run.setup.device.budget.used <= limit
        worked.append(limit)
    assert worked == [limit for limit in LIMITS if limit >= min(worked)]
    assert worked != LIMITS


def test_a_driver_without_memory_is_a_sentence(monkeypatch):
    """The driver's own error, at each of the first allocations of a setup; the next run works."""
    cl = pytest.importorskip("pyopencl")
    try:
        devices.device("opencl")
    except InputError as error:
        pytest.skip(str(error))
    configuration = configure("bubbles-3d", n=16, deflation="levelset:4", preconditioner="neumann:2", device="opencl")
    real = cl.Buffer
    for allowed in range(0, 40, 7):
        made = []

        def buffer(*arguments, allowed=allowed, made=made, **more):
            made.append(1)
            if len(made) > allowed:
                raise cl.MemoryError("clCreateBuffer failed: MEM_OBJECT_ALLOCATION_FAILURE")
            return real(*arguments, **more)

        with monkeypatch.context() as patched:
            patched.setattr(cl, "Buffer", buffer)
            with pytest.raises(InputError, match=r"device opencl \(.*\) is out of memory; take a smaller problem"):
                Run(configuration)
    assert converges(Run(configuration))


def test_a_host_without_memory_is_a_sentence(monkeypatch):
    problem = find("problem", "bubbles-3d", n=16)

    def assemble(*_):
        raise MemoryError

    monkeypatch.setattr(type(problem), "assemble", assemble)
    with pytest.raises(InputError, match="there is not enough memory; take a smaller problem"):
        Session(configure(problem)).wait(LIMIT)


def test_a_problem_larger_than_the_machine_is_refused_with_what_fits(monkeypatch):
    monkeypatch.setattr(limits, "memory", lambda: (1_000_000_000, 100_000_000))
    with pytest.raises(
        InputError, match=r"bubbles-3d:256 needs .* of 0.1 GB free: vectors of the run .*; use n 64, which fits"
    ):
        Run(configure("bubbles-3d", n=256, preconditioner="neumann:2", deflation="levelset:64"))


@pytest.mark.parametrize("first", ["jacobi", "ssor", "neumann:2", "chebyshev", "mg"])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_a_zero_on_the_diagonal_is_named(first, dtype):
    main = np.full(64, 4, dtype)
    main[37] = 0
    west = np.full(64, -1, dtype)
    west[::8] = 0
    south = np.full(64, -1, dtype)
    south[:8] = 0
    operator = BandStencil((8, 8), main, (west, south))
    with pytest.raises(InputError, match="diagonal entry 37 of A is 0.*use preconditioner none"):
        configure("poisson5", preconditioner=first).preconditioner.setup(operator, devices.device("cpu"))


def test_phases_below_zero_are_refused():
    with pytest.raises(InputError, match="phases are numbered from 0, got -1"):
        LinearSystem(BandStencil((2,), np.full(2, 2.0), (np.zeros(2),)), np.ones(2), phase=np.array([-1, 0]))


def test_precision_mixed_is_not_advised_where_it_is_refused():
    need = configure("bubbles-3d", n=64, deflation="levelset:8", variant="def1", coarse="cholesky")
    assert "precision mixed" not in way_out(need, 10_000_000, Where.CORES, host=True).words
    allowed = configure("bubbles-3d", n=64, deflation="levelset:8", variant="a-def2", coarse="cholesky")
    assert "precision mixed" in way_out(allowed, 21_000_000, Where.CORES, host=True).words
