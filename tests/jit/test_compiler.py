"""Kernels that the disk does not have: compiled by a process of their own, or here where there can be none."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import psutil
import pytest

from workbench.compiler.kinds import KernelError
from workbench.jit import compile_time as compiling
from workbench.jit import compiled, compiler, launching, linking, pool, store
from workbench.jit.threads import WORTH_SHARING, launch
from workbench.jit.work_stealing import counters

_texts = iter(range(10**6))


def new_kernel():
    """A kernel that no test before this one has compiled: x[k] = x[k] + number."""
    number = 1000 * os.getpid() + next(_texts)
    body = "def kernel(turns, x):\n    for lane in threads(turns):\n        for k in shared(turns, lane, x.size):\n"
    return compiled.generated(body + f"            x[k] += {number}\n"), number


def check(kernel, number):
    for size in (WORTH_SHARING - 1, WORTH_SHARING):
        x = np.zeros(50)
        launch(size, kernel, x)
        assert (x == number).all()


@pytest.fixture
def asked(monkeypatch):
    """What was asked of the other process, as futures."""
    futures, ask = [], compiler.compile_elsewhere
    monkeypatch.setattr(compiler, "compile_elsewhere", lambda *kernel: futures.append(ask(*kernel)) or futures[-1])
    return futures


@pytest.fixture
def here(monkeypatch):
    """How many kernels this process compiled itself."""
    made, compile_here = [], compiled.Kernel.compile_here
    monkeypatch.setattr(compiled.Kernel, "compile_here", lambda *one: made.append(one) or compile_here(*one))
    return made


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    # What all kernels share is stored elsewhere.
    for shared in (launching, pool):
        shared.linked(linking.linker())
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))


def test_the_process_starts_before_the_first_request_where_nothing_is_stored(monkeypatch, here, tmp_path):
    monkeypatch.setattr(compiler, "running", None)
    store.write("a1" * 32, b"code of another kernel")
    compiler.start_if_nothing_is_stored()
    assert compiler.running is None
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "empty"))
    compiler.start_if_nothing_is_stored()
    process = compiler.running
    compiler.start_if_nothing_is_stored()
    check(*new_kernel())
    assert compiler.running is process is not None
    assert not here
    process.end()


def test_a_process_that_cannot_start_early_is_no_error(monkeypatch):
    monkeypatch.setattr(compiler, "running", None)
    monkeypatch.setattr(compiler.subprocess, "Popen", refuse)
    compiler.start_if_nothing_is_stored()
    assert compiler.running is None


def test_kernels_are_compiled_elsewhere_side_by_side_and_kept(asked, here, tmp_path):
    kernels = [new_kernel() for _ in range(3)]
    for kernel, _ in kernels:
        compiled_kinds = compiled.kinds_of((counters(1), np.zeros(1)))
        kernel.prepare(compiled_kinds)
    assert len(asked) == 3
    for kernel, number in kernels:
        check(kernel, number)
    assert not here
    assert len(list(tmp_path.glob("machine-code/*.kernel"))) == 3
    assert not list(tmp_path.rglob("*.tmp"))


def refuse(*_, **__):
    raise OSError("no processes here")


@pytest.mark.parametrize("way", ["no name of Python", "no process", "no thread"])
def test_where_no_process_can_be_started_kernels_are_compiled_here(monkeypatch, here, way):
    if compiler.running is not None:
        compiler.running.end()
    monkeypatch.setattr(compiler, "running", None)
    if way == "no name of Python":
        monkeypatch.setattr(sys, "executable", "")
    elif way == "no process":
        monkeypatch.setattr(compiler.subprocess, "Popen", refuse)
    else:
        monkeypatch.setattr(
            compiler.threading.Thread, "start", lambda _: (_ for _ in ()).throw(RuntimeError("no more"))
        )
    kernel, number = new_kernel()
    check(kernel, number)
    assert here


def test_a_process_that_was_killed_is_started_again(here):
    check(*new_kernel())
    before = compiler.running.process.pid
    compiler.running.process.kill()
    check(*new_kernel())
    assert compiler.running.process.pid != before
    assert not here


def test_a_process_that_has_just_ended_is_replaced_by_another(monkeypatch, here):
    class Ended:
        alive = True

        def ask(self, *_):
            self.alive = False
            raise BrokenPipeError

    monkeypatch.setattr(compiler, "running", Ended())
    check(*new_kernel())
    assert compiler.running.alive
    assert not here
    compiler.running.end()


def test_where_a_process_cannot_be_forked_kernels_are_compiled_one_by_one(monkeypatch, here):
    monkeypatch.setattr(compiler, "running", None)
    without = "compile_server.FORKS, compile_server.MOST_HERE = False, 2\ncompile_server.serve()"
    monkeypatch.setattr(compiler, "START", compiler.START.replace("compile_server.serve()", without))
    for _ in range(5):
        check(*new_kernel())
    assert not here
    compiler.running.end()


def test_no_process_is_started_while_the_interpreter_ends(monkeypatch, here):
    monkeypatch.setattr(compiler, "_ending", True)
    check(*new_kernel())
    assert here


def test_a_kernel_that_cannot_be_read_is_refused_where_it_is_asked_for():
    wrong = compiled.generated("def kernel(turns, x):\n    x.nope()\n")
    kinds = compiled.kinds_of((counters(1), np.zeros(1)))
    for _ in range(2):
        with pytest.raises(KernelError, match="nope"):
            wrong.prepare(kinds)
    compiled.settle()


def test_code_that_cannot_be_linked_is_compiled_again(here):
    kernel, number = new_kernel()
    kinds = compiled.kinds_of((counters(1), np.zeros(1)))
    # Its checksum is right, as if another version had written it.
    store.write(kernel.key(kinds), b"no machine code")
    check(kernel, number)
    assert not here


def test_waiting_is_reported(monkeypatch):
    monkeypatch.setattr(compiling, "PATIENCE", 0.001)
    heard = []
    with compiling.listening(heard.append):
        check(*new_kernel())
    assert heard.pop() is None
    assert heard
    assert heard == sorted(heard)
    assert compiling.seconds() is None
    count = len(heard)
    check(*new_kernel())
    assert len(heard) == count


PARENT = """
import os, sys
import numpy as np
from workbench.jit import compiled, compiler
kernel = compiled.generated(compiled.WARM_UP)
kernel.prepare(compiled.kinds_of((np.zeros((1, 16), np.int64), np.zeros(1))))
print(compiler.running.process.pid, flush=True)
{end}
"""


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), 9)", "sys.exit()", "os._exit(0)"])
def test_the_compiling_process_ends_with_its_parent(end):
    parent = subprocess.run(
        [sys.executable, "-c", PARENT.format(end=end)], stdout=subprocess.PIPE, text=True, timeout=120, check=False
    )
    try:
        child = psutil.Process(int(parent.stdout))
        gone, _ = psutil.wait_procs([child, *child.children()], timeout=120)
        assert gone
    except psutil.NoSuchProcess:
        pass


SOLVES = """
import sys
open(sys.argv[1] if len(sys.argv) > 1 else {out!r}, "a").write("main ran\\n")
import numpy as np
from workbench.devices.cpu import Cpu
from workbench.jit import compiled
compiled.Kernel.compile_here = None
x = np.arange(4.0)
found = Cpu().lines("x = 3*x\\ng = (x, x)")(x=x)
open({out!r}, "a").write(str(found))
"""
EXPECTED = "main ran\n" + str({"g": 126.0})


@pytest.mark.parametrize("way", ["standard input", "a script with nothing open", "a daemon"])
def test_how_the_parent_was_started_does_not_matter(tmp_path, way):
    out = tmp_path / "out"
    script = tmp_path / "script.py"
    script.write_text(SOLVES.format(out=str(out)))
    if way == "standard input":
        subprocess.run([sys.executable, "-"], input=script.read_text(), text=True, timeout=250, check=True)
    elif way == "a daemon":
        spawn = (
            "import multiprocessing, runpy\n"
            "process = multiprocessing.get_context('fork').Process(target=runpy.run_path, "
            f"args=({str(script)!r},), daemon=True)\n"
            "process.start()\nprocess.join()"
        )
        subprocess.run([sys.executable, "-c", spawn], timeout=250, check=True)
    else:
        command = [sys.executable, str(script)]
        subprocess.run(["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', *command], timeout=250, check=True)
    assert out.read_text() == EXPECTED


FORKED = """
import os, sys
import numpy as np
from workbench.devices.cpu import Cpu
size = 1 << 18
def solve():
    x, y = np.arange(size, dtype=float), np.ones(size)
    return Cpu().lines("x = x + a*y\\ng = (x, y)")(x=x, y=y, a=2)["g"], x[-1]
def new():
    return Cpu().lines("z = z - 7*y\\nh = (z, z)")(z=np.zeros(size), y=np.ones(size))["h"]
first = solve()
process = os.fork()
if process == 0:
    os._exit(0 if solve() == first and new() == 49.0*size else 3)
assert os.waitpid(process, 0)[1] == 0
assert solve() == first
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_forked_process_solves_after_its_parent_did():
    environment = os.environ | {"WORKBENCH_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", FORKED], env=environment, timeout=250, stderr=subprocess.PIPE, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("name", "value"), [("WORKBENCH_THREADS", "0"), ("WORKBENCH_THREADS", "1025"), ("NUMBA_NUM_THREADS", "many")]
)
def test_an_environment_in_which_nothing_can_run_is_refused_in_a_sentence(name, value):
    command = [sys.executable, "-m", "workbench.cli", "solve", "poisson5", "--n", "8"]
    done = subprocess.run(
        command, env=os.environ | {name: value}, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.splitlines()[-1].startswith(f"workbench: {name}")
    assert "Traceback" not in done.stderr


MANY = """
import psutil
import numpy as np
from workbench.devices.cpu import Cpu
process, before = psutil.Process(), None
for k in range(16):
    lines = "\\n".join(f"x = x + {k}*y" if k >> bit & 1 else f"y = y - {bit}*x" for bit in range(6))
    x, y = np.ones(100), np.ones(100)
    Cpu().lines(lines + "\\ng = (x, y)")(x=x, y=y)
    before = before or process.memory_info().rss
print((process.memory_info().rss - before) / 15e6)
"""


# Compiles 16 kernels, in a process of its own.
@pytest.mark.slow
def test_a_kernel_adds_little_to_the_memory_of_a_process_that_had_it_compiled():
    done = subprocess.run([sys.executable, "-c", MANY], stdout=subprocess.PIPE, text=True, timeout=280, check=True)
    # Compiled in the process itself they took 1.5 MB each; vectors and Python's own objects are in it too.
    assert float(done.stdout) < 0.4
