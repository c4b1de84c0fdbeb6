"""On a CUDA device: recorded iterations and those of one persistent kernel are those of separate launches."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from tests.conftest import grid_stencil
from workbench import devices
from workbench.errors import InputError
from workbench.problems import LinearSystem
from workbench.run import Run, Stopping, configure, run_through
from workbench.run.choices.in_memory import InMemoryProblem


@pytest.fixture(scope="module")
def cuda():
    try:
        return devices.device("cuda")
    except InputError as sentence:
        pytest.skip(str(sentence))


@pytest.fixture(params=[False, True], ids=["recorded", "persistent"])
def persist(request, cuda):
    cuda.runtime.persist = request.param
    yield request.param
    cuda.runtime.persist = None


@pytest.mark.parametrize("n", [33, 257])
@pytest.mark.parametrize(
    "levels", [("jacobi", "none"), ("neumann:2", "none"), ("neumann:2", "stripes"), ("fsai", "none")]
)
def test_all_paths_give_the_same_iterations(persist, levels, n):
    choices = {"preconditioner": levels[0], "deflation": levels[1], "device": "cuda"}
    plain, other = (
        run_through(Run(configure("two-layer", {"n": n}, **choices, stopping=Stopping(rtol=1e-8, check_every=every))))
        for every in (1, 7)
    )
    assert plain.converged
    assert other.converged
    assert abs(plain.iterations - other.iterations) <= 1 + plain.iterations // 100
    assert np.linalg.norm(plain.x - other.x) < 1e-8 * np.linalg.norm(plain.x)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_all_paths_compute_in_every_precision(persist, dtype):
    system = LinearSystem(grid_stencil((31, 43), dtype), np.random.default_rng(1).random(31 * 43).astype(dtype))
    stopping = Stopping(rtol=1e-5, check_every=4)
    host, found = (
        run_through(Run(configure(InMemoryProblem(), device=name, stopping=stopping), system))
        for name in ("cpu", "cuda")
    )
    assert found.converged
    assert abs(found.iterations - host.iterations) <= 1
    np.testing.assert_allclose(found.x, host.x, rtol=1e-3)


@pytest.mark.parametrize(
    "levels", [("two-layer", "jacobi", "none"), ("bubbles-3d", "neumann:2", "levelset:8")], ids=["one", "two"]
)
def test_a_gpu_without_cooperative_launch_takes_kernels_one_by_one(cuda, monkeypatch, levels):
    problem, preconditioner, deflation = levels
    choices = {"preconditioner": preconditioner, "deflation": deflation, "device": "cuda"}
    configuration = configure(problem, {"n": 32}, **choices, stopping=Stopping(rtol=1e-8, check_every=7))
    together = run_through(Run(configuration))
    monkeypatch.setattr(cuda.runtime, "_cooperates", False)
    monkeypatch.setattr(cuda.runtime, "multiprocessors", 0)
    apart = run_through(Run(configuration))
    assert apart.converged
    assert abs(apart.iterations - together.iterations) <= 1
    np.testing.assert_allclose(apart.x, together.x, atol=1e-7 * abs(together.x).max())


def test_two_processes_share_a_gpu(cuda):
    choices = "bubbles-3d --n 48 --preconditioner neumann:2 --deflation levelset:12 --device cuda --json"
    command = [sys.executable, "-m", "workbench.cli", "solve", *choices.split()]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = [json.loads(process.communicate(timeout=100)[0]) for process in both]
    assert all(answer["converged"] for answer in answers)
    assert answers[0]["iterations"] == answers[1]["iterations"]


def test_a_thousand_solves_keep_memory_flat(cuda):
    import cupy  # pyright: ignore[reportMissingImports]

    pool, used = cupy.get_default_memory_pool(), []
    configuration = configure("two-layer", {"n": 24}, preconditioner="neumann:2", deflation="stripes", device="cuda")
    system = configuration.problem.assemble()
    for count in range(1000):
        run_through(Run(configuration, system))
        if count in (99, 999):
            used.append(pool.used_bytes())
    assert used[1] <= used[0]
