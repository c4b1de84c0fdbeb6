"""Kernels of accelerators that are functions in the grammar of kernels, and their launches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from workbench.compiler.c_expressions import in_c
from workbench.compiler.kinds import Array, Kind
from workbench.devices.accelerator.runtime import Function, Runtime, Vector
from workbench.devices.kernels.device_kernels import printed
from workbench.devices.kernels.kernel_text import KernelText
from workbench.devices.kernels.parameters import flat, kinds_of, known_in
from workbench.devices.kernels.prelude import Layout

if TYPE_CHECKING:
    from workbench.devices.accelerator.runtime import Handle


class Compiles(Protocol):
    """An accelerator as far as functions need it."""

    layout: Layout
    runtime: Runtime

    def wide(self, dtype: np.dtype) -> np.dtype:
        """The dtype of sums."""
        ...

    def kernel(self, body: KernelText, name: str, dtype: np.dtype, *, group: int | None = None) -> Function:
        """A kernel behind the prelude for a dtype."""
        ...


class Prepared:
    """A function compiled for the dtypes of vectors and sums, and for its constants.

    annotations: of parameters that have none, by name. group: work-items of a group. Arguments are vectors, numbers and
    tuples of them, in the order of the parameters. Raises KernelError.
    """

    def __init__(
        self,
        device: Compiles,
        function: FunctionType,
        dtype: np.dtype,
        annotations: Mapping[str, object],
        constants: Mapping[str, object],
        group: int | None,
    ) -> None:
        self._device, self._runtime, self._group = device, device.runtime, group or device.layout.group
        precisions = np.dtype(dtype), device.wide(dtype)
        of, name = kinds_of(function, *precisions, annotations), in_c(function.__name__)
        known = known_in(function, annotations, of)
        made = printed(function, name, of, precisions, constants, known=known)
        scalars, self._is_flat = list(_scalars(of)), not any(isinstance(kind, tuple) for kind in of)
        self._given = [scalars[place] for place in made.given]
        self._is_whole = self._given == [each for each in scalars if each[1] is None]
        self.kernel = device.kernel(made.text, name, dtype, group=group)

    def over(self, items: int, *arguments: object) -> None:
        """Launch it over `items` elements; their number is also its last argument."""
        groups = self._device.layout.groups_for(items)
        self._runtime.launch(self.kernel, groups, self._group, self._taken((*arguments, np.int64(items))), spread=True)

    def launch(self, groups: int, *arguments: object, spread: bool = False) -> None:
        """Launch `groups` groups. spread: fewer groups give the same result."""
        self._runtime.launch(self.kernel, groups, self._group, self._taken(arguments), spread=spread)

    def _taken(self, arguments: tuple[object, ...]) -> tuple[Handle | np.generic, ...]:
        """The scalars of a launch, in the order of the kernel's parameters."""
        found = arguments if self._is_flat else tuple(flat(arguments))
        if not self._is_whole:
            found = tuple(found[at] if of is None else of(found[at]) for at, of in self._given)
        return tuple([each.handle if isinstance(each, Vector) else each for each in found])


def _scalars(kinds: tuple[Kind, ...]) -> Iterator[tuple[int, Callable[[Any], np.generic] | None]]:
    """The place of the argument of each scalar of a kernel, tuples taken apart, and a function that makes a scalar of
    another argument: a length of an array, a part of a complex number."""
    for place, kind in enumerate(flat(kinds)):
        if isinstance(kind, np.dtype) and kind.kind == "c":
            yield from ((place, lambda number: number.real), (place, lambda number: number.imag))
            continue
        yield place, None
        if isinstance(kind, Array) and kind.ndim == 1:
            yield place, lambda vector: np.int64(vector.size)
        elif isinstance(kind, Array):
            yield place, lambda vector: np.int64(vector.shape[0])
            yield place, lambda vector: np.int64(vector.shape[1])
