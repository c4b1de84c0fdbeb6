"""Shared fixtures: small systems with known answers, and where the real test matrices lie."""

from __future__ import annotations

import gc
import importlib.util
import io
import os
import sys
import tarfile
import threading
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from scipy import sparse

from scripts.run_tests import is_optimized
from workbench import devices
from workbench.deflation import PiecewiseConstant, Projection
from workbench.devices.opencl import runtime
from workbench.errors import InputError
from workbench.operators import BandStencil, Matrix, Stencil
from workbench.registry import blocks as registry

if TYPE_CHECKING:
    from types import ModuleType

    from pyopencl import Context, Device, Program

# How long an example takes says nothing on a machine that does other work beside the tests.
settings.register_profile("beside other work", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("beside other work")


@pytest.fixture(scope="session", autouse=True)
def _counted_alone(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Solves of tests that run in parallel are not noted in each other's results."""
    os.environ["WORKBENCH_RUNTIME"] = str(tmp_path_factory.mktemp("runtime"))


@pytest.fixture(scope="session")
def real_matrices() -> Path:
    """The folder of real matrices with reference iteration counts: WORKBENCH_MATRICES, or ../shared/matrices."""
    folder = Path(os.environ.get("WORKBENCH_MATRICES", Path(__file__).parents[2] / "shared" / "matrices"))
    if not folder.is_dir():
        pytest.skip(f"the real matrices are not at {folder}; set WORKBENCH_MATRICES")
    return folder


DTYPES = ("float32", "float64", "complex64", "complex128")
SIDE_BY_SIDE = "opencl:side-by-side"
"""The same OpenCL device with its work cut as on a GPU, groups of several work-items that share rows and sums, and
recorded as there."""
UNOPTIMIZED = "-cl-opt-disable"
CUDA = ("cuda",) if importlib.util.find_spec("cupy") else ()
"""Where there is no CuPy, a thousand tests more would be collected to be skipped."""
IN_BOTH_LAYOUTS = ("contracts", "devices", "kernel_language")
"""Folders of what is compiled for a device: there both layouts are always tested, elsewhere the second one is slow."""


def pytest_report_header() -> list[str]:
    return [] if CUDA else ["without CuPy nothing is tested on device cuda"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what runs once more in the second layout without being a test of kernels, or asking for it."""
    for item in items:
        choices = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
        folder = item.path.relative_to(Path(__file__).parent).parts[0]
        asked = any(marker.args[0] == "accelerator" for marker in item.iter_markers("parametrize"))
        if folder not in IN_BOTH_LAYOUTS and not asked and SIDE_BY_SIDE in map(choices.get, ("accelerator", "device")):
            item.add_marker(pytest.mark.slow)


YOUNG = 20_000
"""Objects made since the last look for garbage, at which Python looks again; its default is 700."""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without looking for garbage: what is collected stays, and is looked through again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Compile without optimization in a process that has no test of what OpenCL's compiler makes of kernels, and in
    others without asking for binaries, for which PoCL compiles each kernel once more, for groups of any size.

    Look for garbage among what tests make, not among thousands of collected tests, which takes half a second; and
    seldom, since a test makes few objects that only the collector frees, and tests of what is freed call it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, 10, 10)
    if any(is_optimized(item.path) for item in session.items):
        runtime.built = _built
    else:
        runtime.PROCESSOR_FLAGS = (*runtime.PROCESSOR_FLAGS, UNOPTIMIZED)


def _built(cl: ModuleType, context: Context, device: Device, text: str, flags: Sequence[str]) -> Program:
    """The program of a source, which PoCL stores itself. In place of `built`, which has tests of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cl.Program(context, text).build(list(flags))


@pytest.fixture
def frequent_switches() -> Iterator[None]:
    """Threads take turns every microsecond."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def brief_measurements(monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine is measured in milliseconds."""
    from tests.brief_measurements import BRIEF

    for owner, name, value in BRIEF:
        monkeypatch.setattr(owner, name, value)


FEW_FIRST_LEVELS = ("jacobi", "neumann:1", "neumann:2", "neumann:3", "ic", "mic", "mg")


@pytest.fixture
def brief_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """The advisor tries few first levels, stops slow solves soon, and repeats the fastest for a moment only."""
    from workbench.advise import level_pairs, measuring

    monkeypatch.setattr(level_pairs, "FIRST_LEVELS", FEW_FIRST_LEVELS)
    monkeypatch.setattr(measuring, "MIN_SECONDS", 0.005)
    monkeypatch.setattr(measuring, "BUDGET", 0.1)


@pytest.fixture(scope="session")
def scheduler() -> Iterator[str]:
    """The address of a Dask scheduler on this machine with three workers, which take some seconds to start."""
    from workbench.extensions.dask.local_workers import LocalWorkers

    distributed = pytest.importorskip("distributed")
    made = LocalWorkers(distributed, 3)
    with distributed.Client(made.address, set_as_default=False) as client:
        made.wait_for(client)
    yield made.address
    made.close()


@pytest.fixture(scope="session", params=["opencl", SIDE_BY_SIDE, *CUDA])
def accelerator(request):
    """Every accelerator of this machine; `devices.device(accelerator.spec)` is the same one."""
    return _device(request.param)


@pytest.fixture(scope="session", params=["cpu", "opencl", SIDE_BY_SIDE, *CUDA])
def device(request):
    """The cores and every accelerator of this machine; `devices.device(device.spec)` is the same one."""
    return _device(request.param)


def _device(spec):
    try:
        if spec == SIDE_BY_SIDE and SIDE_BY_SIDE not in devices.made:
            devices.made[SIDE_BY_SIDE] = side_by_side()
        made = devices.device(spec)
    except InputError as error:
        pytest.skip(str(error))
    made.spec = spec
    return made


def side_by_side():
    from tests.device_graphs import RecordingOpenCL
    from workbench.devices.accelerator.device import Accelerator
    from workbench.devices.kernels.prelude import Layout
    from workbench.devices.opencl import choose

    made = RecordingOpenCL(choose(), Layout("opencl", 64, 32, chunked=False, least=64, groups=40))
    # It stands for a GPU, on which another compiler optimizes; PoCL's optimization takes most of the time of a test.
    made.flags = (*made.flags, UNOPTIMIZED)
    return Accelerator(made)


def tar_gz(members: Mapping[str, bytes | str]) -> bytes:
    """An archive of files, by name."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, content in members.items():
            packed = content if isinstance(content, bytes) else content.encode()
            info = tarfile.TarInfo(name)
            info.size = len(packed)
            archive.addfile(info, io.BytesIO(packed))
    return stream.getvalue()


def random_values(shape, dtype, seed: int | np.random.Generator = 0) -> np.ndarray:
    """Numbers between -1 and 1, of a complex dtype the imaginary parts too."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(-1, 1, shape)
    return (values + 1j * rng.uniform(-1, 1, shape) if np.dtype(dtype).kind == "c" else values).astype(dtype)


def refusal(call: Callable[..., object], /, *given: Any, **more: Any) -> str:
    """The sentence by which a call is refused."""
    with pytest.raises(InputError) as caught:
        call(*given, **more)
    return str(caught.value)


def in_threads(count: int, work: Callable[[int], object]) -> None:
    """Call work(k) for k < count in threads that begin together; raises what one of them raises."""
    together, failures = threading.Barrier(count), list[BaseException]()

    def run(k: int) -> None:
        together.wait()
        try:
            work(k)
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for failure in failures:
        raise failure


def relative_residual(A: np.ndarray | sparse.sparray, b: np.ndarray, x: np.ndarray) -> float:
    """||b - A x||/||b|| in extended precision, where squares of doubles do not underflow."""
    dense = A.toarray() if sparse.issparse(A) else A
    A, b, x = (values.astype(np.clongdouble) for values in (dense, b, x))
    return float(np.sqrt(np.sum(np.abs(b - A @ x) ** 2) / np.sum(np.abs(b) ** 2)))


def grid_stencil(grid: tuple[int, ...], dtype: type = np.float64, seed: int = 0, shift: float = 0.1) -> Stencil:
    """A random diagonally dominant stencil on a box, complex Hermitian for a complex dtype."""
    rng = np.random.default_rng(seed)
    lower = []
    for axis in range(len(grid)):
        low = -(0.1 + rng.random(grid)).astype(dtype)
        if np.dtype(dtype).kind == "c":
            low = (low * np.exp(1j * rng.random(grid))).astype(dtype)
        np.moveaxis(low, -1 - axis, 0)[0] = 0
        lower.append(low.ravel())
    sizes = grid[::-1]
    main = np.full(int(np.prod(grid)), float(shift))
    for axis, low in enumerate(lower):
        stride = int(np.prod(sizes[:axis]))
        main += np.abs(low)
        main[: main.size - stride] += np.abs(low[stride:])
    return BandStencil(grid, main.astype(dtype), tuple(lower))


def projection_of(operator, space, coarse="cholesky", device=None) -> Projection:
    """The projection of an operator. space: labels, or a subspace; coarse: a name; device: by default the cores."""
    device = device or devices.device("cpu")
    subspace = PiecewiseConstant(space) if isinstance(space, np.ndarray) else space
    return Projection(operator, operator.bind(device), subspace, registry.find("coarse", coarse), device)


def random_matrix(size: int, dtype: type = np.float64, seed: int = 0) -> Matrix:
    """A sparse Hermitian diagonally dominant matrix without a grid."""
    rng = np.random.default_rng(seed)
    half = sparse.random_array((size, size), density=min(1.0, 6 / size), rng=rng, dtype=np.float64).tocsr()
    if np.dtype(dtype).kind == "c":
        half = half * np.exp(1j * rng.random())
    whole = half + half.conj().T
    dominance = 2 * np.asarray(abs(whole).sum(axis=1)).max() + 0.1 + rng.random(size)
    return Matrix(sparse.csr_array(whole + sparse.diags_array(dominance)).astype(dtype))
