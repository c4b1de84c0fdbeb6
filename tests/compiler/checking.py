"""Comparison of a kernel on the cores and through OpenCL with Python's own execution of its text."""

from __future__ import annotations

import numpy as np

from tests.compiler import on_opencl
from tests.compiler.interpreted import arrays, copied, run
from workbench.jit.threads import launch


def launched(kernel, *arguments):
    """The arguments after a launch: on the cores, and where there is OpenCL through that."""
    there = copied(arguments)
    launch(1, kernel, *arguments)
    yield arguments
    if on_opencl.launch(kernel, *there):
        yield there


def check(kernel, *arguments, rtol=0.0):
    """What a kernel leaves in its arguments is what Python leaves there."""
    theirs = copied(arguments)
    run(kernel, theirs)
    for made in launched(kernel, *arguments):
        for one, other in zip(arrays(made), arrays(theirs), strict=True):
            np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol)
