"""Test with the oldest versions that pyproject.toml allows, in `.venv-oldest`: `python3 scripts/oldest.py`.

Every dependency that pyproject.toml names is installed at its lower bound, and what these need in turn as pip chooses.
Then the tests of `TESTS` run: solves on the processor and by OpenCL, a race, saved runs, views, and pages that Voila
and JupyterLab serve.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv-oldest"
PYTHON = VENV / "bin" / "python"
BOUNDS = VENV / "bounds.txt"
"""What is installed there, written last."""
EXTRAS = ("lab", "app", "opencl", "cluster")
TOOLS = {"pytest", "pytest-timeout", "hypothesis", "packaging", "pyyaml", "pyamg", "nbformat", "nbclient"}
"""Of the extra dev, what tests import; they too at their lower bounds."""
TESTS = (
    "tests/run/test_races.py::test_a_race_gives_the_iterations_and_residuals_of_single_runs",
    "tests/run/test_accelerators.py::test_the_solution_is_that_of_the_iteration_that_meets_the_tolerance",
    "tests/preconditioners/test_amg.py",
    "tests/records/test_record.py",
    "tests/plots/figures/test_drawing.py",
    "tests/live/app/test_app.py",
    "tests/extensions/classroom/test_strangers.py",
)
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?P<extras>\[[\w,-]+\])?>=(?P<bound>[\w.]+)[^;]*(?P<marker>;.*)?")


def lower_bounds(project: dict) -> list[str]:
    """The dependencies of a project table, each at exactly its lower bound. Raises ValueError where one has none."""
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for extra in EXTRAS for line in extras[extra])]
    lines += [line for line in extras["dev"] if re.split(r"[\[><=]", line)[0] in TOOLS]
    return [exact(line) for line in lines]


def exact(line: str) -> str:
    """A requirement at its lower bound."""
    found = REQUIREMENT.fullmatch(line)
    if not found:
        raise ValueError(f"pyproject.toml has no lower bound in {line!r}; write one as name>=version")
    return f"{found['name']}{found['extras'] or ''}=={found['bound']}{found['marker'] or ''}"


def install(bounds: str) -> None:
    """Make the environment again from nothing."""
    print(f"installing the lower bound of each dependency into {VENV.name}", flush=True)
    run([sys.executable, "-m", "venv", "--clear", VENV])
    pip = [PYTHON, "-m", "pip", "--disable-pip-version-check", "-q", "install"]
    draft = VENV / "draft.txt"
    draft.write_text(bounds)
    run([*pip, "-r", draft])
    run([*pip, "--no-deps", "-e", "."])
    run([PYTHON, "scripts/pocl.py"])
    draft.replace(BOUNDS)


def run(command: list[str | Path]) -> None:
    """Run a command in the checkout; exit with its status if it fails."""
    # A PYTHONPATH of the caller would show packages outside the environment.
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    if status := subprocess.run(command, cwd=ROOT, env=clean, check=False).returncode:
        sys.exit(status)


def main(arguments: list[str]) -> None:
    """Install unless that was done, then test; arguments go to pytest."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    bounds = "".join(f"{line}\n" for line in lower_bounds(project))
    if not BOUNDS.exists() or BOUNDS.read_text() != bounds:
        install(bounds)
    run([PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS, *arguments])


if __name__ == "__main__":
    main(sys.argv[1:])
