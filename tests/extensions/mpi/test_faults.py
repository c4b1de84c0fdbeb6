"""Ranks that are lost, cannot write or cannot start: a sentence, no process left, no file half-written."""

from __future__ import annotations

import dataclasses
import os
import re
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import psutil
import pytest

from tests.extensions.mpi.conftest import endless, gone, pids_of
from tests.waiting import LIMIT, until
from workbench.errors import DeviceError, InputError
from workbench.extensions.mpi.mpiexec import other_mpi
from workbench.extensions.mpi.run import launcher, messages, processes
from workbench.machines.answers import answer_of
from workbench.problems.poisson import Poisson5
from workbench.run import Reason, Run, Session, configure

LOST = "rank [01] (was killed by signal 9.*|ended, .*)"
"""Which one is not always known, see `EndedFirst`."""


def iterating(session):
    until(lambda: session.run is not None and session.run.iterations > 3)
    return session.run.setup.ranks


def test_a_rank_that_is_killed_while_it_iterates_is_reported():
    session = Session(endless())
    session.start()
    pids = pids_of(iterating(session))
    os.kill(pids[0], signal.SIGKILL)
    result = session.wait(LIMIT)
    assert result.reason is Reason.DEVICE_LOST
    assert re.fullmatch(f"at iteration {result.iterations}: {LOST} in the iterations; x is lost", result.detail)
    assert result.history.count == result.iterations + 1 > 3
    assert result.x.shape == (33**2,)
    assert np.isnan(result.x).all()
    until(lambda: gone(pids))


def test_a_rank_that_is_killed_in_the_setup_is_reported(monkeypatch):
    ranks = []
    whole = processes.RankProcesses.next

    def killing(self, *arguments):
        message = whole(self, *arguments)
        if message[0] == messages.RANKS:
            ranks.append(self)
            os.kill(pids_of(self)[1], signal.SIGKILL)
        return message

    monkeypatch.setattr(processes.RankProcesses, "next", killing)
    with pytest.raises(DeviceError, match=f"^{LOST} in the setup$"):
        Run(endless())
    until(lambda: gone(pids_of(ranks[0])))


def test_a_rank_that_is_killed_while_x_is_written_is_reported(tmp_path):
    run = Run(endless())
    run.step()
    pids = pids_of(run.setup.ranks)
    os.kill(pids[1], signal.SIGSTOP)
    run.setup.ranks.send("result", reason=None, file=str(tmp_path / "x.npy"))
    os.kill(pids[1], signal.SIGKILL)
    run.cancel()
    result = run.result()
    assert result.reason is Reason.DEVICE_LOST
    assert re.search(f"{LOST} while x was written; x is lost", result.detail)
    until(lambda: gone(pids))


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="which process ended first is known on Linux")
def test_of_ranks_that_have_ended_the_first_is_named():
    """mpiexec, which looks late, finds two and names rank 0."""
    session = Session(endless())
    session.start()
    pids = pids_of(iterating(session))
    launching = psutil.Process(pids[0]).parent()
    launching.suspend()
    for rank in (1, 0):
        ended = os.pidfd_open(pids[rank])
        os.kill(pids[rank], signal.SIGKILL)
        assert select.select([ended], [], [], LIMIT)[0]
        os.close(ended)
    launching.resume()
    result = session.wait(LIMIT)
    assert "rank 1 ended, and mpiexec then ended the others, in the iterations; x is lost" in result.detail


def test_mpiexec_that_is_interrupted_takes_the_ranks_with_it():
    session = Session(endless())
    session.start()
    ranks = iterating(session)
    os.kill(ranks._process.pid, signal.SIGINT)
    result = session.wait(LIMIT)
    assert result.reason is Reason.DEVICE_LOST
    assert "mpiexec ended with status" in result.detail
    until(lambda: gone(pids_of(ranks)))


PARENT = """
import subprocess, sys
from tests.extensions.mpi.conftest import endless, pids_of
from workbench.run import Run
run = Run(endless())
keeping = []
if "keep" in sys.argv:
    keeping = [subprocess.Popen(["sleep", "600"], pass_fds=[run.setup.ranks._process.stdin.fileno()]).pid]
print(*pids_of(run.setup.ranks), *keeping, flush=True)
while run.step():
    pass
"""


@pytest.mark.parametrize("options", [(), ("keep",)], ids=["", "input stays open"])
def test_ranks_end_with_the_process_that_started_them(options):
    """Also where another process has their input open, as mpiexec of Open MPI 5 has."""
    parent = subprocess.Popen([sys.executable, "-c", PARENT, *options], stdout=subprocess.PIPE, text=True)
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(pids) == 2 + len(options)
    parent.kill()
    parent.wait()
    until(lambda: gone(pids[:2]))
    for pid in pids[2:]:
        os.kill(pid, signal.SIGKILL)


def test_stop_ends_all_ranks_and_keeps_x_and_history():
    session = Session(endless())
    session.start()
    pids = pids_of(iterating(session))
    session.stop()
    result = session.wait(LIMIT)
    until(lambda: gone(pids))
    assert result.reason is Reason.CANCELLED
    assert np.isfinite(result.x).all()
    assert np.isfinite(result.true_relative_residual)


def test_stop_ends_a_run_with_a_suspended_rank_and_keeps_x():
    session = Session(endless())
    session.start()
    pids = pids_of(iterating(session))
    os.kill(pids[1], signal.SIGSTOP)
    until(lambda: psutil.Process(pids[1]).status() == psutil.STATUS_STOPPED)
    session.stop()
    result = session.wait(LIMIT)
    assert result.reason is Reason.CANCELLED
    assert np.isfinite(result.x).all()
    until(lambda: gone(pids))


def test_stop_in_the_setup_leaves_no_rank(monkeypatch):
    """Which does not end before it is stopped."""
    inside, whole = threading.Event(), processes.RankProcesses.next

    def held(self, stopped):
        inside.set()
        until(stopped)
        return whole(self, stopped)

    monkeypatch.setattr(processes.RankProcesses, "next", held)
    session = Session(endless())
    session.start()
    assert inside.wait(LIMIT)
    assert session.phases.present
    session.stop()
    with pytest.raises(InputError, match="stopped during the setup"):
        session.wait(LIMIT)


def test_a_full_disk_is_a_sentence_and_leaves_no_file():
    """Every rank may write no file above 4 kB, as on a disk with no more room."""
    run = Run(endless())
    run.step()
    pids = pids_of(run.setup.ranks)
    for pid in pids:
        psutil.Process(pid).rlimit(psutil.RLIMIT_FSIZE, (4096, 4096))
    run.cancel()
    with pytest.raises(InputError, match=r"cannot write x, 0\.00884 MB, to .* \(rank 0: File too large\); free"):
        run.result()
    until(lambda: gone(pids))


@dataclasses.dataclass(frozen=True)
class Raising(Poisson5):
    """A problem whose rows one rank cannot assemble."""

    def rows(self, slab, seed=0):
        if slab.first:
            raise MemoryError("no room for A")
        return super().rows(slab, seed)


def test_a_rank_that_raises_alone_ends_all_and_is_named():
    with pytest.raises(InputError, match="rank 1 failed: there is not enough memory: no room for A"):
        Run(configure(Raising(5), ranks=2))


def test_what_all_ranks_refuse_is_said_once():
    with pytest.raises(InputError, match=r"^no file of vectors at nowhere\.npy$"):
        Run(configure("poisson5", n=9, ranks=2, rhs="nowhere.npy"))


@pytest.mark.parametrize(
    ("hide", "sentence"),
    [
        (
            lambda patch: patch.setitem(sys.modules, "mpi4py", None),
            "needs mpi4py, which is not installed; run `make mpi`",
        ),
        (lambda patch: patch.setattr("shutil.which", lambda *_, **__: None), "needs mpiexec, which is neither in"),
        (lambda patch: patch.setenv(launcher.MPIEXEC, "/nowhere/mpiexec"), "the ranks cannot be started: .*/nowhere"),
    ],
)
def test_what_is_not_installed_is_a_sentence(monkeypatch, hide, sentence):
    monkeypatch.delenv(launcher.MPIEXEC, raising=False)
    hide(monkeypatch)
    with pytest.raises(InputError, match=sentence):
        Run(endless())


def test_an_mpiexec_may_answer_in_any_encoding(tmp_path):
    foreign = tmp_path / "mpiexec"
    here = answer_of([launcher.mpiexec(2), "--version"])[0]
    other = "MPICH" if re.search("Open ?(MPI|RTE)", here) else "Open MPI"
    foreign.write_text(f'#!/bin/sh\nprintf "\\377\\376 ({other}) 4.1"\n')
    foreign.chmod(0o755)
    assert f"is of {other}" in other_mpi(str(foreign))


def test_an_mpiexec_of_another_mpi_is_recognized(monkeypatch, tmp_path):
    """Its processes are alone, each a world of its own."""
    foreign = tmp_path / "mpiexec"
    foreign.write_text('#!/bin/sh\nshift 2\nexec "$@"\n')
    foreign.chmod(0o755)
    monkeypatch.setenv(launcher.MPIEXEC, str(foreign))
    with pytest.raises(InputError, match="mpiexec started 2 ranks, of which each is alone: mpi4py uses (MPICH|Open)"):
        Run(endless())


@pytest.mark.parametrize("ranks", [0, -1, 10**6, 1.5])
def test_the_number_of_ranks_has_bounds(ranks):
    with pytest.raises(InputError, match="ranks"):
        configure("poisson5", ranks=ranks)


def test_more_ranks_than_a_host_has_cores_for_are_refused(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    with pytest.raises(
        InputError, match="13 ranks on the 3 cores of this host would wait for one another; .* at most 12"
    ):
        launcher.command(13, Path())
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    assert launcher.command(13, Path())[1:3] == ["-n", "13"]


def test_an_mpiexec_that_refuses_root_is_answered_by_how_to_allow_it(monkeypatch, tmp_path):
    """Its last line, "we reiterate our advice against doing so", was the sentence."""
    refusing = tmp_path / "mpiexec"
    lines = ("-----", "mpiexec has detected an attempt to run as root.", "Running as root is discouraged.", "-----")
    refusing.write_text("#!/bin/sh\n" + "".join(f"echo '{line}' >&2\n" for line in lines) + "exit 1\n")
    refusing.chmod(0o755)
    monkeypatch.setenv(launcher.MPIEXEC, str(refusing))
    with pytest.raises(InputError, match="for root; .* set OMPI_ALLOW_RUN_AS_ROOT=1 .*_CONFIRM=1$"):
        Run(endless())


def test_settings_of_open_mpi_reach_its_ranks_and_what_names_other_ranks_does_not():
    """A container whose only user is root could not start ranks, though it was allowed there."""
    chosen = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PRTE_PREFIX": "/opt/prte"}
    networks = {"OMPI_MCA_btl": "self,tcp", "PRTE_MCA_prte_tmpdir_base": "/scratch", "PMIX_MCA_gds": "hash"}
    mine = {"HOME": "/home/me"}
    of_a_rank = {"PMI_RANK": "1", "PMIX_NAMESPACE": "job", "HYDI_CONTROL_FD": "5"}
    # A step of Slurm is a rank too, and has added nothing to the settings.
    for job in ({}, of_a_rank):
        of_ranks = launcher.environment(mine | chosen | networks | job)
        assert set(of_ranks) == {"PYTHONPATH", *launcher.AS_OTHERS, *mine, *chosen, *networks}
    for sign in ("OMPI_COMM_WORLD_RANK", "PRTE_LAUNCHED"):
        within = launcher.environment(mine | chosen | networks | of_a_rank | {sign: "1"})
        assert set(within) == {"PYTHONPATH", *launcher.AS_OTHERS, *mine, *chosen}


def test_open_mpi_starts_ranks_as_others_do_unless_a_queue_or_the_user_says_otherwise():
    assert launcher.AS_OTHERS.items() <= launcher.environment({}).items()
    assert not launcher.AS_OTHERS.keys() & launcher.environment({"SLURM_JOB_ID": "1"}).keys()
    name = next(iter(launcher.AS_OTHERS))
    assert launcher.environment({name: "0"})[name] == "0"


def test_what_cannot_be_sent_to_other_processes_is_refused():
    with pytest.raises(InputError, match="ranks 2 needs what other processes can be sent"):
        processes.RankProcesses(2, messages.Job(endless(), lambda: None, None, False))
    with pytest.raises(InputError, match="ranks assemble their rows of problem poisson5 themselves"):
        Run(endless(), Raising(5).assemble())


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ("solve two-layer --n 9 --maxiter 1", 1, "iteration limit"),
        ("solve two-layer --n 9 --ranks 3", 2, "--ranks 3 contradicts mpiexec, which started 2 ranks"),
        ("doctor", 2, "mpiexec started 2 ranks, and `workbench doctor` runs in one process"),
    ],
)
def test_a_command_under_mpiexec_is_one_command(arguments, status, words):
    ended = run_under_mpiexec("-m", "mpi4py", "-m", "workbench", *arguments.split())
    assert ended.returncode == status, ended.stderr
    assert len(re.findall(words, ended.stdout + ended.stderr)) == 1
    assert "BAD TERMINATION" not in ended.stdout


def test_x_is_not_written_in_place_of_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    ended = run_under_mpiexec(
        "-m", "mpi4py", "-m", "workbench", "solve", "two-layer", "--n", "9", "--solution", str(tmp_path / "pipe")
    )
    assert (ended.returncode, "it is no regular file" in ended.stderr) == (2, True)
    assert [path.name for path in tmp_path.iterdir() if not path.is_dir()] == ["pipe"]


def test_processes_of_mpiexec_without_mpi4py_are_told_apart():
    ended = run_under_mpiexec("-m", "workbench", "solve", "two-layer", "--n", "9")
    assert ended.returncode == 2
    assert "this is one of 2 processes that know nothing of one another" in ended.stderr


def run_under_mpiexec(*arguments):
    command = [launcher.mpiexec(2), "-n", "2", sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=LIMIT)


@pytest.mark.parametrize("between", ["", "\r", "Abort(1) on node 1 {rank 1}", '{"kind": "error", "numb'])
def test_messages_that_share_a_line_are_read(between):
    first, second = (messages.line(messages.ERROR, DeviceError(f"rank {rank} failed"), rank) for rank in (0, 1))
    found = messages.read(f"{between}{first}{between}{second}{between}\n")
    assert [(kind, number, str(error)) for kind, number, error in found] == [
        (messages.ERROR, 0, "rank 0 failed"),
        (messages.ERROR, 1, "rank 1 failed"),
    ]
    assert not messages.read(f"{between}{first[:-3]}\n")
