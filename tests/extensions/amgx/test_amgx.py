"""The AmgX adapter, tested with a mock of pyamgx that refuses what aborts a process, and with pyamgx if installed."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from scipy import sparse

from tests.conftest import grid_stencil, in_threads, random_matrix
from tests.extensions.amgx.amgx_stand_in import StandIn, Thing
from tests.waiting import LIMIT
from workbench import devices
from workbench.errors import InputError
from workbench.extensions.amgx import library as amgx
from workbench.preconditioners.pinned import pin_unknowns, project_out
from workbench.registry import blocks as registry
from workbench.run import Run, Stopping, configure, race, run_through, solve

METHODS = ("classical", "aggregation")


@pytest.fixture
def stand_in(monkeypatch):
    """The adapter as in a new process, with the stand-in; at the end everything is destroyed in the right order."""
    module, library = StandIn(), amgx.Library()
    monkeypatch.setitem(sys.modules, "pyamgx", module)
    monkeypatch.setattr(amgx, "LIBRARY", library)
    yield module
    library.shut_down()
    assert not module.aborts
    assert not module.living
    assert module.calls.count("initialize") <= 1


@pytest.fixture(params=["stand-in", "real"])
def pyamgx(request):
    """The stand-in, and the real library, which lives as long as this process."""
    if request.param == "stand-in":
        return request.getfixturevalue("stand_in")
    if not amgx.installed():
        pytest.skip("pyamgx is not installed")
    return __import__("pyamgx")


def cycle(method="classical"):
    return registry.find("preconditioner", f"amgx:{method}").configuration()


def made(size=20, seed=0):
    operator = random_matrix(size, seed=seed)
    return amgx.AmgxSolver(cycle(), sparse.csr_array(operator.to_csr()))


@pytest.mark.parametrize("method", METHODS)
def test_one_cycle_is_symmetric_positive_definite(pyamgx, method):
    operator = grid_stencil((9, 11))
    b = np.random.default_rng(0).random(99)
    result = solve(operator, b, M=f"amgx:{method}", rtol=1e-10)
    assert result.converged, result.detail
    np.testing.assert_allclose(operator.to_csr() @ result.x, b, atol=1e-8)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("problem", "n"), [("bubbles-3d", 8), ("bubbles-3d", 17), ("bubbles-3d", 24), ("bubbles-2d", 33)]
)
def test_cg_converges_on_singular_problems(pyamgx, problem, n, method):
    """The stand-in's sweep would do without; the direct solve on the real one's coarsest grid would not."""
    chosen = configure(problem, {"n": n}, preconditioner=f"amgx:{method}", stopping=Stopping(rtol=1e-10))
    result = run_through(Run(chosen))
    assert result.converged, result.detail
    assert result.true_relative_residual <= 1e-10
    assert any("pins 1 of its unknowns" in note for note in result.provenance["notes"])


@pytest.mark.parametrize("problem", [("two-layer", {"n": 33}), ("bubbles-3d", {"n": 9})])
def test_iterations_on_an_accelerator_equal_those_on_the_cpu(pyamgx, accelerator, problem):
    if isinstance(pyamgx, StandIn) and amgx.takes_addresses(accelerator):
        pytest.skip("the stand-in cannot read CUDA's memory")
    name, parameters = problem
    found = []
    for device in ("cpu", accelerator.spec):
        chosen = configure(name, parameters, preconditioner="amgx", device=device, stopping=Stopping(rtol=1e-10))
        found.append(run_through(Run(chosen)))
        assert found[-1].converged, found[-1].detail
    assert abs(found[0].iterations - found[1].iterations) <= 1
    np.testing.assert_allclose(found[1].x, found[0].x, atol=1e-8 * np.abs(found[0].x).max())


class InMemory:
    """What an address stands for: a vector of a device."""

    def __init__(self, runtime, handle):
        self.runtime, self.handle = runtime, handle

    def read(self, size):
        values = np.empty(size)
        self.runtime.download(self.handle, values)
        return values

    def write(self, values):
        self.runtime.upload(self.handle, values)


@pytest.mark.parametrize("problem", [("two-layer", {"n": 33}), ("bubbles-3d", {"n": 9})])
def test_device_pointers_and_host_copies_agree_bitwise(stand_in, accelerator, monkeypatch, problem):
    """An OpenCL device stands in for CUDA where there is none: its vectors get addresses that the stand-in knows."""
    runtime = accelerator.runtime
    if not hasattr(runtime, "address"):

        def address(handle):
            stand_in.memory[id(handle)] = InMemory(runtime, handle)
            return id(handle)

        monkeypatch.setattr(runtime, "number", 0, raising=False)
        monkeypatch.setattr(runtime, "address", address, raising=False)
        monkeypatch.setattr(runtime, "alone", threading.Lock, raising=False)
        monkeypatch.setattr(runtime, "synchronize_all", runtime.synchronize, raising=False)
    else:
        pytest.skip("the stand-in cannot read CUDA's memory; the test with the real library does")
    _same_bits(accelerator, problem)


@pytest.mark.skipif(not amgx.installed(), reason="pyamgx is not installed")
@pytest.mark.parametrize("problem", [("two-layer", {"n": 100}), ("bubbles-3d", {"n": 33})])
@pytest.mark.parametrize("method", METHODS)
def test_cuda_pointers_and_host_copies_agree_bitwise(problem, method):
    try:
        device = devices.device("cuda")
    except InputError as error:
        pytest.skip(str(error))
    _same_bits(device, problem, method)


def _same_bits(device, problem, method="classical"):
    name, parameters = problem
    operator = configure(name, parameters).problem.assemble().operator
    regular, pins, null = pin_unknowns(sparse.csr_array(operator.to_csr()))
    solver = amgx.AmgxSolver(cycle(method), regular)
    assert amgx.takes_addresses(device)
    r = np.random.default_rng(0).standard_normal(solver.size)
    there, u = device.array(r, np.float64), device.zeros(solver.size, np.float64)
    dots = amgx.Cycle(solver, device).apply(there, u, "xy", "yy", "xx")
    by_host = solver.solve(r)
    assert np.array_equal(device.to_host(u), by_host)
    assert np.array_equal(device.to_host(there), r)
    np.testing.assert_allclose(dots.to_host(), [r @ by_host, by_host @ by_host, r @ r], rtol=1e-12)
    if pins:
        amgx.Cycle(solver, device, null).apply(there, u)
        expected = project_out(solver.solve, null)(r)
        np.testing.assert_allclose(device.to_host(u), expected, atol=1e-12 * np.abs(expected).max())
        assert np.array_equal(device.to_host(there), r)


def test_amgx_pcg_uses_the_same_cycle(stand_in):
    amgx.AmgxSolver(amgx.own_pcg(cycle(), 1e-6, 99), random_matrix(20).to_csr())
    given = stand_in.configurations[-1]["solver"]
    assert given["solver"] == "PCG"
    assert given["preconditioner"] == cycle()["solver"]
    assert (given["tolerance"], given["max_iters"]) == (1e-6, 99)


def test_amgx_pcg_converges(pyamgx):
    operator = grid_stencil((20, 21))
    solver = amgx.AmgxSolver(amgx.own_pcg(cycle(), 1e-8, 99), sparse.csr_array(operator.to_csr()))
    b = np.ones(420)
    x = solver.solve(b)
    assert solver.iterations >= 1
    if not isinstance(pyamgx, StandIn):
        assert np.linalg.norm(b - operator.to_csr() @ x) <= 1e-7 * np.linalg.norm(b)


def test_one_resources_object_is_shared_and_destroyed_last(stand_in):
    kept, closed, dropped = made(), made(seed=1), made(seed=2)
    closed.close()
    closed.close()
    with pytest.raises(InputError, match="was closed"):
        closed.solve(np.ones(20))
    del dropped
    gc.collect()
    assert np.isfinite(kept.solve(np.ones(20))).all()
    amgx.LIBRARY.shut_down()
    assert stand_in.calls.count("Resources.create_simple") == 1
    assert stand_in.calls[-3:] == ["Resources.destroy", "Config.destroy", "finalize"]
    destroyed = [call for call in stand_in.calls if call.endswith("destroy")]
    assert destroyed[:5] == [f"{name}.destroy" for name in ("Solver", "Vector", "Vector", "Matrix", "Config")]
    assert len(destroyed) == 3 * 5 + 2
    with pytest.raises(InputError, match="was closed|was shut down"):
        kept.solve(np.ones(20))
    with pytest.raises(InputError, match="was shut down, or failed to start, and cannot be started again"):
        made()


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_solvers_are_destroyed_in_any_order(pyamgx, order):
    matrices = [random_matrix(30 + k, seed=k).to_csr() for k in range(3)]
    solvers = [amgx.AmgxSolver(cycle(), sparse.csr_array(matrix)) for matrix in matrices]
    for place in order:
        for solver in solvers:
            if solver is not None:
                assert np.isfinite(solver.solve(np.ones(solver.size))).all()
        solvers[place] = None
        gc.collect()


def test_threads_create_use_and_drop_solvers_concurrently(pyamgx):
    operators = [grid_stencil((7 + k, 9)) for k in range(4)]

    def work(k):
        for _ in range(3):
            b = np.ones(operators[k].shape[0])
            result = solve(operators[k], b, M="amgx", rtol=1e-10)
            assert np.linalg.norm(b - operators[k].to_csr() @ result.x) < 1e-8

    in_threads(4, work)


def test_a_solver_dropped_during_a_call_is_destroyed_by_the_calling_thread(stand_in, monkeypatch):
    """Its finalizer must not wait: it may run in a thread that holds a lock which the other one is waiting for."""
    inside, go_on = threading.Event(), threading.Event()
    plain = Thing.solve

    def slow(self, *arguments, **options):
        inside.set()
        assert go_on.wait(LIMIT)
        plain(self, *arguments, **options)

    working, dropped = made(), made(seed=1)
    monkeypatch.setattr(Thing, "solve", slow)
    thread = threading.Thread(target=working.solve, args=(np.ones(20),))
    thread.start()
    assert inside.wait(LIMIT)
    before = len(stand_in.living)
    del dropped
    gc.collect()
    assert len(stand_in.living) == before
    go_on.set()
    thread.join()
    assert len(stand_in.living) == before - 5


def test_races_and_repeated_runs_share_the_library(pyamgx):
    entries = [
        configure("poisson5", {"n": 20}, preconditioner=f"amgx:{method}", stopping=Stopping(rtol=1e-8))
        for method in METHODS
    ]
    for _ in range(2):
        assert all(result.converged for result in race(entries))


@pytest.mark.parametrize(
    ("of", "method", "error", "sentence"),
    [
        (Thing, "setup", "out of memory", "out of memory; use preconditioner amg"),
        (Thing, "solve", "CUDA failure", "AmgX failed in a solve: CUDA failure"),
        (StandIn, "initialize", "no CUDA device", "AmgX did not start: no CUDA device.*is there an NVIDIA GPU"),
        (Thing, "create_simple", "out of memory", "AmgX did not start: out of memory"),
    ],
)
def test_a_failure_is_one_sentence_and_releases_everything(stand_in, monkeypatch, of, method, error, sentence):
    def fail(*_, **__):
        raise RuntimeError(error)

    monkeypatch.setattr(of, method, fail)
    with pytest.raises(InputError, match=sentence):
        solve(random_matrix(20), np.ones(20), M="amgx")
    if method == "setup":
        assert sorted(thing.name for thing in stand_in.living) == ["Config", "Resources"]
    if method == "create_simple":
        with pytest.raises(InputError, match="cannot be started again"):
            made()
        # The process ends without AmgX's leave.
        stand_in.living.clear()


@pytest.mark.usefixtures("stand_in")
def test_other_dtypes_are_refused():
    with pytest.raises(InputError, match="double precision, got complex128"):
        solve(random_matrix(20, np.complex128), np.ones(20), M="amgx")
    with pytest.raises(InputError, match="float64 matrices, got float32"):
        amgx.AmgxSolver({}, sparse.csr_array(sparse.eye_array(3, dtype=np.float32)))


def test_a_missing_pyamgx_raises_an_install_hint(monkeypatch):
    monkeypatch.setattr(amgx, "LIBRARY", amgx.Library())
    monkeypatch.setitem(sys.modules, "pyamgx", None)
    assert not amgx.installed()
    with pytest.raises(InputError, match="workbench doctor"):
        solve(random_matrix(20), np.ones(20), M="amgx")


FORKED = """
import gc, multiprocessing, warnings
import numpy as np
from scipy import sparse
from workbench.extensions.amgx import library as amgx
from workbench.errors import InputError
from workbench.extensions.amgx.preconditioner import Amgx
# Python warns of the threads that kernels and CUDA have.
warnings.simplefilter("ignore", DeprecationWarning)
A = sparse.csr_array(sparse.eye_array(20) * 2.0)
solver = amgx.AmgxSolver(Amgx().configuration(), A)
def child():
    global solver
    for work in (lambda: solver.solve(np.ones(20)), lambda: amgx.AmgxSolver(Amgx().configuration(), A)):
        try:
            work()
        except InputError as sentence:
            print(sentence, flush=True)
    del solver
    gc.collect()
process = multiprocessing.get_context("fork").Process(target=child)
process.start()
process.join()
assert process.exitcode == 0
assert np.isfinite(solver.solve(np.ones(20))).all()
"""
STAND_IN_FIRST = """
import sys
from tests.extensions.amgx.amgx_stand_in import StandIn
sys.modules["pyamgx"] = StandIn()
"""


def in_a_process(pyamgx, text):
    """Run lines in a Python of their own, with what this test runs with as pyamgx."""
    text = STAND_IN_FIRST + text if isinstance(pyamgx, StandIn) else text
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_gets_an_error_and_destroys_nothing(pyamgx):
    done = in_a_process(pyamgx, FORKED)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("no CUDA context survives a fork") == 2
    assert not done.stderr


def test_the_command_line_prints_only_json(pyamgx):
    command = "from workbench.cli import main\nimport sys\nsys.exit(main(sys.argv[1:]))\n"
    arguments = ["solve", "bubbles-3d", "--n", "9", "--preconditioner", "amgx", "--rtol", "1e-8", "--json"]
    done = in_a_process(pyamgx, command.replace("sys.argv[1:]", repr(arguments)))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["converged"]
    assert not done.stderr
