"""Two kernels of Jupyter at once: they share the cache folder, and neither sees what the other has half done."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

# The same lines for two precisions, in the order that is asked for, so that one function is compiled for different
# types by both processes at the same time.
COMPILE = """
import json, pathlib, sys, time
import numpy as np
from workbench.devices.cpu import Cpu
from workbench.jit import compiler

go, order = pathlib.Path(sys.argv[1]), sys.argv[2].split(",")
cpu = Cpu()
print("ready", flush=True)
while not go.exists():
    time.sleep(0.001)
sums = {}
asked, ask = [], compiler.compile_elsewhere
compiler.compile_elsewhere = lambda text: asked.append(text) or ask(text)
for dtype in order:
    x, y = np.arange(5, dtype=dtype), np.ones(5, dtype)
    update = cpu.lines("x = x + a*y\\ng = (x, x)\\nz = x/g\\nh = (z, x)")
    sums[dtype] = update(x=x, y=y, z=np.empty_like(x), a=2)["g"]
print(json.dumps({"compiled": sum(isinstance(text, tuple) for text in asked), "sums": sums}))
"""
SUMS = {"float32": 90.0, "float64": 90.0}


def begin(folder, go, order):
    environment = os.environ | {"WORKBENCH_CACHE": str(folder)}
    command = [sys.executable, "-c", COMPILE, str(go), order]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def end(process):
    told, errors = process.communicate(timeout=250)
    assert process.returncode == 0, errors
    return json.loads(told.splitlines()[-1])


# Each of three processes imports and compiles.
@pytest.mark.slow
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
