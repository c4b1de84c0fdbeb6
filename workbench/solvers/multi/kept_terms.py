"""The terms of the iterations of a method with several preconditioners, and combinations of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from workbench.devices.operator_protocols import DeviceVector, OperatorTraits
from workbench.solvers.multi.members import Members

if TYPE_CHECKING:
    from workbench.devices.programs.workspace import Workspace
    from workbench.devices.protocol import Device

PARTS: tuple[str, ...] = (
    "preconditioners",
    "matrix-vector products",
    "inner products",
    "small matrices",
    "sum of directions",
)
"""The parts of an iteration whose time `Step.seconds` has."""


class KeptTerms(OperatorTraits):
    """The step d of x as an operator on r, a combination of all terms that are kept.

    workspace: its `notes` gain sentences, its `steps` the record of each iteration.
    """

    waits = True
    letters: ClassVar[str]
    """The meaning of the letters that are shown in a step, a clause."""

    def __init__(self, several: Members, device: Device, dtype: np.dtype, workspace: Workspace) -> None:
        self._several, self._device, self._workspace = several, device, workspace
        self._notes, self.steps = workspace.notes, workspace.steps
        self.count: int = several.count
        """The number of preconditioners."""
        self.terms: list[list[DeviceVector]] = []
        """Terms that are kept, in groups of `count`: a local vector for each member."""
        self._work = device.zeros(several.members[0].vectors.pieces.size, dtype)
        self._dots = device.dots(dtype)

    def _say(self, note: str) -> None:
        """Add a note, once."""
        if note not in self._notes:
            self._notes.append(note)

    def _vectors(self, weights: np.ndarray) -> np.ndarray:
        """Combinations of all terms in host memory, shape (N, columns). weights: shape (m, columns)."""
        found = []
        for column in weights.T:
            self._several.combine(self.terms, self._by_term(column), self._work)
            found.append(np.array(self._device.to_host(self._work)))
        return np.stack(found, axis=1) if found else np.zeros((self._work.size, 0))

    @property
    def pieces(self) -> list[np.ndarray]:
        """The unknowns of each term, sorted."""
        members = [member.vectors.pieces for member in self._several.members]
        return [pieces.part(place) for pieces in members for place in range(pieces.count)]

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each term."""
        return self._several.names

    def _by_term(self, weights: np.ndarray) -> np.ndarray:
        """Weights of all terms by group and preconditioner."""
        return weights.reshape(len(self.terms), self.count)
