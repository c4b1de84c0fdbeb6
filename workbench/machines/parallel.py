"""MPI and PETSc as mpi4py and petsc4py load them.

Both are loaded in processes of their own: MPI cannot be started twice in one, and a library of another MPI may end it.
Nothing here raises; what is wrong is a sentence in `problem`.
"""

from __future__ import annotations

import dataclasses
import functools
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
CHOOSING = ("MPI4PY_LIBMPI", "MPI4PY_MPIABI")
"""Environment variables by which mpi4py chooses a library."""
SCRIPTS = f"{sys.prefix}{os.sep}bin"
EXTERNAL = ("hypre", "mumps", "superlu_dist", "cuda")
"""Packages that PETSc may be built with and that preconditioners of the field use."""
ASK_MPI = (
    "from mpi4py import MPI; name, version = MPI.get_vendor()\n"
    "if not MPI.COMM_WORLD.rank: print(name, '.'.join(map(str, version)), MPI.COMM_WORLD.size, sep='\\n')"
)
ASK_LIBRARY = (
    "import mpi4py, pathlib, re; mpi4py.rc.initialize = False; from mpi4py import MPI\n"
    "name, version = MPI.get_vendor(); maps = pathlib.Path('/proc/self/maps')\n"
    "paths = re.findall(r'/\\S*/libmpi[^\\s/]*', maps.read_text()) if maps.exists() else []\n"
    "print(name, '.'.join(map(str, version)), ''.join(paths[:1]), sep='\\n')"
)
FAMILIES = {
    "Open MPI": ("Open MPI", "OpenRTE", "PRRTE", "prterun"),
    "MPICH": ("MPICH", "HYDRA", "MVAPICH", "Intel MPI", "Intel(R) MPI"),
}
"""Kinds of MPI whose mpiexec starts no ranks of another kind, each with the names of its programs and libraries."""
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


def other_mpi(mpiexec: str) -> str:
    """A sentence where mpi4py and mpiexec are of two kinds of MPI, whose ranks would not start, or each be alone; empty
    where they are not, or that is not known. Cost: a start of Python, once for the same mpiexec."""
    return _other_mpi(mpiexec, *(os.environ.get(name, "") for name in CHOOSING))


@functools.cache
def _other_mpi(mpiexec: str, *_: str) -> str:
    library, starter = _answer([sys.executable, "-c", ASK_LIBRARY])[0], _answer([mpiexec, "--version"])[0]
    of_library, of_starter = _family(library), _family(starter)
    if not of_library or not of_starter or of_library == of_starter:
        return ""
    name, version, path = library.splitlines()[:3]
    return (
        f"mpi4py loads {name} {version} ({path or 'by the path of libraries'}), and {mpiexec} is of {of_starter}; put "
        f"the mpiexec of {of_library} first in PATH or set {MPIEXEC} to it, or set {CHOOSING[0]} to the library of "
        f"{of_starter}, or {CHOOSING[1]} to its ABI"
    )


def _family(text: str) -> str:
    return next((name for name, marks in FAMILIES.items() if any(mark in text for mark in marks)), "")


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
    if wrong := other_mpi(mpiexec):
        return Mpi(library, mpiexec, wrong)
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
    """The output of a command, and in one line why it fails, empty if it does not."""
    try:
        ended = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "", f"no answer in {SECONDS} s"
    except OSError as error:
        return "", error.strerror or str(error)
    lines = ended.stderr.strip().splitlines() or [f"it ended with status {ended.returncode}"]
    return (ended.stdout, "") if ended.returncode == 0 and ended.stdout.strip() else ("", lines[-1].rstrip(". "))
