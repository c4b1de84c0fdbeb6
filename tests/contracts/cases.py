"""What is registered, by kind: the choices that the contracts combine (see README.md in this folder)."""

from __future__ import annotations

import workbench.run  # noqa: F401  registers every block
from workbench.registry import blocks as registry

COARSE = sorted(registry.registered("coarse"))
VARIANTS = sorted(set(registry.registered("variant")) - {"pcdeflation"})
HERMITIAN = [name for name in VARIANTS if name != "a-def1"]
"""Variants that converge with every M. The M1 of A-DEF1 is not Hermitian; with some M, CG does not converge."""
ON_CORES = sorted(
    name
    for name, solver in registry.registered("solver").items()
    if not (solver.needs_accelerator or solver.complex_symmetric or name == "petsc")
)
"""Methods for Hermitian matrices. COCG has tests of its own, in tests/solvers/block, and so has PETSc."""
FIRST = sorted(set(registry.registered("preconditioner")) - {"amgx", "petsc"})
"""AmgX and PETSc are optional, and have tests of their own; PCDEFLATION too."""
SIZES = {"blocks": 4, "levelset": 4, "parts": 16}
"""The first parameter of spaces that by default have too few vectors, or too many, for the small problems here."""
SECOND = sorted(
    f"{name}:{SIZES[name]}" if name in SIZES else name
    for name in set(registry.registered("deflation")) - {"none", "file"}
)
PROBLEMS = sorted(
    name
    for name, problem in registry.registered("problem").items()
    if "n" in [declared.name for declared in problem.parameters()]
)
"""Problems of a size that one number sets; matrices from files and stand-ins have tests of their own."""
