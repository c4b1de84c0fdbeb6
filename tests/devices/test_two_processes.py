"""Two kernels of Jupyter at once: they share the cache folder, and neither sees what the other has half done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import types

from numba.core.caching import IndexDataCacheFile

from workbench.devices.cpu import generated, sharing  # the cache is shared from here on

# The same lines for two precisions, in the order that is asked for, so that one function is compiled for different
# types by both processes at the same time.
COMPILE = """
import json, pathlib, sys, time
import numba.core.event
import numpy as np
from workbench.devices.cpu import Cpu

go, order = pathlib.Path(sys.argv[1]), sys.argv[2].split(",")
cpu = Cpu()
print("ready", flush=True)
while not go.exists():
    time.sleep(0.001)
sums = {}
with numba.core.event.install_recorder("numba:compile") as compiled:
    for dtype in order:
        x, y = np.arange(5, dtype=dtype), np.ones(5, dtype)
        update = cpu.lines("x = x + a*y\\ng = (x, x)\\nz = x/g\\nh = (z, x)")
        sums[dtype] = update(x=x, y=y, z=np.empty_like(x), a=2)["g"]
print(json.dumps({"compiled": len(compiled.buffer), "sums": sums}))
"""
SUMS = {"float32": 90.0, "float64": 90.0}


def begin(folder, go, order):
    environment = os.environ | {"WORKBENCH_CACHE": str(folder), "NUMBA_CACHE_DIR": str(folder / "numba")}
    command = [sys.executable, "-c", COMPILE, str(go), order]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def end(process):
    told, errors = process.communicate(timeout=250)
    assert process.returncode == 0, errors
    return json.loads(told.splitlines()[-1])


def test_two_processes_that_compile_the_same_lines_at_once_both_succeed(tmp_path):
    go, cache = tmp_path / "go", tmp_path / "cache"
    both = [begin(cache, go, order) for order in ("float32,float64", "float64,float32")]
    for process in both:
        assert process.stdout.readline() == "ready\n"
    go.touch()
    found = [end(process) for process in both]
    assert [one["sums"] for one in found] == [SUMS, SUMS]
    assert sum(one["compiled"] for one in found) > 0
    left = [path.name for path in cache.rglob("*") if "tmp" in path.name]
    assert not left
    later = end(begin(cache, go, "float64,float32"))
    assert later == {"compiled": 0, "sums": SUMS}


def test_a_file_that_another_process_has_written_meanwhile_is_kept(tmp_path):
    path = tmp_path / "lines_one.py"
    path.write_text("first")
    before = path.stat()
    generated._write(path, "second")
    assert path.read_text() == "first"
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert [made.name for made in tmp_path.iterdir()] == ["lines_one.py"]


def test_entries_of_one_function_that_are_saved_at_once_keep_their_own_code(tmp_path):
    first, second = (IndexDataCacheFile(str(tmp_path), "kernel", "stamp") for _ in range(2))
    inside, done = threading.Event(), threading.Event()
    save_index = first._save_index

    def slowly(overloads):
        inside.set()
        # The other one has all the time that it takes, if nothing holds it.
        done.wait(0.3)
        save_index(overloads)

    first._save_index = slowly
    threads = [
        threading.Thread(target=first.save, args=("float32", "code for float32")),
        threading.Thread(target=lambda: (inside.wait(), second.save("float64", "code for float64"), done.set())),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    third = IndexDataCacheFile(str(tmp_path), "kernel", "stamp")
    found = {name: third.load(name) for name in ("float32", "float64")}
    assert found == {"float32": "code for float32", "float64": "code for float64"}


def test_a_file_system_without_locks_is_used_without_them(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(sharing.fcntl, "flock", refuse)
    cache = types.SimpleNamespace(_cache_path=str(tmp_path))
    assert sharing._alone(lambda _cache, given: given + 1)(cache, 2) == 3
    assert (tmp_path / sharing.LOCK).exists()
