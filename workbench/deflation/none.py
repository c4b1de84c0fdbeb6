"""No deflation."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.deflation.base import Deflation
from workbench.registry import register


@register
@dataclasses.dataclass(frozen=True)
class NoDeflation(Deflation):
    """No deflation vectors: the original system is solved."""

    name: ClassVar[str] = "none"
    title: ClassVar[str] = "none"
    on_ranks: ClassVar[bool] = True

    def estimated_count(self, size: int, grid: tuple[int, ...] | None, interface: float) -> int:
        return 0
