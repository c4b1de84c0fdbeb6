"""Engines: programs that iterate in a run, which are the workbench itself and those of extensions."""

from __future__ import annotations

from typing import Protocol

from workbench.errors import InputError, quoted
from workbench.registry.extensions import Extension, extensions, ours
from workbench.solvers import Solver

WORKBENCH = "workbench"


class MethodOf(Protocol):
    """The function that an extension declares for an engine."""

    def __call__(self, method: str, options: str) -> Solver:
        """A solver for the engine's method of that name. options: in the engine's own form.

        Raises InputError for a method that the engine does not have.
        """
        ...


def on_engine(engine: str, solver: str | Solver | None, options: str = "") -> str | Solver | None:
    """The solver for a method of an engine, by default cg. For the workbench itself, `solver` as it is.

    Raises InputError for other engines, for methods that the engine does not have, and for options of the workbench.
    """
    if engine == WORKBENCH:
        if options:
            raise InputError("options are those of PETSc; add engine petsc, or leave them out")
        return solver
    extension = _extension_with(engine)
    if isinstance(solver, Solver):
        raise InputError(f"engine {engine} takes the name of a method, got solver {solver.text}")
    method_of: MethodOf = extension.resolved(extension.engines[engine])
    return method_of((solver or "cg").removeprefix(f"{engine}:"), options)


def _extension_with(engine: str) -> Extension:
    """The extension that declares an engine. Raises InputError, which lists all engines, for an unknown one."""
    # Ours first: the others are found in the metadata of all distributions, which takes milliseconds to read.
    for declared in (ours, extensions):
        for extension in declared().values():
            if engine in extension.engines:
                return extension
    engines = [WORKBENCH, *(name for extension in extensions().values() for name in extension.engines)]
    raise InputError(f"engine must be one of {', '.join(engines)}, got {quoted(engine)}")
