"""No second level."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.blocks import register
from workbench.deflation.base import Deflation


@register
@dataclasses.dataclass(frozen=True)
class NoDeflation(Deflation):
    """No deflation vectors; the system is solved as it is."""

    name: ClassVar[str] = "none"
    title: ClassVar[str] = "none"
