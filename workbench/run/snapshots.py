"""Looks at the vectors of a run: asked for on any thread, taken by the one that iterates, between two iterations.

So no view reads a vector while kernels write it, and only the thread that iterates touches its device. A run that
nobody looks at pays one test of an empty queue a step.
"""

from __future__ import annotations

import collections
import enum
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.devices.plane_slice import PlaneSlice
from workbench.devices.protocol import Device
from workbench.errors import DeviceError
from workbench.problems import LinearSystem
from workbench.run.configuration import Configuration
from workbench.run.setup import on_cores
from workbench.scaling import scaled

if TYPE_CHECKING:
    from workbench.run.driver import Run

UNKNOWN = "the exact solution is not known; with the right-hand side ones-scaled it is"


class Quantity(enum.StrEnum):
    """A vector that can be looked at: x, b - A x, or the exact solution less x."""

    SOLUTION = "solution"
    RESIDUAL = "residual"
    ERROR = "error"


Cut = Callable[[np.ndarray], np.ndarray]
"""Makes what is wanted of a vector, shape (N,), into a new array; it must not keep the vector itself. Of one that has a
`plane_slice`, an accelerator computes by itself what that shows, and copies no more."""


class Snapshot:
    """A look that was asked for. It is `done` when `iteration`, `values` and `words` hold what was seen.

    values: what the cut made, or None where there is nothing to see. words: where it comes from, or why it is missing.
    """

    def __init__(self, quantity: Quantity, cut: Cut) -> None:
        self.quantity, self.cut = quantity, cut
        self.iteration = 0
        self.values: np.ndarray | None = None
        self.words = ""
        self.done = False

    def take(self, iteration: int, found: Callable[[], tuple[Any, str]], device: Device | None = None) -> None:
        """Cut what `found` gives, a vector on the host or on `device` and words on it. Whatever fails is told in
        `words`."""
        self.iteration = iteration
        try:
            vector, self.words = found()
            self.values = None if vector is None else self._cut(vector, device)
        except DeviceError as lost:
            self.words = str(lost)
            raise
        # A mistake in a picture must not end the run that it is of.
        except Exception as error:
            logging.getLogger(__name__).exception("a look at a run failed")
            self.words = f"the look failed: {error}"
        finally:
            self.done = True

    def _cut(self, vector: Any, device: Device | None) -> np.ndarray:
        if isinstance(vector, np.ndarray):
            return self.cut(vector)
        assert device is not None
        part: PlaneSlice | None = getattr(self.cut, "plane_slice", None)
        return self.cut(device.to_host(vector)) if part is None else device.plane(vector, part)


class SnapshotRequests:
    """The looks that were asked of a run and not taken yet. count, seconds: of those taken.

    No iteration counts what a look computes, and no trace holds it.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.count = 0
        self._waiting: collections.deque[Snapshot] = collections.deque()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def ask(self, quantity: Quantity, cut: Cut) -> Snapshot:
        """Ask for a look; returns at once, and the look is done some time later."""
        look = Snapshot(quantity, cut)
        self._waiting.append(look)
        return look

    def take(self, run: Run) -> None:
        """Take all that wait; called by the thread that iterates, or by one that keeps it from iterating."""
        begun = time.perf_counter()
        while self._waiting:
            look = self._waiting.popleft()
            look.take(run.iterations, lambda look=look: unscaled(run, *seen(run, look.quantity)), run.setting.device)
            self.count += 1
        self.seconds += time.perf_counter() - begun


def unscaled(run: Run, vector: Any, words: str) -> tuple[Any, str]:
    """A vector of a run that solves a scaled system, as one of the system that was given; any other as it is."""
    setting = run.setting
    if vector is None or not setting.exponent:
        return vector, words
    host = vector if isinstance(vector, np.ndarray) else setting.device.to_host(vector)
    return scaled(host, setting.exponent), words


def seen(run: Run, quantity: Quantity) -> tuple[Any, str]:
    """A vector of a run as it is now, where it lies, and words on where it comes from; None where it is not known.

    Cost: nothing for a residual that the recurrence stores, a product with A where it does not; for x and the error
    under deflation that of Q b + P^T x. Where solutions are defined up to a constant, x and the error are copied to the
    host.
    """
    setting = run.setting
    if setting.x is None:
        return None, "the vectors were lost with the device"
    device = setting.device
    if quantity is Quantity.RESIDUAL:
        # Before the start there is no recurrence yet, and in lines of one's own r may be anything.
        known = setting.solver.residual == "r" and not setting.solver.own_lines and run.history.count
        own = run.workspace.gathered("r") if known else None
        if own is not None:
            return own, "r of the recurrence"
        return run.true_residual(), "b − A x computed afresh"
    if quantity is Quantity.ERROR and setting.exact is None:
        return None, UNKNOWN
    vector = setting.solution(setting.x)
    if quantity is Quantity.ERROR:
        vector = device.copy(vector)
        device.subtract_from(setting.exact, vector)
    return centred(device.to_host(vector), singular=True) if setting.singular else vector, origin(quantity)


def at_rest(
    configuration: Configuration, system: LinearSystem, x: np.ndarray, quantity: Quantity
) -> tuple[np.ndarray | None, str]:
    """The same of a run that has ended, from its x on the cores. Cost: two products with A, none for the solution."""
    if not np.isfinite(x).all():
        return None, "x is not finite, so there is nothing to see"
    if quantity is Quantity.SOLUTION:
        return x, origin(quantity)
    if quantity is Quantity.ERROR and configuration.rhs != "ones-scaled":
        return None, UNKNOWN
    bound, b, exact, singular = on_cores(configuration, system)
    if quantity is Quantity.ERROR:
        return centred(exact - x, singular), origin(quantity)
    product = np.zeros_like(b)
    bound.apply(np.ascontiguousarray(x, b.dtype), product)
    return b - product, "b − A x computed afresh"


def origin(quantity: Quantity) -> str:
    """Words on a solution or an error; a solution needs none."""
    return "" if quantity is Quantity.SOLUTION else "exact solution − x"


def centred(vector: Any, singular: bool) -> np.ndarray:
    """With zero mean where the solution is defined up to a constant."""
    return vector - vector.mean() if singular else vector
