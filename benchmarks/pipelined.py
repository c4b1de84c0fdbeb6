"""One iteration of pipelined CG and of CG with Jacobi, compared with PETSc and Ginkgo, on one and on two cores.

    python -m benchmarks pipelined [--output FOLDER]

The matrix is the 7-point one on 128^3; ours runs on the stencil and on the same matrix in CSR form. Every library runs
in a separate process per number of cores, started again in every round; the processes run in turn. The time of an
iteration is that of a long solve minus a short one over the difference of their iterations. First all solve the system
to 1e-8; their answers are compared with our matrix and with each other.

WORKBENCH_PETSC_PYTHON and WORKBENCH_GINKGO_PYTHON name the Python that has petsc4py or pyGinkgo; by default this one,
`python3` and /usr/bin/python3 are tried.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import median_ratio
from workbench.run import configure

HERE = Path(__file__).parent
N, ITERATIONS, ROUNDS = 128, (20, 80), 5
CORES = (1, 2)
METHODS = ("pipecg", "cg")
FORMS = ("stencil", "CSR")
MINUTES = 10
"""Time limit of one process."""
AGREED = 1e-7
"""Largest relative residual and difference of answers to the tolerance 1e-8."""


@dataclasses.dataclass(frozen=True)
class Library:
    """One contestant: its script, the variable that names its Python, how to install it, how to set its cores."""

    name: str
    script: str
    variable: str = ""
    how_to_install: str = ""
    ranks: bool = False

    def python(self) -> str | None:
        """The first Python that can run it, None where none can."""
        if not self.variable:
            return sys.executable
        named = os.environ.get(self.variable)
        candidates = [named] if named else [sys.executable, "python3", "/usr/bin/python3"]
        return next((python for python in candidates if shutil.which(python) and self._runs(python)), None)

    def _runs(self, python: str) -> bool:
        if self.ranks and not _mpiexec(python):
            return False
        return subprocess.run([python, str(HERE / "contestants" / self.script)], capture_output=True).returncode == 0

    def play(self, python: str, cores: int, job: dict[str, Any]) -> dict[str, Any]:
        """The reply to a job on so many cores. Raises RuntimeError with the last line of a process that fails."""
        command = [python, str(HERE / "contestants" / self.script), json.dumps(job)]
        if self.ranks:
            command = [_mpiexec(python), "-n", str(cores), *command]
        done = subprocess.run(
            command, env=self._environment(cores), capture_output=True, text=True, timeout=60 * MINUTES
        )
        if done.returncode:
            raise RuntimeError(f"{self.name} failed: {done.stderr.strip()[-2000:]}")
        return json.loads(done.stdout.splitlines()[-1])

    def _environment(self, cores: int) -> dict[str, str]:
        threads = "1" if self.ranks else str(cores)
        fixed = {
            "WORKBENCH_THREADS": threads,
            "OMP_NUM_THREADS": threads,
            "OPENBLAS_NUM_THREADS": threads,
            # Open MPI binds each rank to a core, unlike the others, and refuses more ranks than cores.
            "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "OMPI_MCA_hwloc_base_binding_policy": "none",
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        }
        paths = [str(HERE.parent), os.environ.get("PYTHONPATH", "")]
        return {**os.environ, **fixed, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}


def _mpiexec(python: str) -> str:
    """The mpiexec of a Python's environment before any other, which may be of another MPI; empty without one."""
    folder = str(Path(shutil.which(python) or "").parent)
    return shutil.which("mpiexec", path=folder) or shutil.which("mpiexec") or ""


OURS = Library("ours", "ours.py")
PETSC = Library(
    "PETSc",
    "petsc.py",
    "WORKBENCH_PETSC_PYTHON",
    "make petsc, or on Debian: apt-get install python3-petsc4py libopenblas0",
    ranks=True,
)
GINKGO = Library(
    "Ginkgo", "ginkgo.py", "WORKBENCH_GINKGO_PYTHON", "pip install pyginkgo==0.1.0rc1, on Python 3.9 to 3.13"
)


def figures() -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    configuration = configure("poisson7", n=N)
    matrix = configuration.problem.assemble().operator.to_csr()
    found = {library: library.python() for library in (OURS, PETSC, GINKGO)}
    pythons = {library: python for library, python in found.items() if python}
    b = np.random.default_rng(0).random(N**3)
    with tempfile.TemporaryDirectory() as folder:
        np.save(file := Path(folder) / "b.npy", b)
        job = {"n": N, "b": str(file)}
        entries, answers = agree(pythons, job, matrix, b)
        seconds = rounds(entries, {**job, "iterations": ITERATIONS})
    missing = {
        library.name: f"not installed: {library.how_to_install}; then name its Python in {library.variable}"
        for library, python in found.items()
        if not python
    }
    return {"N": N**3, "iterations": ITERATIONS, "rounds": ROUNDS, "answers": answers, **missing, **compared(seconds)}


Entry = tuple[Library, str, int]
"""A library, its Python, and a number of cores."""


def agree(
    pythons: dict[Library, str], job: dict[str, Any], matrix: Any, b: np.ndarray
) -> tuple[list[Entry], dict[str, Any]]:
    """The contestants, and the answer of each. Raises RuntimeError if an answer does not solve the system."""
    entries: list[Entry] = []
    answers: dict[str, Any] = {}
    first: np.ndarray | None = None
    for library, python in pythons.items():
        for cores in CORES:
            with tempfile.TemporaryDirectory() as folder:
                reply = library.play(python, cores, {**job, "answers": folder})
                label, about = f"{library.name}, {_cores(cores)}", reply.pop("about")
                if cores > 1 and about.get("executor") == "reference":
                    answers[label] = "this build of Ginkgo has no OpenMP executor and runs on one core alone"
                    continue
                entries.append((library, python, cores))
                answers[label] = {"about": about}
                for method, iterations in reply.items():
                    x = np.load(Path(folder) / f"{method}.npy")
                    first = x if first is None else first
                    residual = float(np.linalg.norm(b - matrix @ x) / np.linalg.norm(b))
                    apart = float(np.linalg.norm(x - first) / np.linalg.norm(first))
                    if max(residual, apart) > AGREED:
                        raise RuntimeError(f"{label}, {method}: residual {residual:.1e}, off by {apart:.1e}")
                    answers[label][method] = {"iterations": iterations, "residual": residual, "apart": apart}
    return entries, answers


def rounds(entries: list[Entry], job: dict[str, Any]) -> dict[int, dict[str, list[float]]]:
    """Seconds of an iteration in every round, by cores and contestant."""
    seconds: dict[int, dict[str, list[float]]] = {cores: {} for cores in CORES}
    for _ in range(ROUNDS):
        for library, python, cores in entries:
            reply = library.play(python, cores, job)
            del reply["about"]
            for method, value in reply.items():
                seconds[cores].setdefault(f"{library.name}, {method}", []).append(value)
    return seconds


def compared(seconds: dict[int, dict[str, list[float]]]) -> dict[str, dict[str, dict[str, float]]]:
    """Milliseconds, their minimum and maximum, and the ratios to ours in the same round, method by method."""
    return {
        _cores(cores): {
            label: {
                "ms": 1e3 * statistics.median(taken),
                "least_ms": 1e3 * min(taken),
                "most_ms": 1e3 * max(taken),
                **{f"over_ours_{form}": median_ratio(taken, by_label[f"ours, {method}, {form}"]) for form in FORMS},
            }
            for method in METHODS
            for label, taken in by_label.items()
            if label.split(", ")[1] == method
        }
        for cores, by_label in seconds.items()
    }


def _cores(count: int) -> str:
    return "1 core" if count == 1 else f"{count} cores"
