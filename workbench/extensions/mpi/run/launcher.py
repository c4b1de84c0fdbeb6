"""The start of ranks: mpiexec of the MPI that mpi4py uses, and the environment of its processes."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import workbench
from workbench.errors import InputError
from workbench.extensions.mpi.mpiexec import MPIEXEC, SCRIPTS, find_mpiexec, other_mpi

OF_A_RANK = ("PMI_", "PMIX_", "OMPI_", "PRTE_", "MPI_LOCAL", "HYDI_")
"""Variables of a process that mpiexec has started, by their beginning: to its ranks they would name other ranks."""
SETTINGS = ("OMPI_MCA_", "PRTE_MCA_", "PMIX_MCA_")
"""Those of them in which a user of Open MPI chooses networks. Where mpiexec has started this process it has added its
own addresses to them."""
ALLOWED = ("OMPI_ALLOW_", "PRTE_ALLOW_", "PRTE_PREFIX", "PMIX_PREFIX")
"""Those that hold for every mpiexec of Open MPI: root in a container may start it, and where it is installed."""
STARTED = ("OMPI_COMM_WORLD_RANK", "PRTE_LAUNCHED", "FLUX_TASK_RANK")
"""Variables of a process that mpiexec of Open MPI, or Flux in its place, has started."""
AS_OTHERS = {
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
}
"""Settings by which Open MPI 4 and 5 start ranks on this host as other kinds of MPI do: more than it has cores, and
bound to none. Two ranks would have the first two cores of many, as those of another run at the same time."""
QUEUES = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "HYDRA_HOST_FILE")
"""Environment variables by which mpiexec gets the hosts of a job; without them all ranks are on this one."""
PER_CORE, FEW = 4, 8
"""Most ranks for each core of this host, and the number allowed in any case: MPI waits actively."""
INSTALL = "run `make mpi` in a checkout, or pip install 'cg-workbench[mpi]'"


def command(ranks: int, folder: Path) -> list[str]:
    """The command that starts the ranks of the job in a folder.

    `-m mpi4py` ends all ranks where one of them raises; without it the others would wait for ever. Raises InputError
    where mpi4py or mpiexec is missing.
    """
    if importlib.util.find_spec("mpi4py") is None:
        raise InputError(f"ranks {ranks} needs mpi4py, which is not installed; {INSTALL}", changes={"ranks": 1})
    most = max(FEW, PER_CORE * (os.cpu_count() or 1))
    if ranks > most and not any(name in os.environ for name in QUEUES):
        raise InputError(
            f"{ranks} ranks on the {os.cpu_count()} cores of this host would wait for one another; use at most {most}, "
            "or start them in a job of a queue, or by mpiexec and a list of hosts",
            changes={"ranks": most},
        )
    return [
        mpiexec(ranks),
        "-n",
        str(ranks),
        sys.executable,
        "-m",
        "mpi4py",
        "-m",
        "workbench.extensions.mpi.ranks",
        str(folder),
    ]


def mpiexec(ranks: int) -> str:
    """The path of mpiexec, see `find_mpiexec`. Raises InputError if it is missing, and for one of another MPI."""
    found = find_mpiexec()
    if not found:
        raise InputError(
            f"ranks {ranks} needs mpiexec, which is neither in {SCRIPTS} nor in PATH; {INSTALL}, or set {MPIEXEC}",
            changes={"ranks": 1},
        )
    if wrong := other_mpi(found):
        raise InputError(f"ranks {ranks} cannot start: {wrong}", changes={"ranks": 1})
    return found


def environment(now: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment of the ranks, which import this library from where this process has it."""
    chosen = ALLOWED if any(name in now for name in STARTED) else (*ALLOWED, *SETTINGS)
    kept = {name: now[name] for name in now if name.startswith(chosen) or not name.startswith(OF_A_RANK)}
    if not any(name in now for name in QUEUES):
        kept = AS_OTHERS | kept
    here = str(Path(workbench.__file__).parents[1])
    kept["PYTHONPATH"] = os.pathsep.join(filter(None, (here, kept.get("PYTHONPATH"))))
    return kept
