"""Threads of kernels: each number runs once, however many there are, whoever launches, and however the process ends.

What concerns the number of threads runs in processes of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.jit import environment, pool, threads
from workbench.jit.compiled import generated
from workbench.jit.threads import WORTH_SHARING, launch
from workbench.jit.work_stealing import counters

COUNTS = """
def kernel(taken, begun, chunks, ended):
    for thread in threads(taken):
        begun[thread] += 1
        for chunk in shared(taken, thread, chunks.size):
            chunks[chunk] += 1
    ended[0] += 1
"""
CHECKED = f"""
import os, signal, sys, threading
import numpy as np
from workbench.jit import pool
from workbench.jit.compiled import generated
from workbench.jit.threads import WORTH_SHARING, cores, launch

kernel = generated({COUNTS!r})
begun, chunks, ended = np.zeros(cores(), np.int64), np.zeros(3 * cores() + 1, np.int64), np.zeros(1, np.int64)

def launches(count):
    for _ in range(count):
        launch(WORTH_SHARING, kernel, begun, chunks, ended)

def check(count):
    for each in (begun, chunks, ended):
        assert (each == count).all(), (each, count)
"""
MANY = """
assert cores() == int(sys.argv[1])
launches(1)
assert pool.threads == cores()
launches(int(sys.argv[2]) - 1)
check(int(sys.argv[2]))
"""
SEVERAL = """
others = [threading.Thread(target=launches, args=(2000,)) for _ in range(4)]
for each in others:
    each.start()
for each in others:
    each.join()
check(8000)
"""
FORKED = """
launches(1)
others = [threading.Thread(target=launches, args=(4000,)) for _ in range(2)]
for each in others:
    each.start()
children = []
for _ in range(8):
    child = os.fork()
    if child == 0:
        # Another thread of the parent may have been in a launch.
        begun[:], chunks[:], ended[:] = 0, 0, 0
        launches(20)
        assert (chunks == 20).all() and ended[0] == 20 and list(begun) == [20, 0, 0]
        os._exit(0)
    children.append(child)
    launches(10)
for each in others:
    each.join()
assert [os.waitpid(child, 0)[1] for child in children] == [0] * 8
check(8081)
"""
FORKED_BEFORE = """
child = os.fork()
launches(50)
check(50)
assert pool.threads == cores()
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
INTERRUPTED = """
class Interrupt(Exception):
    pass

def interrupt(*_):
    raise Interrupt

launches(1)
signal.signal(signal.SIGALRM, interrupt)
for _ in range(50):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.002)
        launches(10**9)
    except Interrupt:
        check(ended[0])
launches(1)
check(ended[0])
"""
OWN_NUMBERS = """
import ctypes
meeting, found = threading.Barrier(cores()), []

@ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)
def meet(number, words):
    meeting.wait()
    found.append((number, threading.get_ident()))

launches(1)
run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(pool.entry.value)
for _ in range(30):
    run(ctypes.cast(meet, ctypes.c_void_p), None, cores())
assert len(found) == 30 * cores()
assert len(set(found)) == cores(), set(found)
"""
ENDED_WHILE_BUSY = """
started = threading.Event()

def without_end():
    launches(1)
    started.set()
    launches(10**9)

threading.Thread(target=without_end, daemon=True).start()
started.wait()
"""


def run(script, count, *arguments, **options):
    """Run a script in a process with a number of threads; it ends by itself and says nothing."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", CHECKED + script, str(count), *arguments],
        env=os.environ | {"WORKBENCH_THREADS": str(count)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **options,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("count", "launches"), [(1, 100), (2, 100_000), (3, 1000), (8, 5000)])
def test_each_number_of_each_launch_runs_once_on_more_threads_than_cores_too(count, launches):
    run(MANY, count, str(launches))


def test_a_thread_takes_its_own_number_first():
    """The rows of its share may still be in its core's cache."""
    run(OWN_NUMBERS, 4)


def test_several_threads_launch():
    run(SEVERAL, 3)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_process_that_is_forked_in_the_middle_of_launches_has_one_thread():
    run(FORKED, 3)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_process_that_is_forked_before_the_first_launch_has_all_threads():
    run(FORKED_BEFORE, 2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="signals of POSIX")
def test_an_interrupted_launch_is_made_whole_or_not_at_all():
    run(INTERRUPTED, 3)


def test_a_process_ends_while_a_thread_launches():
    run(ENDED_WHILE_BUSY, 3)


def test_where_no_thread_can_be_started_the_one_that_launches_does_everything(monkeypatch):
    def refused(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(pool._thread, "start_new_thread", refused)
    monkeypatch.setattr(threads, "_all", counters(pool.threads + 3))
    monkeypatch.setattr(pool, "threads", pool.threads)
    begun, chunks, ended = np.zeros(len(threads._all), np.int64), np.zeros(100, np.int64), np.zeros(1, np.int64)
    for _ in range(3):
        launch(WORTH_SHARING, generated(COUNTS), begun, chunks, ended)
    assert (begun == 3).all()
    assert (chunks == 3).all()
    assert ended[0] == 3


@pytest.mark.parametrize(
    ("variables", "found"),
    [
        (("3", ""), (3, "WORKBENCH_THREADS")),
        (("3", "5"), (3, "WORKBENCH_THREADS")),
        (("", "5"), (5, "NUMBA_NUM_THREADS")),
        ((" 1 ", "many"), (1, "WORKBENCH_THREADS")),
    ],
)
def test_the_environment_says_how_many_threads_there_are(monkeypatch, variables, found):
    for name, value in zip(environment.VARIABLES, variables, strict=True):
        monkeypatch.setenv(name, value)
    assert environment.threads() == environment.Threads(*found)


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "all", "1025", "²"])
def test_another_number_of_threads_is_refused(monkeypatch, value):
    monkeypatch.setenv("WORKBENCH_THREADS", value)
    with pytest.raises(InputError, match=f"WORKBENCH_THREADS is '{value}', and must be a number .* from 1 to 1024"):
        environment.threads()


def test_without_variables_threads_are_the_processors_that_this_process_may_use(monkeypatch):
    for name in environment.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 4, 7}, raising=False)
    assert environment.threads() == environment.Threads(3, "")
