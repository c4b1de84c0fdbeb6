"""Kernels on disk and in threads: a second start compiles nothing, the GIL is free, results do not depend on threads.

What concerns starts runs in processes of its own, each with a cache folder of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from scipy import sparse

from tests.conftest import in_threads
from workbench.devices.cpu import Cpu
from workbench.jit import compiled, threads
from workbench.jit.threads import CHUNK, MOST_CHUNKS, WORTH_SHARING

ATTEMPTS = 40
"""Kernels at most, until the other thread has been seen often enough: a busy machine gives it few turns in each."""
# Every kind of kernel: passes with and without a sweep, stencil, halves, CSR, CSR terms, subdomains, compact AZ,
# columns, and a product that restricts.
EVERYTHING = """
import hashlib, json, sys
import numpy as np
from scipy import sparse
from workbench.devices.cpu import Cpu
from workbench.jit import compiler

size = int(sys.argv[1])
digest = hashlib.sha256()
rng = np.random.default_rng(0)

def keep(*values):
    # A product without sums returns None.
    for value in filter(lambda value: value is not None, values):
        digest.update(np.ascontiguousarray(value).tobytes())

asked, ask = [], compiler.compile_elsewhere
compiler.compile_elsewhere = lambda text: asked.append(text) or ask(text)
cpu = Cpu()
x, y, low, main, out = (rng.uniform(0.5, 1, size) for _ in range(5))
update = cpu.lines("a = b/2\\nx = x + a*y\\ng = (x, y)\\nc = 1/g\\ny = y - c*x\\nh = (y, y)")
keep(*update(x=x, y=y, b=0.75).values(), x, y)
keep(cpu.stencil(main, (low,), (1,)).apply(x, out), out)
keep(cpu.stencil_series((0.5*low,), (1,), main, 2).apply(x, out), out)
matrix = sparse.csr_array(sparse.diags_array([low[7:], main, low[:-1]], offsets=[-7, 0, 1]))
keep(cpu.csr(matrix.data, matrix.indices, matrix.indptr).apply(x, out), out)
for term in cpu.csr_terms(sparse.csr_array(sparse.tril(matrix, k=-1)), main):
    keep(term.apply(x, y, out, y), out)
labels = np.arange(size) * 7 // size
subdomains = cpu.subdomains(labels, 7, x.dtype)
coarse = subdomains.restrict(x)
subdomains.add(y, coarse)
az = sparse.csr_array((rng.uniform(-1, 1, size), (np.arange(size), labels)), shape=(size, 7))
cpu.compact_columns(az).subtract(y, coarse)
columns = cpu.columns(np.stack([x, y]))
columns.add(out, columns.restrict(x))
keep(coarse, y, out)
product = cpu.restricted_product(cpu.stencil(main, (low,), (1,)), subdomains)
keep(*product.apply(x, out), out)
keep(product.residual(y, x, None), subdomains.add_paired(out, coarse, x), out)
print(json.dumps({"compiled": sum(isinstance(text, tuple) for text in asked), "digest": digest.hexdigest()}))
"""


def start(cache, *arguments, script=EVERYTHING, **variables):
    """Run a script in a process of its own; what its last line says."""
    environment = os.environ | {"WORKBENCH_CACHE": str(cache)} | {k: str(v) for k, v in variables.items()}
    finished = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout.splitlines()[-1])


def files_under(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A cache folder that one start on one core has filled; with what that start said."""
    folder = tmp_path_factory.mktemp("cache")
    return folder, start(folder, WORTH_SHARING + 5, WORKBENCH_THREADS=1)


def test_the_first_start_compiles(cache):
    folder, first = cache
    assert first["compiled"] > 0
    assert list((folder / "machine-code").glob("*.kernel"))


def test_a_second_start_compiles_nothing_and_writes_nothing(cache):
    folder, first = cache
    before = files_under(folder)
    second = start(folder, WORTH_SHARING + 5, WORKBENCH_THREADS=1)
    assert second["compiled"] == 0
    assert second == first | {"compiled": 0}
    assert files_under(folder) == before


def test_results_do_not_depend_on_the_number_of_threads(cache):
    folder, one = cache
    several = start(folder, WORTH_SHARING + 5, WORKBENCH_THREADS=3)
    assert several["digest"] == one["digest"]
    assert several["compiled"] == 0


def test_a_cache_folder_that_cannot_be_made_has_a_substitute(tmp_path):
    # Root may write anywhere, but not below a file.
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    script = (
        "import json, numpy as np\n"
        "from workbench.devices.cpu import Cpu\n"
        "x = np.arange(4.0)\n"
        "print(json.dumps(Cpu().lines('x = 3*x\\ng = (x, x)')(x=x) | {'x': x.tolist()}))"
    )
    found = start(blocked, script=script, TMPDIR=tmp_path)
    assert found == {"g": 9 * 14.0, "x": [0.0, 3.0, 6.0, 9.0]}
    assert list(tmp_path.glob("cg-workbench-*/*.kernel"))
    assert blocked.read_text() == "in the way"


def test_one_text_is_one_function():
    body = "def kernel(a):\n    return 3*a\n"
    first = compiled.generated(body)
    assert compiled.generated(body) is first
    other = compiled.generated(body.replace("3", "4"))
    assert other is not first


def test_programs_that_differ_in_names_alone_share_their_kernels(monkeypatch):
    made, bind = set(), threads.prepare
    monkeypatch.setattr(threads, "prepare", lambda kernel, *given: made.add(kernel) or bind(kernel, *given))
    for names in ("axyg", "tprs", "zuvw"):
        a, x, y, g = names
        # Scalars of other places in the workspace too: two more lines before those that are alike.
        before = "q = 2\nk = q/4\n" if names == "zuvw" else ""
        found = Cpu().lines(f"{before}{x} = {x} + {a}*{y}\n{g} = ({x}, {x})")(
            **{x: np.arange(5.0), y: np.ones(5), a: 2}
        )
        assert found[g] == 90.0
    assert len(made) == 2


@pytest.mark.usefixtures("frequent_switches")
def test_threads_that_ask_for_one_new_kernel_all_get_it():
    for attempt in range(30):
        body = f"def kernel(a):\n    return a + {attempt}\n"
        found = [None] * 4

        def ask(k, body=body, found=found):
            found[k] = compiled.generated(body)

        in_threads(4, ask)
        assert len(set(found)) == 1
        assert found[0].source.text == body


SQUARES = "x = x + a*y\ng = (x, x)\nz = x/g\nh = (z, x)"


def check_squares(update, k, size):
    """One call with data that tells thread k's result from all others."""
    x, y, z = np.full(size, k + 1.0), np.full(size, 2.0), np.empty(size)
    found = update(x=x, y=y, z=z, a=k)
    assert (x == 3 * k + 1).all()
    assert abs(found["g"] - size * (3 * k + 1) ** 2) < 1e-9 * found["g"]
    assert abs(found["h"] - 1) < 1e-9


@pytest.mark.usefixtures("frequent_switches")
@pytest.mark.parametrize("size", [1000, WORTH_SHARING + 1])
def test_one_program_called_from_several_threads(size):
    update = Cpu().lines(SQUARES)

    def work(k):
        for _ in range(60):
            check_squares(update, k, size)

    in_threads(4, work)


@pytest.mark.usefixtures("frequent_switches")
def test_kernels_of_different_size_in_several_threads():
    cpu = Cpu()
    sizes = (1000, WORTH_SHARING + 1, CHUNK, 2 * WORTH_SHARING)

    def work(k):
        size = sizes[k]
        update = cpu.lines(SQUARES)
        low = np.ones(size)
        low[0] = 0
        stencil = cpu.stencil(np.full(size, 3.0), (low,), (1,))
        x, out = np.full(size, k + 1.0), np.empty(size)
        labels = np.arange(size) * 5 // size
        subdomains = cpu.subdomains(labels, 5, x.dtype)
        matrix = sparse.csr_array(sparse.eye_array(size))
        product = cpu.csr(matrix.data, matrix.indices, matrix.indptr)
        for _ in range(20):
            check_squares(update, k, size)
            dots = stencil.apply(x, out)
            assert (out[1:-1] == 5 * x[1:-1]).all()
            assert dots[2] == size * (k + 1) ** 2
            assert (subdomains.restrict(x) == (k + 1) * np.bincount(labels)).all()
            assert product.apply(x, out)[0] == size * (k + 1) ** 2

    in_threads(4, work)


def test_a_kernel_leaves_the_gil_to_other_threads():
    # About 30 square roots and quotients an element, so that a kernel takes much longer than a switch between threads.
    update = Cpu().lines("\n".join(["x = sqrt(1 + x)/(2 + x)"] * 30))
    size = 1 << 19
    update(x=np.ones(size))
    seconds, middle = 0.0, []
    # Held, the GIL would let the other thread in before each kernel and after it, never in its middle.
    for _ in range(ATTEMPTS):
        size *= 1 if seconds >= 0.2 else 2
        x = np.ones(size)
        ticks, done = [], threading.Event()

        def tick(ticks=ticks, done=done):
            while not done.is_set():
                ticks.append(time.perf_counter())
                time.sleep(0.002)

        other = threading.Thread(target=tick)
        other.start()
        begun = time.perf_counter()
        update(x=x)
        ended = time.perf_counter()
        done.set()
        other.join()
        seconds = ended - begun
        if seconds >= 0.2:
            middle += [moment for moment in ticks if begun + seconds / 4 < moment < ended - seconds / 4]
        if len(middle) >= 5:
            break
    assert len(middle) >= 5


def test_the_number_of_chunks_depends_on_the_size_alone():
    sizes = (1, CHUNK - 1, CHUNK, 2 * CHUNK - 1, 2 * CHUNK, CHUNK * MOST_CHUNKS, 10**9)
    assert [threads.chunks_of(size) for size in sizes] == [1, 1, 1, 1, 2, MOST_CHUNKS, MOST_CHUNKS]


def test_small_work_runs_on_one_core():
    seen = np.zeros(1, np.int64)
    kernel = compiled.generated("def kernel(turns, seen):\n    seen[0] = turns.shape[0]\n")
    for size, cores in ((WORTH_SHARING - 1, 1), (WORTH_SHARING, threads.cores()), (1, 1)):
        threads.launch(size, kernel, seen)
        assert seen[0] == cores
