"""Kernels of accelerators from functions in the grammar of kernels, and their arguments as scalars."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import FunctionType
from typing import NamedTuple

import numpy as np

from workbench.compiler.c import device_text
from workbench.compiler.constants import Named, named
from workbench.compiler.kinds import Kind
from workbench.compiler.reading import DeviceKernel
from workbench.compiler.source import source_of
from workbench.devices.kernels.kernel_text import KernelText
from workbench.jit.compiled import REORDERED


class Printed(NamedTuple):
    """A kernel's text; given: which of the scalars of its arguments it takes."""

    text: KernelText
    given: tuple[int, ...]


def printed(
    function: FunctionType,
    name: str,
    kinds: tuple[Kind, ...],
    precisions: tuple[np.dtype, np.dtype],
    constants: Mapping[str, object],
    group: str = "GROUP",
    known: tuple[tuple[int, int], ...] = (),
) -> Printed:
    """The kernel `name` that a function is for these kinds of arguments and these constants.

    precisions: of vectors and of sums. group: the macro that is the number of work-items of a group. known:
    places of integers among the scalars of the arguments, and their values. Raises KernelError.
    """
    vector, wide = precisions
    return _printed(function, name, kinds, named(dict(constants) | {".narrow": vector, ".wide": wide}), group, known)


@functools.lru_cache(1024)
def _printed(
    function: FunctionType,
    name: str,
    kinds: tuple[Kind, ...],
    constants: Named,
    group: str,
    known: tuple[tuple[int, int], ...],
) -> Printed:
    source = source_of(function)._replace(licences=REORDERED, constants=constants)
    made = device_text(DeviceKernel(source, kinds, group), dict(known))
    return Printed(KernelText(name, made.declaration, made.statements, made.before), made.given)
