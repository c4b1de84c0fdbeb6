"""The count of processes that run solves at the same time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from tests.waiting import LIMIT
from workbench.run import Run, configure, run_through
from workbench.run.jobs.run_queue import QueueSlot, RunQueue
from workbench.run.machine_use import MACHINE_USE, MachineUse, sharing

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no file locks of this kind")

OTHER = """
import sys
from pathlib import Path
from workbench.run.machine_use import MachineUse
with MachineUse(Path(sys.argv[1])):
    print("in", flush=True)
    sys.stdin.read()
print("out", flush=True)
"""


@pytest.fixture
def other(tmp_path):
    """Start another process that uses the machine; it leaves when its input is closed."""
    made = []

    def start():
        command = [sys.executable, "-c", OTHER, str(tmp_path)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        made.append(process)
        assert process.stdout.readline() == "in\n"
        return process

    yield start
    for process in made:
        process.kill()
        process.wait()
        process.stdout.close()


def leave(process):
    process.stdin.close()
    assert process.stdout.readline() == "out\n"


def test_processes_are_counted_that_begin_before_and_after(tmp_path, other):
    use = MachineUse(tmp_path)
    first = other()
    with use:
        watch = use.watch()
        assert watch.most == 2
        second = other()
        assert watch.most == 3
        leave(first)
        leave(second)
        # The largest number counts, also where a run was over between two updates.
        assert watch.most == 3
        assert use.watch().most == 1
        third = other()
        leave(third)
        watch.close()
        other()
        assert watch.count == 3
    assert [path.name for path in tmp_path.iterdir() if str(os.getpid()) in path.name] == []


def test_a_killed_process_counts_no_more_and_its_file_is_removed(tmp_path, other):
    killed = other()
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert len(list(tmp_path.iterdir())) == 1
    use = MachineUse(tmp_path)
    with use:
        assert use.watch().most == 1
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []


def test_contexts_are_nested_and_a_process_outside_counts_itself(tmp_path, other):
    use = MachineUse(tmp_path)
    other()
    assert use.watch().most == 1
    with use:
        with use:
            pass
        assert use.watch().most == 2
        assert len(list(tmp_path.iterdir())) == 2


def test_a_queue_uses_the_machine_while_a_job_is_in_it(tmp_path):
    queue = RunQueue(MachineUse(tmp_path))
    one, two = QueueSlot(queue), QueueSlot(queue)
    one.enqueue()
    two.enqueue()
    one.release()
    assert len(list(tmp_path.iterdir())) == 1
    two.release()
    two.release()
    assert list(tmp_path.iterdir()) == []


def test_without_a_folder_nothing_is_counted_and_runs_go_on(tmp_path):
    (tmp_path / "file").touch()
    use = MachineUse(tmp_path / "file")
    with use:
        assert use.watch().most == 1


def test_a_run_notes_that_its_times_are_not_comparable(tmp_path, other, monkeypatch):
    monkeypatch.setattr(MACHINE_USE, "_folder", tmp_path)
    configuration = configure("two-layer", n=8)
    with MACHINE_USE:
        alone = run_through(Run(configuration))
        other()
        shared = run_through(Run(configuration))
    assert alone.summary["runs_at_once"] is None
    assert "shared" not in " ".join(alone.provenance["notes"])
    assert shared.summary["runs_at_once"] == 2
    assert "2 runs shared this machine; times are not comparable" in shared.provenance["notes"]
    assert sharing(1) == ""


def test_a_queue_tidies_up_once_it_is_idle(monkeypatch):
    monkeypatch.setattr("workbench.run.jobs.run_queue.IDLE_SECONDS", 0.01)
    done = threading.Event()
    queue = RunQueue(tidy=done.set)
    slot, other = QueueSlot(queue), QueueSlot(queue)
    slot.enqueue()
    slot.release()
    assert done.wait(LIMIT)
    done.clear()
    other.enqueue()
    queue.tidy_up()
    assert not done.is_set()
