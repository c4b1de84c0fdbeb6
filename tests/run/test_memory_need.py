"""The memory that a run is said to need, compared with what it takes."""

from __future__ import annotations

import gc
import json
import re
import subprocess
import sys

import pytest

from workbench.cli import main
from workbench.run import Run, configure, run_through
from workbench.run.choices.memory_need import Where, added_vectors, largest_fitting, memory_need, way_out, where_of
from workbench.solvers.cg import CG

BUBBLES = {"problem": "bubbles-3d", "sides": "z-:dirichlet", "preconditioner": "neumann:2", "deflation": "levelset:32"}
SMALLER = {"preconditioner": "neumann:2", "deflation": "levelset:32"}
MEASURED = {
    "levelset": {**BUBBLES, "n": 128},
    "no deflation": {"problem": "bubbles-3d", "n": 128, "sides": "z-:dirichlet", "preconditioner": "jacobi"},
    "neumann sides": {"problem": "slabs-3d", "n": 112, "preconditioner": "neumann:2", "solver": "pipecg"},
    "mixed": {**BUBBLES, "n": 128, "precision": "mixed"},
    "bands": {"problem": "poisson7", "n": 112, "preconditioner": "neumann:2"},
    "rows": {"problem": "poisson27", "n": 72, "preconditioner": "jacobi"},
    "az": {"problem": "two-layer", "n": 1400, "preconditioner": "neumann:2", "deflation": "stripes"},
}
MEASURED_OFTEN = ("levelset", "neumann sides", "rows")
"""Each takes a process of its own and millions of unknowns; the others are measured on devices, small."""
CHILD = """
import json, re, sys
from workbench.run import Run, configure
from workbench.run.choices.memory_need import Where, memory_need

def peak(name):
    return 1024 * int(re.search(name + r":\\s+(\\d+)", open("/proc/self/status").read())[1])

def run(values):
    run = Run(configure(values.pop("problem"), stopping={"maxiter": 20}, **values))
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
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in MEASURED_OFTEN)) for name in MEASURED]
)
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
    assert need.device == pytest.approx(accelerator.budget.allocated - before, rel=0.25)
    del run


@pytest.mark.parametrize(
    ("values", "vectors"),
    [
        # In addition to b and x: r, p and s, and u where M is not element-wise.
        ({"element_wise": True, "factor": True, "mixed": False, "corrects": False}, 3),
        ({"element_wise": False, "factor": False, "mixed": False, "corrects": False}, 4),
        ({"element_wise": False, "factor": False, "mixed": True, "corrects": True}, 4),
    ],
)
def test_vectors_of_cg_are_counted_from_its_lines(values, vectors):
    assert added_vectors(CG(), **values) == vectors


@pytest.mark.parametrize(
    ("problem", "deflation"),
    [
        ("bubbles-3d:64", "levelset:16"),
        ("bubbles-2d:128", "levelset:32"),
        ("slabs-3d:n=40,thickness=0.3", "levelset:8"),
        ("poisson7:12", "blocks:3"),
        ("poisson5:12", "stripes"),
        ("poisson7:12", "planes"),
    ],
)
def test_vectors_of_deflation_are_counted_beforehand(problem, deflation):
    configuration = configure(problem, deflation=deflation)
    size = configuration.problem.known_size
    estimated = configuration.deflation.estimated_count(size.unknowns, size.grid, configuration.problem.interface)
    system = configuration.problem.assemble()
    labels = configuration.deflation.labels(size.unknowns, system.grid, system.phase)
    assert estimated == pytest.approx(labels.max() + 1, rel=0.1)


def test_a_billion_cells_fit_a_gpu_in_precision_mixed():
    choices = {"preconditioner": "neumann:2", "deflation": "levelset:256", "precision": "mixed"}
    need = memory_need(configure("bubbles-3d", n=1024, sides="z-:dirichlet", **choices), Where.GPU)
    assert 50e9 < need.device < 100e9


def test_the_n_that_fits_fits():
    configuration = configure("bubbles-3d", n=512, preconditioner="neumann:2", deflation="levelset:32")
    n = largest_fitting(configuration, 10**9, Where.CORES)
    for side, fits in ((n, True), (n + 16, False)):
        need = memory_need(configure("bubbles-3d", n=side, **SMALLER), Where.CORES)
        assert (need.host <= 10**9) == fits


def test_what_takes_less_is_named():
    configuration = configure("bubbles-3d", n=128, preconditioner="neumann:2", deflation="levelset:32")
    need = memory_need(configuration, Where.GPU)
    words = way_out(configuration, round(0.8 * need.device), Where.GPU).words
    assert "n 112, which fits or precision mixed" in words


def test_systems_and_methods_without_a_known_size_have_no_estimate():
    for configuration in (
        configure("suitesparse", matrix="Test/tiny"),
        configure("poisson7", rhs="random:4", solver="block-cg"),
        configure("poisson7", solver="hybrid1", device="opencl"),
    ):
        assert memory_need(configuration, Where.CORES) is None


def test_the_need_and_the_phases_are_printed_shown_and_in_json(capsys, tmp_path):
    arguments = ["bubbles-3d", "--n", "32", "--preconditioner", "neumann:2", "--deflation", "levelset:8"]
    saved = str(tmp_path / "run.cg.npz")
    assert main(["solve", *arguments, "--save", saved]) == 0
    printed = capsys.readouterr().out
    assert main(["show", saved]) == 0
    for text in (printed, capsys.readouterr().out):
        assert re.search(r"memory needed +\d+(\.\d+)? MB: .*vectors of the run \d+(\.\d+)? MB", text)
        assert re.search(r"setup phases +\w", text)
    assert main(["solve", *arguments, "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert {"problem", "A", "plan of an iteration"} <= {phase["name"] for phase in plain["setup_phases"]}
    items = sum(item["host"] for item in plain["memory_needed"]["items"])
    assert plain["memory_needed"]["host"] == items


@pytest.mark.parametrize(
    "choices",
    [
        {"problem": "two-layer", "n": 24, "deflation": "stripes:8"},
        {"problem": "two-layer", "n": 24, "deflation": "stripes:2"},
        {"problem": "two-layer", "n": 24, "deflation": "blocks:2", "coarse": "sparse"},
        {"problem": "bubbles-2d", "n": 64, "deflation": "levelset:4"},
    ],
    ids=lambda choices: choices["deflation"],
)
def test_the_coarse_solver_that_a_run_uses_is_named_in_its_memory(choices):
    """Beforehand the choice is an estimate, and says so; E was said to be factored where the setup inverts it."""
    configuration = configure(choices["problem"], **{name: choices[name] for name in choices if name != "problem"})
    (guess,) = coarse_solvers(memory_need(configuration, Where.CORES).plain())
    summary = run_through(Run(configuration)).summary
    (used,) = coarse_solvers(summary["memory_needed"])
    assert used == f"coarse solver {summary['coarse_solver']}"
    if "coarse" in choices:
        assert guess == used
    else:
        assert guess.startswith("coarse solver auto, estimated as ")


def coarse_solvers(need):
    """The names of these items."""
    return [item["name"] for item in need["items"] if item["name"].startswith("coarse solver")]
