"""The program mpiexec that starts ranks of the MPI that mpi4py loads."""

from __future__ import annotations

import functools
import os
import shutil
import sys

from workbench.machines.answers import answer_of

MPIEXEC = "WORKBENCH_MPIEXEC"
"""The environment variable for the path of mpiexec, where it is neither next to Python nor in PATH."""
CHOOSING = ("MPI4PY_LIBMPI", "MPI4PY_MPIABI")
"""Environment variables by which mpi4py chooses a library."""
SCRIPTS = f"{sys.prefix}{os.sep}bin"
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
    library, starter = answer_of([sys.executable, "-c", ASK_LIBRARY])[0], answer_of([mpiexec, "--version"])[0]
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
