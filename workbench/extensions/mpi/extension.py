"""Declaration of the extension: runs on ranks of MPI."""

from workbench.registry.extensions import Extension

EXTENSION = Extension(
    name="mpi",
    title="Runs on ranks of MPI",
    package="workbench.extensions.mpi",
    install="cg-workbench[mpi]",
    needs=("mpi4py",),
    services={
        "ranks": "workbench.extensions.mpi.run.start:start",
        "mpiexec": "workbench.extensions.mpi.started_by_mpiexec:COMMANDS",
    },
    doctor="workbench.extensions.mpi.doctor:examine",
)
