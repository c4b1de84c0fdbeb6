"""Parallel calls from compiled code: numba's thread pool without numba's parallel compiler."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

POOL = "numba_parallel_for"
"""The name of the parallel-for function in numba's threading layers (OpenMP, TBB, workqueue)."""


@intrinsic
def across(typing: Any, taken: Any, work: Any, arguments: Any) -> Any:
    """Call work(taken, thread, *arguments) once per thread, in parallel; a single thread is the calling one.

    taken: an array with a row for each thread; arguments: a tuple. Returns how many calls raised. The return values of
    `work` are ignored.
    """
    called = work.get_call_type(typing, (taken, types.intp, *arguments.types), {})

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kinds = (taken, *arguments.types)
        parts = [values[0], *(builder.extract_value(values[2], k) for k in range(len(arguments.types)))]
        parts = [_without_owner(context, builder, *pair) for pair in zip(kinds, parts, strict=True)]
        failed = cgutils.alloca_once_value(builder, ir.Constant(ir.IntType(64), 0))
        data = cgutils.pack_struct(builder, [*parts, failed])
        place = cgutils.alloca_once_value(builder, data)
        call = _on_some_threads(context, builder.module, called, work.dispatcher, data.type)
        intp = context.get_value_type(types.intp)
        threads = builder.extract_value(context.make_array(taken)(context, builder, values[0]).shape, 0)
        one = ir.Constant(intp, 1)
        byte = ir.IntType(8).as_pointer()
        first = cgutils.alloca_once_value(builder, cgutils.get_null_value(byte))
        step = cgutils.alloca_once_value(builder, one)
        count = cgutils.alloca_once_value(builder, threads)
        raw = builder.bitcast(place, byte)
        with builder.if_else(builder.icmp_signed("==", threads, one)) as (serial, parallel):
            with serial:
                builder.call(call, [first, count, step, raw])
            with parallel:
                kind = ir.FunctionType(ir.VoidType(), [byte] * 5 + [intp] * 3)
                pool = cgutils.get_or_insert_function(builder.module, kind, POOL)
                pointers = [builder.bitcast(pointer, byte) for pointer in (call, first, count, step)]
                builder.call(pool, [*pointers, raw, ir.Constant(intp, 0), one, threads])
        return builder.load(failed)

    return types.int64(taken, work, arguments), generate


def _without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """An array without reference counting, which would be contended by all cores."""
    if not isinstance(kind, types.Array):
        return value
    array = context.make_array(kind)(context, builder, value)
    array.meminfo = cgutils.get_null_value(array.meminfo.type)
    array.parent = cgutils.get_null_value(array.parent.type)
    return array._getvalue()


def _on_some_threads(context: Any, module: Any, called: Any, dispatcher: Any, data: Any) -> Any:
    """The function that numba's pool calls: (pointers to the first thread, their number, their stride, arguments)."""
    byte, intp = ir.IntType(8).as_pointer(), context.get_value_type(types.intp)
    kind = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), intp.as_pointer(), intp.as_pointer(), byte])
    function = ir.Function(module, kind, module.get_unique_name("on_some_threads"))
    function.linkage = "internal"
    builder = ir.IRBuilder(function.append_basic_block())
    first, count, step, raw = function.args
    parts = cgutils.unpack_tuple(builder, builder.load(builder.bitcast(raw, data.as_pointer())))
    failed = parts.pop()
    compiled = dispatcher.get_compile_result(called)
    context.active_code_library.add_linking_library(compiled.library)
    begin, apart = builder.ptrtoint(builder.load(first), intp), builder.load(step)
    with cgutils.for_range(builder, builder.load(count), intp=intp) as loop:
        thread = builder.add(begin, builder.mul(loop.index, apart))
        status, _ = context.call_internal_no_propagate(builder, compiled.fndesc, called, [parts[0], thread, *parts[1:]])
        with builder.if_then(status.is_error, likely=False):
            builder.atomic_rmw("add", failed, ir.Constant(ir.IntType(64), 1), "monotonic")
    builder.ret_void()
    return function
