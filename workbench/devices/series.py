"""A truncated Neumann series term by term, on any device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.devices.operator_protocols import Dots, SeriesTerm


class TermByTerm:
    """u = K^T D^-1 K r, one pass over L for each term, for matrices of any pattern.

    zeros: allocates a zero vector by size and dtype. like: a vector of this size and dtype. Work space: one vector for
    order 1, two from order 2 on.
    """

    def __init__(
        self,
        order: int,
        terms: tuple[SeriesTerm, SeriesTerm, SeriesTerm],
        zeros: Callable[[int, np.dtype], Any],
        like: Any,
    ) -> None:
        self._order = order
        self._lower, self._lower_scaled, self._upper = terms
        self._middle = zeros(like.size, like.dtype)
        self._spare = zeros(like.size, like.dtype) if order > 1 else None

    def apply(self, r: Any, u: Any, *_: str) -> Dots:
        """u = M^-1 r; computes all three dot products. The two may not be the same vector."""
        # The target alternates between u and one spare vector: the last term must write u, and none may overwrite its
        # argument.
        v = r
        for k in range(1, self._order):
            target = u if k % 2 else self._spare
            self._lower.apply(r, v, target, r)
            v = target
        self._lower_scaled.apply(r, v, self._middle, r)
        v = self._middle
        for k in range(self._order, 1, -1):
            target = self._spare if k % 2 == 0 else u
            self._upper.apply(self._middle, v, target, r)
            v = target
        return self._upper.apply(self._middle, v, u, r)

    @property
    def traffic(self) -> int:
        return (self._order - 1) * self._lower.traffic + self._lower_scaled.traffic + self._order * self._upper.traffic

    @property
    def flops(self) -> int:
        return (self._order - 1) * self._lower.flops + self._lower_scaled.flops + self._order * self._upper.flops
