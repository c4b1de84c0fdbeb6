"""A plugin of pytest: small launches of kernels are compared with Python's own execution of their text.

    python -m pytest -p tests.compiler.comparing tests/host

What machine code leaves in the arguments of a kernel is what Python leaves there. At the end it prints the hand-written
kernels that were not launched.
"""

from __future__ import annotations

import collections
import importlib
import pkgutil

import numpy as np

import workbench
from tests.compiler.interpreted import arrays, copied, run
from workbench.jit.compiled import Kernel

MOST, TIMES = 20_000, 3
"""Entries of the arrays of a launch that is compared, and how many launches of one kernel are, for each kinds."""
ROOMS = {"workbench.devices.host.triad"}
"""Modules whose kernels compute nothing."""
_compared: collections.Counter[object] = collections.Counter()


def pytest_configure() -> None:
    """Let every kernel compare itself."""
    compile_ = Kernel.compile

    def compile_and_compare(kernel, kinds):
        launched = compile_(kernel, kinds)

        def launch(taken, arguments):
            given = list(arrays(arguments))
            if sum(array.size for array in given) > MOST or _compared[kernel, kinds] >= TIMES:
                return launched(taken, arguments)
            theirs = copied(arguments)
            failed = launched(taken, arguments)
            if not failed:
                _compared[kernel, kinds] += 1
                run(kernel, theirs, len(taken))
                rounding = max(map(rounding_of, given)) * max(map(largest, given))
                for one, other in zip(given, arrays(theirs), strict=True):
                    check(one, other, rounding, kernel.source)
            return failed

        return launch

    Kernel.compile = compile_and_compare


def largest(array) -> float:
    """The largest finite number, if the array has fractions."""
    return np.abs(array[np.isfinite(array)]).max(initial=0) if array.dtype.kind in "fc" else 0


def rounding_of(array) -> float:
    """A bound of rounding of sums, relative to the largest number: of a kernel that of its coarsest numbers."""
    return {"f4": 1e-4, "c8": 1e-4}.get(array.dtype.str[1:], 1e-12)


def check(one, other, rounding, name) -> None:
    """Raise AssertionError where two arrays differ by more than this."""
    if one.dtype.kind not in "fc":
        np.testing.assert_array_equal(one, other, err_msg=str(name))
        return
    finite = np.isfinite(other)
    np.testing.assert_array_equal(np.isfinite(one), finite, err_msg=str(name))
    np.testing.assert_allclose(one[finite], other[finite], rtol=0, atol=rounding, err_msg=str(name))


def pytest_unconfigure() -> None:
    """Say which kernels were not launched."""
    names = {f"{kernel.source.module}.{kernel.source.name}" for kernel, _ in _compared if kernel.py_func is not None}
    print(f"\ncompared: {sum(_compared.values())} launches")
    print("not compared:", *sorted(hand_written() - names))


def hand_written() -> set[str]:
    """The names of all kernels of the package."""
    found = set()
    for module in pkgutil.walk_packages(workbench.__path__, "workbench."):
        if module.name.startswith(("workbench.extensions.flow", "workbench.devices.host", "workbench.devices")):
            values = vars(importlib.import_module(module.name)).values()
            made = (value.source for value in values if isinstance(value, Kernel) and value.py_func is not None)
            found |= {f"{source.module}.{source.name}" for source in made}
    return found
