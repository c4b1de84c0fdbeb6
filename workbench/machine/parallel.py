"""MPI and PETSc as mpi4py and petsc4py load them.

Both are loaded in processes of their own: MPI cannot be started twice in one, and a library of another MPI may end it.
Nothing here raises; what is wrong is a sentence in `problem`.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec

SECONDS = 30
RANKS = 2
MPIEXEC = "WORKBENCH_MPIEXEC"
"""The environment variable for the path of mpiexec, where it is neither next to Python nor in PATH."""
SCRIPTS = f"{sys.prefix}{os.sep}bin"
EXTERNAL = ("hypre", "mumps", "superlu_dist", "cuda")
"""What PETSc may be built with, and preconditioners of the field's use."""
ASK_MPI = (
    "from mpi4py import MPI; name, version = MPI.get_vendor()\n"
    "if not MPI.COMM_WORLD.rank: print(name, '.'.join(map(str, version)), MPI.COMM_WORLD.size, sep='\\n')"
)
ASK_PETSC = (
    "import json, petsc4py; petsc4py.init([]); from petsc4py import PETSc\n"
    "print(json.dumps({'version': '.'.join(map(str, PETSc.Sys.getVersion())), 'scalar': PETSc.ScalarType.__name__, "
    f"'integer': PETSc.IntType.__name__, 'external': [n for n in {EXTERNAL} if PETSc.Sys.hasExternalPackage(n)]}}))"
)


@dataclasses.dataclass(frozen=True)
class Mpi:
    """library: name and version, empty without one. mpiexec: its path, empty without one."""

    library: str = ""
    mpiexec: str = ""
    problem: str = ""


@dataclasses.dataclass(frozen=True)
class Petsc:
    """version: empty without PETSc. scalar, integer: its types of numbers. external: which of `EXTERNAL` it has."""

    version: str = ""
    scalar: str = ""
    integer: str = ""
    external: tuple[str, ...] = ()
    problem: str = ""


def find_mpiexec() -> str:
    """The path of mpiexec: that of this environment before any other of the system, which may be of another MPI; empty
    without one."""
    return os.environ.get(MPIEXEC) or shutil.which("mpiexec", path=SCRIPTS) or shutil.which("mpiexec") or ""


def examine_mpi() -> Mpi:
    """The MPI of mpi4py, and whether mpiexec is of the same one. Cost: two starts of Python, one on two ranks."""
    if find_spec("mpi4py") is None:
        return Mpi(problem="mpi4py is not installed")
    found, wrong = _answer([sys.executable, "-c", ASK_MPI])
    if wrong:
        return Mpi(problem=f"mpi4py cannot load MPI: {wrong}")
    library, mpiexec = " ".join(found.splitlines()[:2]), find_mpiexec()
    if not mpiexec:
        return Mpi(library, problem=f"there is no mpiexec in {SCRIPTS} or in PATH")
    found, wrong = _answer([mpiexec, "-n", str(RANKS), sys.executable, "-m", "mpi4py", "-c", ASK_MPI])
    if not wrong and found.splitlines()[2:] != [str(RANKS)]:
        wrong = f"it is not of {library}, so that its processes know nothing of one another"
    return Mpi(library, mpiexec, f"{mpiexec} starts no ranks: {wrong}" if wrong else "")


def examine_petsc() -> Petsc:
    """The PETSc of petsc4py. Cost: a start of Python."""
    if find_spec("petsc4py") is None:
        return Petsc(problem="petsc4py is not installed")
    found, wrong = _answer([sys.executable, "-c", ASK_PETSC])
    if wrong:
        return Petsc(problem=f"petsc4py cannot load PETSc: {wrong}")
    about = json.loads(found.splitlines()[-1])
    return Petsc(about["version"], about["scalar"], about["integer"], tuple(about["external"]))


def _answer(command: list[str]) -> tuple[str, str]:
    """What a command prints, and in one line why it fails, empty if it does not."""
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL, check=False
        )
    except subprocess.TimeoutExpired:
        return "", f"no answer in {SECONDS} s"
    except OSError as error:
        return "", error.strerror or str(error)
    lines = ended.stderr.strip().splitlines() or [f"it ended with status {ended.returncode}"]
    return (ended.stdout, "") if ended.returncode == 0 and ended.stdout.strip() else ("", lines[-1].rstrip(". "))
