"""PETSc by petsc4py: its solvers, its preconditioners, and its deflation PCDEFLATION."""
