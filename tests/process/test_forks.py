"""Forked processes: no lock that a thread of the parent held is waited for."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import workbench
from tests.waiting import LIMIT
from workbench.errors import InputError
from workbench.process.forks import WorkLock

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")

WITHIN_A_SOLVE = """
import os, sys, threading
import numpy as np
from workbench.errors import InputError
from workbench import devices
from workbench.run import Run, configure, prepare

parsing = sys.modules["workbench.lines.parse"]

configuration = configure("poisson5", n=20)
prepared, idle, run = prepare(configuration), prepare(configuration), Run(configuration)
begun, over = threading.Event(), threading.Event()
expected = prepared.solve(prepared.system.b).iterations

def hold():
    with parsing._filters, devices._making, run._at_work:
        held.set()
        over.wait()

def work():
    prepared.solve(prepared.system.b, stopped=lambda: begun.set() or over.wait() and False)

held = threading.Event()
threads = [threading.Thread(target=each) for each in (work, hold)]
threads[0].start()
begun.wait()
threads[1].start()
held.wait()
process = os.fork()
if process == 0:
    refused = []
    for use in (lambda: prepared.solve(prepared.system.b), run.step, lambda: prepared.product(prepared.system.b)):
        try:
            use()
        except InputError as error:
            refused.append("when this process was forked" in str(error))
    same = [each.solve(each.system.b).iterations for each in (idle, prepare(configuration))]
    devices.device("cpu"), parsing.parse("x = x + 17*p")
    os._exit(0 if refused == [True] * 3 and same == [expected] * 2 else 3)
over.set()
for thread in threads:
    thread.join()
assert os.waitpid(process, 0)[1] == 0
assert prepared.solve(prepared.system.b).iterations == expected
"""


def test_a_process_that_is_forked_within_a_solve_is_told_so_and_solves_with_other_systems():
    done = subprocess.run(
        [sys.executable, "-c", WITHIN_A_SOLVE], timeout=LIMIT, stderr=subprocess.PIPE, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_thread_that_forks_goes_on_with_its_work():
    lock, other = WorkLock("refused"), WorkLock()
    with lock:
        thread = threading.Thread(target=other.acquire)
        thread.start()
        thread.join()
        process = os.fork()
        if process == 0:
            lock.release()
            os._exit(0 if all(each.acquire(blocking=False) for each in (lock, other)) else 3)
        assert os.waitpid(process, 0)[1] == 0
    lock.forked()
    assert lock.acquire(blocking=False)
    lock.worker = 0
    lock.forked()
    with pytest.raises(InputError, match="refused"):
        lock.acquire()


WHILE_A_KERNEL_COMPILES = """
import os, threading, time
import numpy as np
from workbench.jit import compiled, compiler, store
from workbench.jit.threads import launch

store.read, store.write = lambda key: None, lambda key, code: None

def in_this_process(text):
    coming = compiler.Future()
    coming.set_result(b"")
    return coming

def slowly(text, made=compiled.object_file):
    begun.set()
    time.sleep(0.3)
    code = made(text)
    done.append(code)
    return code

compiler.compile_elsewhere, compiled.object_file = in_this_process, slowly
begun, done = threading.Event(), []

def add(number):
    x = np.zeros(3)
    launch(1, compiled.generated(f"def kernel(taken, x):\\n    x[1] = {number}\\n"), x)
    return x[1] == number

thread = threading.Thread(target=add, args=(1,))
thread.start()
begun.wait()
process = os.fork()
if process == 0:
    os._exit(0 if len(done) == 1 and add(1) and add(2) else 3)
thread.join()
assert os.waitpid(process, 0)[1] == 0 and add(3)
"""


def test_a_process_is_forked_when_no_kernel_is_being_compiled_in_it():
    done = subprocess.run(
        [sys.executable, "-c", WHILE_A_KERNEL_COMPILES], timeout=LIMIT, stderr=subprocess.PIPE, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


OWN = r"process/forks|jit/|run/machine_use"
"""Modules that make locks of their own anew in a forked process."""
OTHER = r"extensions/|run/jobs/(job|races|repeats|run_queue|session|thread_job|pausable_job)|live/|plots/figures/"
"""Those of jobs and pages, whose threads do not exist there, and of processes at work together."""
LIBRARIES = r"devices/(accelerator/launcher|cuda/guard|opencl/runtime)"
"""Those of libraries that do not survive a fork."""


def test_every_lock_of_a_solve_on_the_cores_is_free_in_a_forked_process():
    root = Path(workbench.__file__).parent
    left = {
        name
        for path in root.rglob("*.py")
        if re.search(r"= (threading\.)?R?Lock\(\)", path.read_text(encoding="utf-8"))
        and not re.match(f"{OWN}|{OTHER}|{LIBRARIES}", name := path.relative_to(root).as_posix())
    }
    assert not left
