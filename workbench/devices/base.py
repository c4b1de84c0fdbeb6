"""Base class of devices: programs of paper lines, and workspaces."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from workbench.devices.clock import Clock
from workbench.devices.collectives import Collectives
from workbench.devices.dot_lines import DOTS
from workbench.devices.element_wise import AppliedElementWise, ElementWise
from workbench.devices.operator_protocols import OnePass
from workbench.devices.programs.function import Lines, LinesDevice
from workbench.devices.programs.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.arrays.validation import Drawn
    from workbench.devices.operator_protocols import BlockWatch, DeviceOperator, DeviceVector
    from workbench.devices.programs.block_workspace import BlockWorkspace
    from workbench.lines.schedule import Inlined


class DeviceBase(Collectives, LinesDevice):
    """Base of all devices, including the dry run. `Space` is the class of its workspaces."""

    Space: ClassVar[type[Workspace]] = Workspace

    def lines(
        self, text: str, *, fuse: bool = True, operators: Mapping[str, DeviceOperator | Inlined] | None = None
    ) -> Lines:
        """Compile paper lines into a function of named arrays and numbers. Raises LinesError."""
        return Lines(self, text, fuse=fuse, operators=operators)

    def dots(self, dtype: np.dtype) -> OnePass:
        """The dot products (x, y), (y, y) and (x, x) of two vectors in one pass."""
        return self.one_pass(DOTS, ("x", "y"), dtype)

    def applied(self, operator: ElementWise, size: int, dtype: np.dtype) -> AppliedElementWise:
        """An element-wise operator as a kernel of its own."""
        return AppliedElementWise(self, operator, size, dtype)

    def holds(self, values: object) -> bool:
        """True for a user's vector in the memory of this device."""
        return False

    def drawn(self, numbers: Drawn, dtype: np.dtype) -> DeviceVector | None:
        """Random numbers that the device draws into its memory; None where the host does."""
        return None

    def release(self) -> None:
        """Free the memory of a run whose device this is alone; devices that runs share have none."""

    def block_watch(self, space: BlockWorkspace) -> BlockWatch | None:
        """The watch that repeats iterations on block vectors; None where the host takes part in each."""
        return None

    def settle(self) -> None:
        """Wait for kernels that are still being compiled; here none are."""

    def __init__(self) -> None:
        """Nothing to set up.

        Without it typing.Protocol (Python 3.11) sets the `__init__` of a class to object's at its first instance, which
        then hides that of a class later in the order of bases.
        """

    def workspace(
        self,
        size: int,
        dtype: np.dtype,
        *,
        vectors: Mapping[str, DeviceVector],
        operators: Mapping[str, DeviceOperator | Inlined] | None = None,
        fuse: bool = True,
        clock: Clock | None = None,
        stored: np.dtype | None = None,
    ) -> Workspace:
        """The named vectors and scalars of one solve."""
        make: Callable[..., Workspace] = self.Space if stored is None else functools.partial(self.Space, stored=stored)
        return make(self, size, dtype, vectors=vectors, operators=operators, fuse=fuse, clock=clock)
