"""The memory that a run is said to need, compared with what it takes."""

from __future__ import annotations

import gc
import json
import subprocess
import sys

import pytest

from workbench.run import Run, configure
from workbench.run.memory_need import memory_need, where_of

BUBBLES = {"problem": "bubbles-3d", "sides": "z-:dirichlet", "preconditioner": "neumann:2", "deflation": "levelset:32"}
MEASURED = {
    "levelset": {**BUBBLES, "n": 128},
    "no deflation": {"problem": "bubbles-3d", "n": 128, "sides": "z-:dirichlet", "preconditioner": "jacobi"},
    "neumann sides": {"problem": "slabs-3d", "n": 112, "preconditioner": "neumann:2", "solver": "pipecg"},
    "mixed": {**BUBBLES, "n": 128, "precision": "mixed"},
    "bands": {"problem": "poisson7", "n": 112, "preconditioner": "neumann:2"},
    "rows": {"problem": "poisson27", "n": 72, "preconditioner": "jacobi"},
    "az": {"problem": "two-layer", "n": 1400, "preconditioner": "neumann:2", "deflation": "stripes"},
}
CHILD = """
import json, re, sys
from workbench.run import configure, start_run
from workbench.run.memory_need import Where, memory_need

def peak(name):
    return 1024 * int(re.search(name + r":\\s+(\\d+)", open("/proc/self/status").read())[1])

def run(values):
    run = start_run(configure(values.pop("problem"), stopping={"maxiter": 20}, **values))
    while run.step():
        pass
    return run.result()

values = json.loads(sys.argv[1])
# Libraries and kernels are loaded first.
run({**values, "n": 128 if values["problem"] == "two-layer" else 32} | ({"deflation": "levelset:8"} if "levelset" in
    values.get("deflation", "") else {}))
open("/proc/self/clear_refs", "w").write("5")
before = peak("VmRSS")
result = run(dict(values))
problem = values.pop("problem")
print(json.dumps([peak("VmHWM") - before, memory_need(configure(problem, **values), Where.CORES).host]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peaks of memory are read from /proc")
@pytest.mark.parametrize("name", MEASURED)
def test_the_estimate_on_the_cores_is_close_to_the_peak(name):
    command = [sys.executable, "-c", CHILD, json.dumps(MEASURED[name])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
    measured, estimated = json.loads(done.stdout)
    assert estimated == pytest.approx(measured, rel=0.25, abs=20e6)


@pytest.mark.parametrize("name", MEASURED)
def test_the_estimate_on_a_device_is_close_to_what_it_allocates(accelerator, name):
    small = {"bubbles-3d": 40, "slabs-3d": 40, "poisson7": 40, "poisson27": 24, "two-layer": 256}
    values = {**MEASURED[name]}
    problem = values.pop("problem")
    values |= {"n": small[problem], "device": accelerator.spec, "stopping": {"maxiter": 3}}
    if "levelset" in values.get("deflation", ""):
        values["deflation"] = "levelset:10"
    configuration = configure(problem, **values)
    # What earlier tests left behind must not be dropped meanwhile.
    gc.collect()
    before = accelerator.budget.allocated
    run = Run(configuration)
    need = memory_need(configuration, where_of(accelerator))
    assert need is not None
    assert need.device == pytest.approx(accelerator.budget.allocated - before, rel=0.25)
    del run
