"""A system handed over by the caller, as the problem of a run."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.errors import InputError
from workbench.problems import LinearSystem, Problem


@dataclasses.dataclass(frozen=True)
class GivenProblem(Problem):
    """A and b that the caller holds in memory; it cannot be assembled again from its provenance."""

    name: ClassVar[str] = "given"
    title: ClassVar[str] = "a system given in memory"

    def assemble(self, seed: int = 0) -> LinearSystem:
        raise InputError("this run solved a system held in memory; pass the matrix again, or save it as a .mtx file")
