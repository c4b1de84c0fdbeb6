"""MPI as mpi4py loads it, for `workbench doctor`.

It is loaded in processes of their own: MPI cannot be started twice in one, and a library of another MPI may end it.
Nothing here raises; what is wrong is a sentence in `problem`.
"""

from __future__ import annotations

import dataclasses
import sys
from importlib.util import find_spec

from workbench.extensions.mpi.mpiexec import SCRIPTS, find_mpiexec, other_mpi
from workbench.extensions.mpi.run.launcher import environment
from workbench.machines import packages
from workbench.machines.advice import Missing, install_command
from workbench.machines.answers import answer_of
from workbench.machines.extension_reports import Examined

RANKS = 2
EXTRA = "mpi"
ASK_MPI = (
    "from mpi4py import MPI; name, version = MPI.get_vendor()\n"
    "if not MPI.COMM_WORLD.rank: print(name, '.'.join(map(str, version)), MPI.COMM_WORLD.size, sep='\\n')"
)


@dataclasses.dataclass(frozen=True)
class Mpi:
    """library: name and version, empty without one. mpiexec: its path, empty without one."""

    library: str = ""
    mpiexec: str = ""
    problem: str = ""


def examine() -> Examined:
    """The MPI of mpi4py in lines. Cost: that of `examine_mpi`."""
    found = examine_mpi()
    return Examined("MPI", lines(found), dataclasses.asdict(found), _missing())


def lines(found: Mpi) -> tuple[str, ...]:
    """The part of a report on MPI."""
    starts = f"started by {found.mpiexec}" if found.mpiexec else ""
    present = [", ".join(filter(None, (found.library, starts)))] if found.library else []
    return (*present, *filter(None, (found.problem,)))


def _missing() -> tuple[Missing, ...] | None:
    """The packages of the extra that are not installed; None where the metadata does not say."""
    versions = packages.versions(packages.declared().get(EXTRA, ()))
    absent = [name for name, version in versions.items() if version is None]
    if absent:
        return (Missing(", ".join(absent), "required by runs on ranks", (install_command(EXTRA),)),)
    return () if versions else None


def examine_mpi() -> Mpi:
    """The MPI of mpi4py, and whether mpiexec is of the same one. Cost: two starts of Python, one on two ranks."""
    if find_spec("mpi4py") is None:
        return Mpi(problem="mpi4py is not installed")
    found, wrong = answer_of([sys.executable, "-c", ASK_MPI])
    if wrong:
        return Mpi(problem=f"mpi4py cannot load MPI: {wrong}")
    library, mpiexec = " ".join(found.splitlines()[:2]), find_mpiexec()
    if not mpiexec:
        return Mpi(library, problem=f"there is no mpiexec in {SCRIPTS} or in PATH")
    if wrong := other_mpi(mpiexec):
        return Mpi(library, mpiexec, wrong)
    command = [mpiexec, "-n", str(RANKS), sys.executable, "-m", "mpi4py", "-c", ASK_MPI]
    found, wrong = answer_of(command, environment())
    if not wrong and found.splitlines()[2:] != [str(RANKS)]:
        wrong = f"it is not of {library}, so that its processes know nothing of one another"
    return Mpi(library, mpiexec, f"{mpiexec} starts no ranks: {wrong}" if wrong else "")
