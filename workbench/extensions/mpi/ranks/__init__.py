"""The ranks of a run: processes of MPI that make it together, each on its own rows.

`python -m mpi4py -m workbench.extensions.mpi.ranks FOLDER` is what `workbench.extensions.mpi.run` starts under mpiexec.
Every rank makes the same `Run`; rank 0 reads commands from its standard input and writes replies to its standard
output. `world` is for commands that are started under mpiexec themselves.
"""
