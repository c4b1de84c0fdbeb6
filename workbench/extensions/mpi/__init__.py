"""Runs on ranks of MPI, each of which has some of the rows."""
