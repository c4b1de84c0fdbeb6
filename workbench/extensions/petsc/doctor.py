"""PETSc as petsc4py loads it, for `workbench doctor`.

It is loaded in a process of its own, which a library of another MPI may end. Nothing here raises; what is wrong is a
sentence in `problem`.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from importlib.util import find_spec

from workbench.machines.advice import Missing, in_checkout
from workbench.machines.answers import answer_of
from workbench.machines.extension_reports import Examined

EXTERNAL = ("hypre", "mumps", "superlu_dist", "cuda")
"""Packages that PETSc may be built with and that preconditioners of the field use."""
ASK_PETSC = (
    "import json, petsc4py; petsc4py.init([]); from petsc4py import PETSc\n"
    "print(json.dumps({'version': '.'.join(map(str, PETSc.Sys.getVersion())), 'scalar': PETSc.ScalarType.__name__, "
    f"'integer': PETSc.IntType.__name__, 'external': [n for n in {EXTERNAL} if PETSc.Sys.hasExternalPackage(n)]}}))"
)


@dataclasses.dataclass(frozen=True)
class Petsc:
    """version: empty without PETSc. scalar, integer: its types of numbers. external: which of `EXTERNAL` it has."""

    version: str = ""
    scalar: str = ""
    integer: str = ""
    external: tuple[str, ...] = ()
    problem: str = ""


def examine() -> Examined:
    """The PETSc of petsc4py in lines. Cost: a start of Python."""
    found = examine_petsc()
    return Examined("PETSc", (line(found),), dataclasses.asdict(found), missing(found))


def line(found: Petsc) -> str:
    """The part of a report on PETSc."""
    if found.problem:
        return found.problem
    absent = [name for name in EXTERNAL if name not in found.external]
    built = [f"with {', '.join(found.external)}"] if found.external else []
    built += [f"without {', '.join(absent)}"] if absent else []
    return f"{found.version}, {found.scalar}, {found.integer} indices, {', '.join(built)}"


def missing(found: Petsc) -> tuple[Missing, ...]:
    """PETSc with the way to it, where there is none."""
    if found.version:
        return ()
    if not in_checkout():
        why = "required by petsc blocks; `make petsc` in a checkout, or petsc4py from conda-forge"
        return (Missing("PETSc", why, ()),)
    why = f"required by petsc blocks; {found.problem}, and in the checkout ten minutes of CPU and a C compiler build it"
    return (Missing("PETSc", why, ("make petsc",)),)


def examine_petsc() -> Petsc:
    """The PETSc of petsc4py. Cost: a start of Python."""
    if find_spec("petsc4py") is None:
        return Petsc(problem="petsc4py is not installed")
    found, wrong = answer_of([sys.executable, "-c", ASK_PETSC])
    if wrong:
        return Petsc(problem=f"petsc4py cannot load PETSc: {wrong}")
    about = json.loads(found.splitlines()[-1])
    return Petsc(about["version"], about["scalar"], about["integer"], tuple(about["external"]))
