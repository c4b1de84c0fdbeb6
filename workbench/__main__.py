"""`python -m workbench`; `mpiexec -n 4 python -m mpi4py -m workbench solve ...` is the same run on four ranks."""

import sys

from workbench.extensions.mpi.ranks.world import communicator, share_cores

world = communicator()
if world is not None and world.size > 1:
    # Before what starts threads is imported.
    share_cores(world)

from workbench.cli import main  # noqa: E402
from workbench.extensions.mpi.started_by_mpiexec import as_one  # noqa: E402

sys.exit(main() if world is None or world.size == 1 else as_one(world, main))
