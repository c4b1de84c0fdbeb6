"""`python -m workbench`; `mpiexec -n 4 python -m mpi4py -m workbench solve ...` is the same run on four ranks."""

import sys

from workbench.cli import main
from workbench.cli.mpiexec import commands_on_ranks
from workbench.errors import InputError

try:
    commands = commands_on_ranks()
except InputError:
    # The command says so itself.
    commands = None
# What starts threads is imported by the command, after ranks have shared their cores.
sys.exit(commands.run(main) if commands else main())
