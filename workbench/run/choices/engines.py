"""Engines: programs that make the iterations of a run, the workbench itself and those of extensions."""

from __future__ import annotations

from typing import Protocol

from workbench.errors import InputError, quoted
from workbench.registry.extensions import extensions, ours
from workbench.solvers import Solver

WORKBENCH = "workbench"


class MethodOf(Protocol):
    """The function that an extension declares for an engine: it returns the solver that is the engine's method of that
    name, with options in the engine's own form. Raises InputError for a method that it does not have."""

    def __call__(self, method: str, options: str) -> Solver: ...


def on_engine(engine: str, solver: str | Solver | None, options: str = "") -> str | Solver | None:
    """The solver of an engine: the engine's method of that name, cg by default; of the workbench the solver as it is.

    Raises InputError for other engines, for methods that the engine does not have, and for options without an engine.
    """
    if engine == WORKBENCH:
        if options:
            raise InputError("options are those of PETSc; add engine petsc, or leave them out")
        return solver
    for group in (ours, extensions):
        for extension in group().values():
            if engine in extension.engines:
                if isinstance(solver, Solver):
                    raise InputError(f"engine {engine} takes the name of a method, got solver {solver.text}")
                method_of: MethodOf = extension.resolved(extension.engines[engine])
                return method_of((solver or "cg").removeprefix(f"{engine}:"), options)
    engines = [WORKBENCH, *(name for extension in extensions().values() for name in extension.engines)]
    raise InputError(f"engine must be one of {', '.join(engines)}, got {quoted(engine)}")
