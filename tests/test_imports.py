"""What is imported before it is needed: importing takes longer than most small solves."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("numba", "matplotlib", "pyamg", "distributed", "scipy.linalg", "scipy.sparse.linalg", "scipy.io", "ipywidgets")
"""Packages that some runs need."""
OF_SOME_RUNS = (
    "workbench.preconditioners.preconditioner_sum",
    "workbench.extensions.dask.workers",
    "workbench.preconditioners.schwarz.workers",
    "workbench.devices.cpu",
    "workbench.devices.pair",
    "workbench.devices.accelerator.device",
    "workbench.solvers.mpcg",
    "workbench.solvers.hybrid.base",
    "workbench.deflation.multilevel",
    "workbench.preconditioners.amg",
)
"""Modules and packages of blocks and devices."""
OF_OTHER_COMMANDS = (
    "asyncio",
    "dask",
    "scipy.sparse",
    "workbench.spectra",
    "workbench.plots.figures",
    "workbench.sequences.sequence",
    "workbench.live",
    "workbench.extensions.papers",
    "workbench.extensions.mpi",
    "workbench.records.record",
    "workbench.run.loop.block.iterations",
    "workbench.run.jobs.prepared",
    "workbench.run.jobs.races",
    "workbench.run.jobs.session",
    "workbench.run.jobs.sweeping",
)
SMALL_SOLVE = """
import time
# The time of this process alone, which other work on the machine does not lengthen; that of compiling as well, which
# takes seconds of another process where no kernel is kept from before.
time.perf_counter = time.monotonic = time.process_time
from workbench.cli import main
from workbench.run import Run, configure
configuration = configure("poisson5", n=4)
begun = time.perf_counter()
run = Run(configuration)
seconds = time.perf_counter() - begun - run.setup.phases.compile_seconds
# The import of kernels and LLVM, which nothing in this process has needed before.
assert run.setup.phases.done[0].name == "start of the device" and run.setup.phases.done[0].seconds > 0.005
assert 0.95 * seconds <= run.setup_seconds <= seconds, (seconds, run.setup.phases.done)
assert main(["solve", "poisson5", "--n", "4", "--json"]) == 0
"""
ON_AN_ACCELERATOR = """
from workbench.cli import main
assert main(["solve", "poisson5", "--n", "4", "--device", "opencl", "--json"]) == 0
"""


def imported_by(code):
    """The modules that a new process has imported after running the code."""
    program = f"import sys\n{code}\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


def test_importing_the_runs_imports_no_block_device_or_compiler():
    modules = imported_by("import workbench.run")
    assert not modules.intersection(HEAVY + OF_SOME_RUNS)


def test_importing_the_entry_of_scipy_imports_little_beyond_it():
    before = imported_by("import scipy.sparse.linalg")
    ours = {name for name in imported_by("from workbench.scipy import cg, factorized") - before if "workbench" in name}
    assert len(ours) < 30
    assert "workbench.run" not in ours


def test_a_configuration_imports_the_files_of_its_blocks_alone():
    modules = imported_by("from workbench.run import configure\nconfigure('two-layer', preconditioner='neumann:2')")
    assert {"workbench.problems.two_layer", "workbench.preconditioners.neumann", "workbench.solvers.cg"} <= modules
    assert not modules.intersection((*HEAVY, *OF_SOME_RUNS, "workbench.problems.bubbles", "workbench.solvers.cg3"))


def test_a_small_solve_imports_no_more_than_it_uses_and_says_what_starting_took():
    modules = imported_by(SMALL_SOLVE)
    assert "workbench.devices.cpu" in modules
    assert not modules.intersection({*HEAVY, *OF_SOME_RUNS, *OF_OTHER_COMMANDS} - {"workbench.devices.cpu"})


def test_a_small_solve_on_an_accelerator_imports_no_more_of_scipy():
    pytest.importorskip("pyopencl")
    modules = imported_by(ON_AN_ACCELERATOR)
    assert "workbench.devices.accelerator.device" in modules
    assert not modules.intersection(HEAVY)


def test_a_solve_of_blocks_of_the_core_imports_no_extension():
    words = [
        "solve",
        "bubbles-3d",
        "--n",
        "8",
        "--preconditioner",
        "neumann:2",
        "--deflation",
        "levelset:2",
        "--coarse",
        "multilevel",
    ]
    modules = imported_by(f"from workbench.cli import main\nassert main({words}) == 0")
    assert not [name for name in modules if name.startswith("workbench.extensions.")]


@pytest.mark.parametrize("arguments", [["--help"], ["solve", "--help"]])
def test_help_imports_no_library(arguments):
    modules = imported_by(f"from workbench.cli import main\nassert main({arguments}) == 0")
    assert not modules.intersection((*HEAVY, "numpy", "workbench.run"))
