"""What is imported before it is needed: importing takes longer than most small solves."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("numba", "matplotlib", "pyamg", "distributed", "scipy.linalg", "scipy.sparse.linalg", "scipy.io", "ipywidgets")
"""Packages that some runs need."""
OF_SOME_RUNS = (
    "workbench.preconditioners.preconditioner_sum",
    "workbench.domain_decomposition.workers",
    "workbench.devices.cpu",
    "workbench.devices.pair",
    "workbench.devices.accelerator.device",
    "workbench.solvers.mpcg",
    "workbench.solvers.hybrid.base",
    "workbench.deflation.multilevel",
    "workbench.preconditioners.amg",
)
"""Modules and packages of blocks and devices."""


def imported_by(code):
    """The modules that a new process has imported after running the code."""
    program = f"import sys\n{code}\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


def test_importing_the_runs_imports_no_block_device_or_compiler():
    modules = imported_by("import workbench.run")
    assert not modules.intersection(HEAVY + OF_SOME_RUNS)


def test_a_configuration_imports_the_files_of_its_blocks_alone():
    modules = imported_by("from workbench.run import configure\nconfigure('two-layer', preconditioner='neumann:2')")
    assert {"workbench.problems.two_layer", "workbench.preconditioners.neumann", "workbench.solvers.cg"} <= modules
    assert not modules.intersection((*HEAVY, *OF_SOME_RUNS, "workbench.problems.bubbles", "workbench.solvers.cg3"))


def test_a_run_on_the_cores_imports_no_other_device():
    code = "from workbench.run import Run, configure\nrun = Run(configure('poisson5', n=4))\nwhile run.step(): pass"
    modules = imported_by(code)
    assert "workbench.devices.cpu" in modules
    assert not modules.intersection({*HEAVY, *OF_SOME_RUNS} - {"numba", "scipy.linalg", "workbench.devices.cpu"})


@pytest.mark.parametrize("arguments", [["--help"], ["solve", "--help"]])
def test_help_imports_no_library(arguments):
    modules = imported_by(f"from workbench.cli import main\nassert main({arguments}) == 0")
    assert not modules.intersection((*HEAVY, "numpy", "workbench.run"))
