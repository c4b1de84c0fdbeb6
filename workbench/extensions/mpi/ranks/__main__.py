"""`python -m mpi4py -m workbench.extensions.mpi.ranks FOLDER`: a rank of the run in a folder, under mpiexec."""

import os
import sys
from pathlib import Path

from mpi4py import MPI

from workbench.extensions.mpi.ranks.world import share_cores

share_cores(MPI.COMM_WORLD)

# What starts threads is imported once their number is known.
from workbench.extensions.mpi.ranks.worker import work  # noqa: E402

work(MPI.COMM_WORLD, Path(sys.argv[1]))
MPI.Finalize()
# Unloading libraries takes a while, and the user waits for a run that was stopped.
os._exit(0)
