"""Devices of ranks: the same run on every process of MPI, each on its own rows of the system.

Every rank makes the run as a whole, with the same lines, kernels and solvers. Its vectors have its rows alone. A
product exchanges ghost planes with the neighbours first, and dot products are summed over the ranks, so that every rank
has the same scalars and takes the same decisions.
"""

from workbench.errors import RANKS_WAIT

WAITED = f"run without ranks, or raise {RANKS_WAIT} where a rank is only slow"
"""Advice for ranks of which one has waited too long for the others."""
