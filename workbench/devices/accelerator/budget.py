"""Memory limit of a run on a device."""

from __future__ import annotations

from workbench.devices.accelerator.runtime import Vector
from workbench.errors import InputError

USABLE = 0.9
"""Fraction of the memory, or of its limit, for arrays; the driver, compiled kernels and fragmentation need the rest."""


class Budget:
    """Counts the bytes of vectors until they are dropped, and refuses those beyond a limit.

    limit: bytes of memory to assume, None for those of the device. memory: bytes of the device. where: its name. The
    fraction `USABLE` is for vectors and matrices.
    """

    def __init__(self, limit: int | None, memory: int, where: str) -> None:
        self.limit, self.used = limit, 0
        self.allocated = 0
        """Bytes of the vectors that exist, with or without a limit."""
        self._memory, self._where = memory if limit is None else limit, where

    @property
    def room(self) -> int:
        """Bytes that can still be taken."""
        return int(USABLE * self._memory) - self.used

    def need(self, nbytes: int, way_out: str = "") -> None:
        """Raise InputError if `nbytes` more do not fit; way_out ends the sentence."""
        if nbytes > self.room:
            raise InputError(
                f"device {self._where} may use {(self.room + self.used) / 1e6:.4g} of {self._memory / 1e6:.4g} MB "
                f"for vectors and matrices, and {(self.used + nbytes) / 1e6:.4g} MB are needed; "
                + (way_out or "take a smaller problem, raise the memory limit, or use device cpu")
            )

    def take(self, vector: Vector) -> None:
        """Count a vector until it is dropped."""
        self._count(vector.nbytes)
        vector.dropped = self._count

    def _count(self, nbytes: int) -> None:
        self.allocated += nbytes
        if self.limit is not None:
            self.used += nbytes
