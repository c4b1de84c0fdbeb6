"""What a run needs of its iterations, on one right-hand side (`single`) or on many (`block`)."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from workbench.devices.operator_protocols import DeviceVector
from workbench.recording import History
from workbench.run.result import Column
from workbench.run.stopping_test import Termination


class Found(NamedTuple):
    """What a result says of a solution.

    x: of the original system. true_relative: ||b - A x||/||b|| for this x and the b that was given, the largest of many
    columns; NaN where the device is lost. columns: the end of each of many.
    """

    x: Any
    true_relative: float
    columns: tuple[Column, ...] = ()


class Iterations(Protocol):
    """The iterations of a run, from the setup to the end.

    history: grows with them. chunks: the right-hand sides that are solved at once, one chunk after another. norm_of_b:
    ||b|| of the original system, or 1 where the history is relative to it. threshold: the norm at which they end, like
    those of the history. seconds: wall-clock time of the iterations. notes: what a method has to say. workspace: of the
    recurrence; None once it is lost.
    """

    chunks: list[slice]

    @property
    def history(self) -> History: ...

    @property
    def norm_of_b(self) -> float: ...

    @property
    def threshold(self) -> float: ...

    @property
    def seconds(self) -> float: ...

    @property
    def notes(self) -> list[str]: ...

    @property
    def workspace(self) -> Any: ...

    def advance(self, most: int | None) -> Termination | None:
        """Make the start at first, then one iteration or up to `most`; why the run ends with them, None if it does not.

        Raises DeviceError.
        """
        ...

    def x(self) -> Any:
        """The present solution of the original system, in host memory."""
        ...

    def found(self, ending: Termination | None) -> Found:
        """The present solution with its true residual. ending: of the run, None while it is active. Cost: one product
        with A."""
        ...

    def lost(self) -> Found:
        """What is left once the device is lost."""
        ...

    def solution(self, column: int) -> DeviceVector:
        """The solution of the scaled system for a right-hand side, shape (N,), on the device; not to be changed."""
        ...

    def recurrence_residual(self) -> DeviceVector | None:
        """r of the recurrence, where it stores one that is valid for the present x."""
        ...

    def true_residual(self, column: int) -> DeviceVector:
        """b - A x of the scaled system, on the device, valid until the next step. Cost: one product with A."""
        ...

    def exponent(self, column: int) -> int:
        """The scaled system of a right-hand side is the original one with b and x times 2^-exponent."""
        ...

    def release(self) -> None:
        """Drop all references to memory of the device."""
        ...
