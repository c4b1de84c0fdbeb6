"""Sums over the ranks: at once, or begun and waited for where the numbers are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpi4py import MPI

    from workbench.devices.operator_protocols import BlockAlgebra
    from workbench.extensions.mpi.device.watched import WatchedCommunicator


class SummedAlgebra:
    """A `BlockAlgebra` of the rows of a rank whose dot products are summed over the ranks."""

    def __init__(self, algebra: BlockAlgebra, sums: Sums) -> None:
        self._algebra, self._sums = algebra, sums
        self.combine, self.fuses = algebra.combine, algebra.fuses

    def device_matrices(self, *_: object) -> None:
        """The host adds the sums of the ranks."""

    def gram(self, *given: Any, **named: Any) -> Callable[[], np.ndarray]:
        """X^H Y of all ranks."""
        run = self._algebra.gram(*given, **named)
        return lambda: self._sums.total(run())

    def column_dots(self, *given: Any, **named: Any) -> Callable[[], np.ndarray]:
        """Its diagonal."""
        run = self._algebra.column_dots(*given, **named)
        return lambda: self._sums.total(run())

    def fused(self, *given: Any) -> Callable[[Mapping[str, np.ndarray]], dict[str, np.ndarray]] | None:
        """Several lines in one pass, and one sum of all their dot products."""
        if (run := self._algebra.fused(*given)) is None:
            return None

        def call(small: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
            made = {name: np.asarray(value) for name, value in run(small).items()}
            if not made:
                return made
            total = self._sums.total(np.concatenate([value.ravel() for value in made.values()]))
            ends = np.cumsum([value.size for value in made.values()])[:-1]
            parts = zip(made.items(), np.split(total, ends), strict=True)
            return {name: part.reshape(value.shape) for (name, value), part in parts}

        return call


class Sums:
    """Sums over the ranks of an mpi4py communicator; every rank gets the same digits."""

    def __init__(self, communicator: WatchedCommunicator) -> None:
        from mpi4py import MPI

        self._communicator, self._mpi = communicator, MPI
        self.processor: str = MPI.Get_processor_name()
        """The host of this rank."""
        self._pending: list[tuple[MPI.Request, np.ndarray, list[int], np.ndarray]] = []

    def total(self, values: np.ndarray) -> np.ndarray:
        """Sum an array in place."""
        self._communicator.Allreduce(self._mpi.IN_PLACE, values)
        return values

    def largest(self, value: float) -> float:
        """The largest of all ranks; NaN where one has it."""
        found = np.array(self._communicator.allgather(float(value)))
        return float(found.max())

    def begin(self, scalars: np.ndarray, slots: list[int]) -> None:
        """Begin to sum some scalars; they change when `settle` is called."""
        values = scalars[slots]
        request = self._communicator.Iallreduce(self._mpi.IN_PLACE, values)
        self._pending.append((request, scalars, slots, values))

    def settle(self) -> None:
        """Wait for the sums that have begun, and write them."""
        if self._pending:
            for request, scalars, slots, values in self._pending:
                self.wait(request)
                scalars[slots] = values
            self._pending.clear()

    def wait(self, request: MPI.Request) -> None:
        """Wait for one sum."""
        self._communicator.wait_all([request])

    def beginning(self, run: Callable[[], None], scalars: np.ndarray, slots: list[int]) -> Callable[[], None]:
        """A pass that reads scalars, and whose dot products begin to be summed when it ends."""

        def call() -> None:
            self.settle()
            run()
            if slots:
                self.begin(scalars, slots)

        return call
