"""Runs on ranks, as the process that asks for them sees it.

It starts `mpiexec` with `python -m workbench.extensions.mpi.ranks` (`launcher`, `processes`), sends commands and reads
replies (`messages`). `iterations` and `setup` are to a `Run` what its own iterations and setup are; history, report and
result are made here as those of any run.
"""
