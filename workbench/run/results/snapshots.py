"""Snapshot requests, served by the solver thread between iterations.

No view reads a vector while kernels write it, and only the solver thread uses its device. Without requests a step costs
one test of an empty queue.
"""

from __future__ import annotations

import collections
import contextlib
import enum
import logging
import time
from collections.abc import Callable, Generator
from typing import Any, Generic, TypeVar

import numpy as np

from workbench import devices
from workbench.arrays.scaling import scaled
from workbench.arrays.validation import read_only
from workbench.devices.operator_protocols import DeviceVector
from workbench.devices.protocol import Device
from workbench.devices.slices import PlaneSlice, VolumeSlice
from workbench.errors import DeviceError
from workbench.problems import LinearSystem
from workbench.run.choices.configuration import Configuration
from workbench.run.choices.stopping import Reason
from workbench.run.loop.iterations import RunState
from workbench.run.setup.prepare import on_cores

T = TypeVar("T")

UNKNOWN = "the exact solution is unknown; the right-hand side ones-scaled has a known one"
RECOMPUTED = "b − A x, recomputed"


class Quantity(enum.StrEnum):
    """A vector that a snapshot can show: x, b - A x, or the exact solution minus x.

    Examples:
        >>> from workbench.run import Quantity
        >>> [quantity.value for quantity in Quantity]
        ['solution', 'residual', 'error']
    """

    SOLUTION = "solution"
    RESIDUAL = "residual"
    ERROR = "error"


Cut = Callable[[np.ndarray], np.ndarray]
"""Extracts what is wanted of a vector, shape (N,), into a new array; it must not keep the vector itself. Of a cut that
has a `plane_slice` or a `volume_slice`, an accelerator evaluates that slice itself and copies no more."""


class Snapshot:
    """A requested snapshot. Once it is `done`, `iteration`, `values` and `words` are valid.

    column: the one of many right-hand sides. values: the result of the cut, None without one. words: the origin of the
    vector, or why there is none.
    """

    def __init__(self, quantity: Quantity, cut: Cut, column: int = 0) -> None:
        self.quantity, self.cut, self.column = quantity, cut, column
        self.iteration = 0
        self.values: np.ndarray | None = None
        self.words = ""
        self.done = False

    def take(
        self, iteration: int, found: Callable[[], tuple[DeviceVector | None, str]], device: Device | None = None
    ) -> None:
        """Apply the cut to the result of `found`: a vector, on the host or on `device`, and words on it.

        Errors are reported in `words`. Raises DeviceError.
        """
        with _reported(self, iteration):
            vector, self.words = found()
            self.values = None if vector is None else self._cut(vector, device)

    def serve(self, state: RunState) -> None:
        """Take it of a run."""
        self.take(state.iterations, lambda: vector_of(state, self.quantity, self.column), state.setup.device)

    def _cut(self, vector: DeviceVector, device: Device | None) -> np.ndarray:
        if isinstance(vector, np.ndarray):
            return self.cut(read_only(vector))
        assert device is not None
        volume: VolumeSlice | None = getattr(self.cut, "volume_slice", None)
        if volume is not None:
            return device.volume(vector, volume)
        part: PlaneSlice | None = getattr(self.cut, "plane_slice", None)
        return self.cut(device.to_host(vector)) if part is None else device.plane(vector, part)


class Look(Generic[T]):
    """A requested look at a run, by the thread that iterates. Once it is `done`, the rest is valid.

    value: what `take` returned, None after an error, which is reported in `words`.
    """

    def __init__(self, take: Callable[[], T]) -> None:
        self._take = take
        self.iteration = 0
        self.value: T | None = None
        self.words = ""
        self.done = False

    def serve(self, state: RunState) -> None:
        """Look. Raises DeviceError."""
        with _reported(self, state.iterations):
            self.value = self._take()


@contextlib.contextmanager
def _reported(request: Snapshot | Look[Any], iteration: int) -> Generator[None]:
    """A request is done in the block; errors are reported in its words. Raises DeviceError."""
    request.iteration = iteration
    try:
        yield
    except DeviceError as lost:
        request.words = str(lost)
        raise
    # An error in a picture must not end the run.
    except Exception as error:
        logging.getLogger(__name__).exception("a snapshot of a run failed")
        request.words = f"the snapshot failed: {error}"
    finally:
        request.done = True


class SnapshotRequests:
    """The pending snapshot requests of a run. count, seconds: number and wall-clock time of those served.

    This time is not iteration time, and its kernels are not traced.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.count = 0
        self._pending: collections.deque[Snapshot | Look[Any]] = collections.deque()

    def __bool__(self) -> bool:
        return bool(self._pending)

    def request(self, quantity: Quantity, cut: Cut, column: int = 0) -> Snapshot:
        """Request a snapshot; returns at once, and the snapshot is done later. May be called from any thread.

        column: the one of many right-hand sides.
        """
        snapshot = Snapshot(quantity, cut, column)
        self._pending.append(snapshot)
        return snapshot

    def look(self, take: Callable[[], T]) -> Look[T]:
        """Request a look at other data than a vector of the system, as by `request`. take: returns copies."""
        look = Look(take)
        self._pending.append(look)
        return look

    def serve(self, state: RunState) -> None:
        """Take all pending snapshots. For the solver thread, or one that holds the run's lock."""
        begun = time.perf_counter()
        while self._pending:
            self._pending.popleft().serve(state)
            self.count += 1
        self.seconds += time.perf_counter() - begun


def vector_of(state: RunState, quantity: Quantity, column: int) -> tuple[DeviceVector | None, str]:
    """A vector in terms of the original system, on the host where the run scales it, and words on its origin."""
    if not (state.ending and state.ending.reason is Reason.DEVICE_LOST) and (
        found := state.vectors.elsewhere(quantity, column)
    ):
        return found
    vector, words = _scaled_vector(state, quantity, column)
    if vector is None or not (exponent := state.vectors.exponent(column)):
        return vector, words
    host = vector if isinstance(vector, np.ndarray) else state.setup.device.to_host(vector)
    return scaled(host, exponent), words


def _scaled_vector(state: RunState, quantity: Quantity, column: int) -> tuple[DeviceVector | None, str]:
    """A vector of the scaled system, where it is stored, and words on its origin; None where it is unknown.

    Cost: nothing for a residual that the recurrence stores, one application of A for any other; for x and the error
    under deflation that of Q b + P^T x, and for a singular A that of the projection.
    """
    setup = state.setup
    if state.ending and state.ending.reason is Reason.DEVICE_LOST:
        return None, "the vectors were lost with the device"
    device = setup.device
    if quantity is Quantity.RESIDUAL:
        # After a failure x may be another one than that of the recurrence.
        failed = state.ending and not state.ending.reason.converged
        r = None if failed else state.vectors.recurrence_residual()
        return (state.vectors.true_residual(column), RECOMPUTED) if r is None else (r, "r of the recurrence")
    if quantity is Quantity.ERROR and setup.exact is None:
        return None, UNKNOWN
    vector = state.vectors.solution(column)
    if quantity is Quantity.ERROR:
        vector = device.copy(vector)
        device.subtract_from(setup.exact, vector)
    return setup.null_space.complement(vector, device)[0], _origin(quantity)


def of_result(
    configuration: Configuration, system: LinearSystem, x: np.ndarray, quantity: Quantity, column: int = 0
) -> tuple[np.ndarray | None, str]:
    """A vector of a run that has ended, from its x, and words on its origin; None where it is unknown.

    column: the one of an x of shape (N, s). Cost: nothing for the solution, two applications of A on the CPU for the
    others.
    """
    x = x if x.ndim == 1 else x[:, column]
    if not np.isfinite(x).all():
        return None, "x is not finite, so that there is nothing to show"
    if quantity is Quantity.SOLUTION:
        return x, _origin(quantity)
    if quantity is Quantity.ERROR and configuration.rhs != "ones-scaled":
        return None, UNKNOWN
    bound, b, exact, null_space = on_cores(configuration, system, column)
    if quantity is Quantity.ERROR:
        return null_space.complement(exact - x, devices.device("cpu"))[0], _origin(quantity)
    product = np.zeros_like(b)
    bound.apply(np.ascontiguousarray(x, b.dtype), product)
    return b - product, RECOMPUTED


def _origin(quantity: Quantity) -> str:
    """Words on a solution or an error; a solution needs none."""
    return "" if quantity is Quantity.SOLUTION else "exact solution − x"
