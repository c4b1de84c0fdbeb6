"""Subdomain solves on the workers of a Dask cluster: the same iterations, lost workers, refusals, and no leftovers."""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import psutil
import pytest

import workbench
from tests.extensions.dask.faults import hang_and_be_missed, kill_during, process_of, watched_clusters
from tests.waiting import until
from workbench.cli import main
from workbench.errors import DeviceError, InputError
from workbench.extensions.dask import silent_loggers, workers
from workbench.extensions.dask.local_workers import LocalWorkers
from workbench.extensions.dask.workers import Workers
from workbench.registry import extensions
from workbench.run import Configuration, Run, Stopping, configure, run_through
from workbench.run.choices.share_link import from_link, load_configuration, save_configuration, to_link
from workbench.run.choices.stopping import Reason
from workbench.run.jobs.sweeping import sweep

distributed = pytest.importorskip("distributed")
ROOT = Path(__file__).parents[3]
BOXES = "schwarz:3x3,overlap=4"


def configuration(
    cluster: str | None = None, n: int = 40, solver: str = "mpcg", M: str = BOXES, **more
) -> Configuration:
    return configure("poisson-fd", n=n, solver=solver, preconditioner=M, cluster=cluster, **more)


def alive(pids: list[int]) -> list[int]:
    """Those that run for ever."""
    with contextlib.suppress(AssertionError):
        until(lambda: not any(map(running, pids)))
    return [pid for pid in pids if running(pid)]


def running(pid: int) -> bool:
    # A process may end between two looks at it.
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


def solved(*options: str, capfd) -> dict:
    """What `workbench solve --json` prints; nothing else may be printed."""
    command = ["solve", "poisson-fd", "--n", "100", "--solver", "mpcg", "--preconditioner", BOXES, "--json", *options]
    assert main(command) == 0
    printed = capfd.readouterr()
    # On a machine without compiled kernels the command says that it compiles them.
    assert [line for line in printed.err.splitlines() if "compiling kernels" not in line] == []
    return json.loads(printed.out)


def test_the_command_needs_the_same_iterations_as_without_a_cluster(capfd):
    expected, found = solved(capfd=capfd), solved("--cluster", "local:2", capfd=capfd)
    assert found["iterations"] == expected["iterations"]
    np.testing.assert_allclose(found["residual_history"], expected["residual_history"], rtol=1e-6)
    assert found["notes"][0] == "schwarz: 9 boxes are solved by 2 workers of cluster local:2"
    assert found["notes"][1].startswith("cluster local:2: in the median of ")


@pytest.mark.parametrize(
    ("solver", "M"),
    [
        ("sum-cg", BOXES),
        ("cg", "schwarz:4x1,solver=sweeps,sweeps=20"),
        ("mpcg", "schwarz:2x2,precision=float32"),
        ("mpcg", "schwarz:2x2 + coarse:4"),
        ("cg", "schwarz:2x2,solver=jacobi"),
    ],
)
def test_every_solver_of_boxes_runs_on_workers(scheduler, solver, M):
    expected = run_through(Run(configuration(solver=solver, M=M)))
    found = run_through(Run(configuration(scheduler, solver=solver, M=M)))
    assert found.iterations == expected.iterations
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-6, atol=1e-9 * abs(expected.x).max())


def test_solvers_with_bounds_of_eigenvalues_have_their_own_in_each_box(scheduler):
    """So that the result does not depend on which worker has which box."""
    M = "schwarz:2x2,solver=chebyshev:8"
    one, two = (run_through(Run(configuration(name, solver="cg", M=M))) for name in ("local:1", scheduler))
    assert one.iterations == two.iterations
    np.testing.assert_array_equal(one.x, two.x)


def test_many_right_hand_sides(scheduler):
    chosen = {"solver": "block-cg", "M": BOXES, "rhs": "random:3"}
    expected, found = (run_through(Run(configuration(name, **chosen))) for name in (None, scheduler))
    assert found.iterations == expected.iterations
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-6, atol=1e-9 * abs(expected.x).max())


def test_more_workers_than_boxes(scheduler):
    found = run_through(Run(configuration(scheduler, M="schwarz:1x1")))
    assert found.iterations == 1
    assert "schwarz: 1 box is solved by 1 worker" in found.provenance["notes"][0]


def test_a_complex_matrix(scheduler):
    grid = np.arange(30)
    A = np.diag(np.full(30, 4 + 0j)) + np.diag(np.full(29, 1j), 1) + np.diag(np.full(29, -1j), -1)
    expected, found = (workbench_solve(A, grid + 1j, name, "schwarz:3x1,overlap=2") for name in (None, scheduler))
    assert found.iterations == expected.iterations
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-8)


def workbench_solve(A, b, cluster, M):
    from workbench.run import solve

    return solve(A, b, solver="mpcg", M=M, cluster=cluster)


@pytest.mark.slow
@pytest.mark.parametrize("together", [True, False], ids=["between two requests", "during a request"])
def test_a_lost_worker_changes_nothing(together, capfd, monkeypatch):
    expected = run_through(Run(configuration()))
    run = Run(configuration("local:3"))
    pids = run.setup.workers.processes
    for _ in range(4):
        run.step()
    if together:
        os.kill(pids[0], signal.SIGKILL)
    else:
        kill_during(run.setup.workers, pids[0], monkeypatch)
    result = run_through(run)
    assert result.iterations == expected.iterations
    np.testing.assert_allclose(result.x, expected.x, rtol=1e-9, atol=1e-12 * abs(expected.x).max())
    notes = [note for note in result.provenance["notes"] if "was lost in application" in note]
    assert len(notes) == 1
    assert "moved to other workers, and their solves were repeated" in notes[0]
    assert not alive(pids)
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_a_worker_that_hangs_is_lost_once_the_scheduler_misses_it(monkeypatch):
    made = watched_clusters(monkeypatch)
    run = Run(configuration("local:2"))
    run.step()
    holder = run.setup.first_level.members[0].solver.shares[0].holder
    pid = process_of(run.setup.workers, holder)
    later = hang_and_be_missed(made[0], pid, holder)
    result = run_through(run)
    later.join()
    assert result.converged
    assert f"worker {holder.address} was lost" in str(result.provenance["notes"])


@pytest.mark.slow
def test_two_of_three_workers_lost_one_after_the_other():
    expected = run_through(Run(configuration()))
    run = Run(configuration("local:3"))
    for pid in run.setup.workers.processes[:2]:
        run.step()
        os.kill(pid, signal.SIGKILL)
        run.step()
    result = run_through(run)
    assert result.iterations == expected.iterations
    assert sum("was lost" in note for note in result.provenance["notes"]) >= 2


def test_all_workers_lost_end_the_run(capfd):
    run = Run(configuration("local:2"))
    run.step()
    for pid in run.setup.workers.processes:
        os.kill(pid, signal.SIGKILL)
    result = run_through(run)
    assert result.reason is Reason.DEVICE_LOST
    assert result.detail == "at iteration 0: all workers of cluster local:2 were lost"
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_a_lost_scheduler_ends_the_run():
    made = LocalWorkers(distributed, 1)
    with distributed.Client(made.address, set_as_default=False) as client:
        made.wait_for(client)
    run = Run(configuration(made.address))
    run.step()
    made.close()
    result = run_through(run)
    assert result.reason is Reason.DEVICE_LOST
    assert made.address in result.detail


def frames(*contents: bytes) -> bytes:
    """A message in Dask's frames: its length, the number of frames, the length of each, and their contents."""
    inner = struct.pack(f"<Q{len(contents)}Q", len(contents), *map(len, contents)) + b"".join(contents)
    return struct.pack("<Q", len(inner)) + inner


def serve(listening: socket.socket, greeting: bytes) -> None:
    """Say the same to everybody who connects, until the socket is closed; without words, only listen."""
    with contextlib.suppress(OSError), contextlib.ExitStack() as opened:
        while greeting:
            opened.enter_context(listening.accept()[0]).sendall(greeting)


GREETINGS = {
    "nothing listens": None,
    "silence": b"",
    "HTTP": b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
    "SSH": b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n",
    "random bytes": np.random.default_rng(0).bytes(200),
    "a long message": struct.pack("<Q", 2**40) + bytes(100),
    "an empty message": struct.pack("<Q", 0),
    "too many frames": struct.pack("<QQ", 16, 2**60) + bytes(8),
    "long frames": struct.pack("<QQQ", 16, 1, 2**62),
    "no frames": frames(),
    "no message": frames(b"", b"\xc1"),
    "a message of another kind": frames(b"", b"\x05"),
    "a message without what is expected": frames(b"", b"\x80"),
}


OFTEN = "nothing listens", "silence", "HTTP", "a long message"


@pytest.mark.parametrize(
    "greeting",
    [pytest.param(said, id=name, marks=() if name in OFTEN else pytest.mark.slow) for name, said in GREETINGS.items()],
)
def test_no_scheduler_at_the_address(greeting, monkeypatch, capfd):
    monkeypatch.setattr(workers, "CONNECT_SECONDS", 1.0)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        if greeting is not None:
            other.listen()
        threading.Thread(target=serve, args=(other, greeting), daemon=True).start()
        address = f"tcp://127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(InputError, match=f"no Dask scheduler answers at {address} within 1 s"):
            Run(configuration(address))
        with contextlib.suppress(OSError):
            # Ends the wait of the thread that accepts connections.
            other.shutdown(socket.SHUT_RDWR)
    assert capfd.readouterr() == ("", "")


def test_a_scheduler_without_workers():
    empty = LocalWorkers(distributed, 0)
    try:
        with pytest.raises(InputError, match="has no worker; start some with `dask worker tcp://"):
            Run(configuration(empty.address))
    finally:
        empty.close()


def test_workers_with_another_version_are_refused(scheduler, monkeypatch):
    monkeypatch.setattr(workbench, "__version__", "9.9")
    with pytest.raises(InputError, match=r"worker tcp://\S+ has workbench \S+, and this process 9.9; install the same"):
        Run(configuration(scheduler))


def test_workers_without_the_workbench_are_refused(scheduler, monkeypatch):
    here, found = os.getpid(), workers.versions()

    def versions():
        if os.getpid() != here:
            raise ModuleNotFoundError("No module named 'workbench'")
        return found

    monkeypatch.setattr(workers, "versions", versions)
    with pytest.raises(InputError, match="cannot import this version of the workbench .*; install cg-workbench"):
        Run(configuration(scheduler))


def test_dask_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r'a cluster needs Dask, .* pip install "cg-workbench\[cluster\]"$'):
        Run(configuration("local:2"))


def test_without_the_extension_a_cluster_is_refused_with_what_to_install(monkeypatch):
    ours = {name: each for name, each in extensions.ours().items() if name != "dask"}
    monkeypatch.setattr(extensions, "ours", lambda: ours)
    expected = "no extension offers workers; install cg-workbench with its extensions"
    with pytest.raises(InputError, match=f"^{expected}$"):
        Run(configuration("local:2"))
    with pytest.raises(InputError, match=f"^{expected}$"):
        sweep("two-layer", {"n": [8]}, workers="local:2")
    assert run_through(Run(configuration())).converged


def test_dask_is_imported_only_for_a_cluster():
    code = "import sys, workbench.run; sys.exit('distributed' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_a_preconditioner_without_boxes_is_refused():
    with pytest.raises(InputError, match="cluster local:2 solves the boxes of preconditioner schwarz, and jacobi has"):
        Run(configuration("local:2", M="jacobi"))


def test_boxes_that_cannot_be_factorized_are_reported_and_leave_no_process(monkeypatch):
    pids = started(monkeypatch)
    A = np.eye(30) + np.diag(np.ones(29), 1) + np.diag(np.ones(29), -1)
    with pytest.raises(InputError, match="schwarz: a box (is not positive definite|cannot be factorized)"):
        workbench_solve(A, np.ones(30), "local:2", "schwarz:3x1,cut=index")
    assert len(pids) == 2
    assert not alive(pids)


def started(monkeypatch) -> list[int]:
    """The workers that are started from now on."""
    pids: list[int] = []
    start = LocalWorkers._started

    def noted(self, number):
        process = start(self, number)
        pids.append(process.pid)
        return process

    monkeypatch.setattr(LocalWorkers, "_started", noted)
    return pids


@pytest.mark.parametrize("end", ["cancel", "forget", "fail"])
def test_processes_end_with_the_run(end, monkeypatch):
    run = Run(configuration("local:1"))
    pids = run.setup.workers.processes
    run.step()
    if end == "cancel":
        run.cancel()
    elif end == "forget":
        del run
        gc.collect()
    else:
        monkeypatch.setattr(run._iterations, "advance", lambda most: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run.step()
    assert not alive(pids)


SCRIPT = """
from workbench.run import Run, configure
run = Run(configure("poisson-fd", n=20, solver="mpcg", preconditioner="schwarz:2x2", cluster="local:1"))
run.step()
print(*run.setup.workers.processes, flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("begun", ["workbench-dask-*", "workbench-dask-*/dask-scratch-space/worker-*"])
def test_a_command_that_is_ended_leaves_no_folder(begun, tmp_path):
    """While it starts its workers, and once they are there."""
    chosen = ["--solver", "mpcg", "--preconditioner", BOXES, "--cluster", "local:1"]
    endless = ["--rtol", "1e-300", "--stagnation", "1000000"]
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench.cli", "solve", "poisson-fd", "--n", "200", *chosen, *endless],
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
    )
    made = until(lambda: list(tmp_path.glob(begun)))
    process.terminate()
    assert "Traceback" not in process.communicate()[1]
    assert process.returncode == 128 + signal.SIGTERM
    assert made
    assert not list(tmp_path.glob("*dask*"))


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["", "import time; time.sleep(60)"], ids=["exits", "is killed"])
def test_processes_end_with_their_process(ending, tmp_path):
    """Without a guard around its main program, too."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT + ending)
    process = subprocess.Popen(
        [sys.executable, script],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    pids = list(map(int, process.stdout.readline().split()))
    if ending:
        process.kill()
    assert process.communicate()[1] == ""
    assert pids
    assert not alive(pids)


def test_loggers_have_their_levels_again():
    logger = importlib.import_module("logging").getLogger("distributed")
    level = logger.level
    silent_loggers.silence()
    silent_loggers.silence()
    silent_loggers.restore()
    assert logger.level == silent_loggers.SILENT
    silent_loggers.restore()
    assert logger.level == level


def test_times_are_kept_by_application(scheduler):
    run = Run(configuration(scheduler, stopping=Stopping(maxiter=4)))
    run_through(run)
    times = run.setup.first_level.members[0].solver.times
    assert len(times) == 5
    assert all(min(each) >= 0 and each.compute > 0 for each in times)


@pytest.mark.parametrize("text", ["local:0", "local:257", "local:", "host:8786", "tcp://host", "tcp://a b:1", "x", 3])
def test_texts_that_are_no_cluster(text):
    with pytest.raises(InputError, match="cluster is the address of a Dask scheduler"):
        configuration(text)


@pytest.mark.parametrize("text", ["local:4", "tcp://host:8786", "tls://10.0.0.1:8786", "tcp://[::1]:8786"])
def test_texts_that_are_a_cluster(text):
    assert configuration(text).cluster == text
    assert configuration(f" {text} ").cluster == text


def test_links_and_files_hold_no_address(tmp_path):
    local, remote = configuration("local:4"), configuration("tcp://host:8786")
    assert from_link(to_link(local)) == local
    assert from_link(to_link(remote)).cluster is None
    path = save_configuration(remote, tmp_path / "one")
    assert load_configuration(path).cluster is None
    plain = json.loads(path.read_text())
    plain["configuration"]["cluster"] = "tcp://host:8786"
    path.write_text(json.dumps(plain))
    with pytest.raises(InputError, match="cannot name a cluster by its address"):
        load_configuration(path)
    # As saved before there was this setting.
    del plain["configuration"]["cluster"]
    path.write_text(json.dumps(plain))
    assert load_configuration(path).cluster is None


def test_the_connection_is_an_error_of_a_device_once_it_is_closed(scheduler):
    connected = Workers(scheduler)
    connected.close()
    with pytest.raises(DeviceError):
        connected.addresses()
