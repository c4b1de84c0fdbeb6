"""`python -m mpi4py -m workbench.ranks FOLDER`: a rank of the run in a folder, under mpiexec."""

import sys
from pathlib import Path

from mpi4py import MPI

from workbench.ranks.world import share_cores

share_cores(MPI.COMM_WORLD)

# What starts threads is imported once their number is known.
from workbench.ranks.worker import work  # noqa: E402

work(MPI.COMM_WORLD, Path(sys.argv[1]))
