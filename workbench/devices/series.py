"""A truncated Neumann series term by term, on any device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workbench.devices.operator_protocols import Dots, OperatorTraits, SeriesTerm

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector


class TermByTerm(OperatorTraits):
    """u = K^T D^-1 K r, one pass over L for each term, for matrices of any pattern.

    lower: the terms of K, of which the last one's result is D^-1 K r. upper: every term of K^T. zeros: allocates a zero
    vector by size and dtype. like: a vector of this size and dtype. Work space: one vector for order 1, two from order
    2 on.
    """

    def __init__(
        self,
        lower: Sequence[SeriesTerm],
        upper: SeriesTerm,
        zeros: Callable[[int, np.dtype], DeviceVector],
        like: DeviceVector,
    ) -> None:
        self._lower, self._upper = lower, upper
        self._middle = zeros(like.size, like.dtype)
        self._spare = zeros(like.size, like.dtype) if len(lower) > 1 else None

    def apply(self, r: DeviceVector, u: DeviceVector, *_: str) -> Dots:
        """u = M^-1 r; computes all three dot products. The two may not be the same vector."""
        # The target alternates between u and one spare vector: the last term must write u, and none may overwrite its
        # argument.
        v, order = r, len(self._lower)
        for k, term in enumerate(self._lower, start=1):
            target = self._middle if k == order else u if k % 2 else self._spare
            term.apply(r, v, target, r)
            v = target
        for k in range(order, 1, -1):
            target = self._spare if k % 2 == 0 else u
            self._upper.apply(self._middle, v, target, r)
            v = target
        return self._upper.apply(self._middle, v, u, r)

    @property
    def traffic(self) -> int:
        return sum(term.traffic for term in self._lower) + len(self._lower) * self._upper.traffic

    @property
    def flops(self) -> int:
        return sum(term.flops for term in self._lower) + len(self._lower) * self._upper.flops
