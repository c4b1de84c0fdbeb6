"""CG with the sum of several preconditioners."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.registry import register
from workbench.solvers.cg import CG


@register
@dataclasses.dataclass(frozen=True)
class SumCG(CG):
    """CG with the sum of the preconditioners that `mpcg` takes one by one: what that has to be compared with.

    The recurrence is that of `cg`. Cost: the preconditioners once, and their sum; memory does not grow.

    Source: Dryja and Widlund 1987, for boxes.
    """

    name: ClassVar[str] = "sum-cg"
    in_family: ClassVar[bool] = False
    title: ClassVar[str] = "CG with the sum of several preconditioners"
