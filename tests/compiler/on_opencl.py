"""Kernels through OpenCL, by the C of the compiler: arrays are copied there and back."""

from __future__ import annotations

import functools

import numpy as np

from workbench.compiler.c import c_text
from workbench.devices.kernels.prelude import Layout, prelude
from workbench.jit import compiled
from workbench.jit.work_stealing import counters

LAYOUT = Layout("opencl", 4, 4, chunked=False, least=1, groups=3)


def text_of(kernel, arguments, language="opencl"):
    """The C of a kernel for these arguments."""
    kinds = compiled.kinds_of((counters(1), *arguments))
    return c_text(kernel.tree(kinds), "made", language)


def launch(kernel, *arguments):
    """Run a kernel; returns False where there is no OpenCL."""
    found = _queue()
    if found is None:
        return False
    import pyopencl as cl

    context, queue = found
    made = text_of(kernel, arguments)
    program = cl.Program(context, prelude(LAYOUT, np.dtype(float)) + made.text).build(["-cl-opt-disable"])
    buffers = {}
    flat = [each for argument in arguments for each in _flat(argument, context, buffers)]
    for name, groups, items in ((made.first, 1, 1), (made.each, LAYOUT.groups, LAYOUT.group), (made.last, 1, 1)):
        if name:
            getattr(program, name)(queue, (groups * items,), (items,), *flat)
    for buffer, array in buffers.values():
        if array.size and array.flags.writeable:
            cl.enqueue_copy(queue, array, buffer)
    queue.finish()
    return True


@functools.cache
def _queue():
    try:
        import pyopencl as cl

        context = cl.create_some_context(interactive=False)
        return context, cl.CommandQueue(context)
    except Exception:
        return None


def _flat(value, context, buffers):
    import pyopencl as cl

    if isinstance(value, tuple):
        return [each for entry in value for each in _flat(entry, context, buffers)]
    if isinstance(value, np.ndarray):
        key = value.ctypes.data, value.nbytes
        if key not in buffers:
            flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
            buffers[key] = cl.Buffer(context, flags, hostbuf=value if value.size else np.zeros(1)), value
        return [buffers[key][0], *map(np.int64, value.shape)]
    number = np.asarray(value)
    if number.dtype.kind in "biu":
        return [np.int32(value) if number.dtype.kind == "b" else np.int64(value)]
    return [number.real[()], number.imag[()]] if number.dtype.kind == "c" else [number[()]]
