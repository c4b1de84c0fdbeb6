"""The part of a launch that all kernels share: it reads the arguments, resets the counters and calls the threads.

`start(numbers, taken, arguments, table, state, worker)` has the Python objects of bytes with the words of all numbers,
of the counters of work stealing, and of a tuple with all other arguments. It puts the address of each array, an object
of NumPy, and the words of the numbers into words of `state` and calls `worker(number, state)`: one thread directly,
several through the pool. It returns 0, the number of threads on which the kernel failed, or WRONG_TYPES without having
done anything if the arguments are not those that the table describes.

The table has integers: whether a call comes before those of the threads; for the tuple how many items it has, and for
each its description: NUMBER; TUPLE and that of the tuple; ARRAY, the dimensions, flags, bytes and letter of the
entries, and the word for the address; then how many words the numbers have, and the word of `state` for each. Tuples,
arrays and bytes are read from their C structs, whose layout is part of the binary interfaces of Python and NumPy.
"""

from __future__ import annotations

import ctypes
import functools
import string
from typing import TYPE_CHECKING

import numpy as np

from workbench.jit import pool
from workbench.jit.fixed_text import link_text

if TYPE_CHECKING:
    import llvmlite.binding as llvm

START = "workbench_start"
"""Symbol of the function in kernels."""
NUMBER, ARRAY, TUPLE = range(3)
"""Descriptions in a table."""
WRONG_TYPES = -1

HEAD, ITEMS = object.__basicsize__, tuple.__basicsize__
DATA, DIMENSIONS, SHAPE, STRIDES, DESCRIPTION, FLAGS = (HEAD + offset for offset in (0, 8, 16, 24, 40, 48))
"""Places in the struct of an array. The class of any object comes last in its head."""
KIND, ORDER, SIZE = (HEAD + offset for offset in (8, 10, 24))
"""Places in the struct of a dtype: its letter, the order of its bytes, their number."""
BYTES = bytes.__basicsize__ - 1
"""The place of the first byte in the struct of bytes, which ends with a zero."""
SWAPPED = np.dtype(np.int64).newbyteorder("S").byteorder
FLAG = {"C": 0x1, "aligned": 0x100, "writeable": 0x400}

_TEXT = string.Template("""
@ndarray = external global i8
@tuple = external global i8
@pool = external global ptr

define internal i64 @word(ptr %object, i64 %place) {
  %field = getelementptr i8, ptr %object, i64 %place
  %value = load i64, ptr %field
  ret i64 %value
}

define internal i1 @is_a(ptr %object, ptr %class) {
  %field = getelementptr i8, ptr %object, i64 $place_of_class
  %found = load ptr, ptr %field
  %same = icmp eq ptr %found, %class
  ret i1 %same
}

define internal i1 @is_array(ptr %object, ptr %wanted) {
begin:
  %right_class = call i1 @is_a(ptr %object, ptr @ndarray)
  br i1 %right_class, label %read, label %wrong
read:
  %wanted_dimensions = load i64, ptr %wanted
  %dimensions_at = getelementptr i8, ptr %object, i64 $DIMENSIONS
  %dimensions = load i32, ptr %dimensions_at
  %dimensions_wide = sext i32 %dimensions to i64
  %right_dimensions = icmp eq i64 %dimensions_wide, %wanted_dimensions
  %wanted_flags_at = getelementptr i64, ptr %wanted, i64 1
  %wanted_flags = load i64, ptr %wanted_flags_at
  %flags_at = getelementptr i8, ptr %object, i64 $FLAGS
  %flags = load i32, ptr %flags_at
  %flags_wide = zext i32 %flags to i64
  %flags_held = and i64 %flags_wide, %wanted_flags
  %right_flags = icmp eq i64 %flags_held, %wanted_flags
  %dtype_at = getelementptr i8, ptr %object, i64 $DESCRIPTION
  %dtype = load ptr, ptr %dtype_at
  %wanted_size_at = getelementptr i64, ptr %wanted, i64 2
  %wanted_size = load i64, ptr %wanted_size_at
  %size = call i64 @word(ptr %dtype, i64 $SIZE)
  %right_size = icmp eq i64 %size, %wanted_size
  %wanted_kind_at = getelementptr i64, ptr %wanted, i64 3
  %wanted_kind = load i64, ptr %wanted_kind_at
  %kind_at = getelementptr i8, ptr %dtype, i64 $KIND
  %kind = load i8, ptr %kind_at
  %kind_wide = zext i8 %kind to i64
  %right_kind = icmp eq i64 %kind_wide, %wanted_kind
  %order_at = getelementptr i8, ptr %dtype, i64 $ORDER
  %order = load i8, ptr %order_at
  %right_order = icmp ne i8 %order, $swapped
  %a = and i1 %right_dimensions, %right_flags
  %b = and i1 %right_size, %right_kind
  %c = and i1 %a, %b
  %right = and i1 %c, %right_order
  ret i1 %right
wrong:
  ret i1 false
}

define internal ptr @read_tuple(ptr %object, ptr %table, ptr %state) {
begin:
  %right_class = call i1 @is_a(ptr %object, ptr @tuple)
  br i1 %right_class, label %count, label %wrong
count:
  %wanted = load i64, ptr %table
  %length = call i64 @word(ptr %object, i64 $HEAD)
  %right_length = icmp eq i64 %length, %wanted
  br i1 %right_length, label %enter, label %wrong
enter:
  %first = getelementptr i64, ptr %table, i64 1
  %items = getelementptr i8, ptr %object, i64 $ITEMS
  br label %next
next:
  %k = phi i64 [ 0, %enter ], [ %after, %following ]
  %at = phi ptr [ %first, %enter ], [ %beyond, %following ]
  %more = icmp slt i64 %k, %wanted
  br i1 %more, label %item, label %done
item:
  %item_at = getelementptr ptr, ptr %items, i64 %k
  %value = load ptr, ptr %item_at
  %what = load i64, ptr %at
  %described = getelementptr i64, ptr %at, i64 1
  switch i64 %what, label %following [ i64 $ARRAY, label %array
                                       i64 $TUPLE, label %inner ]
array:
  %right_array = call i1 @is_array(ptr %value, ptr %described)
  br i1 %right_array, label %keep, label %wrong
keep:
  %word_at = getelementptr i64, ptr %described, i64 4
  %word = load i64, ptr %word_at
  %place = getelementptr ptr, ptr %state, i64 %word
  store ptr %value, ptr %place
  %behind_array = getelementptr i64, ptr %described, i64 5
  br label %following
inner:
  %behind_tuple = call ptr @read_tuple(ptr %value, ptr %described, ptr %state)
  %right_tuple = icmp ne ptr %behind_tuple, null
  br i1 %right_tuple, label %following, label %wrong
following:
  %beyond = phi ptr [ %described, %item ], [ %behind_array, %keep ], [ %behind_tuple, %inner ]
  %after = add i64 %k, 1
  br label %next
done:
  ret ptr %at
wrong:
  ret ptr null
}

define i64 @$START(ptr %numbers, ptr %taken, ptr %arguments, ptr %table, ptr %state, ptr %worker) {
begin:
  %of_arguments = getelementptr i64, ptr %table, i64 1
  %behind = call ptr @read_tuple(ptr %arguments, ptr %of_arguments, ptr %state)
  %right = icmp ne ptr %behind, null
  br i1 %right, label %reset, label %wrong
reset:
  %count = load i64, ptr %behind
  %words = getelementptr i64, ptr %behind, i64 1
  %values = getelementptr i8, ptr %numbers, i64 $BYTES
  br label %number
number:
  %n = phi i64 [ 0, %reset ], [ %next, %copy ]
  %left = icmp slt i64 %n, %count
  br i1 %left, label %copy, label %count_threads
copy:
  %value_at = getelementptr i64, ptr %values, i64 %n
  %value = load i64, ptr %value_at
  %word_at = getelementptr i64, ptr %words, i64 %n
  %word = load i64, ptr %word_at
  %of_number = getelementptr i64, ptr %state, i64 %word
  store i64 %value, ptr %of_number
  %next = add i64 %n, 1
  br label %number
count_threads:
  %of_taken = getelementptr ptr, ptr %state, i64 1
  store ptr %taken, ptr %of_taken
  %shape_at = getelementptr i8, ptr %taken, i64 $SHAPE
  %shape = load ptr, ptr %shape_at
  %threads = load i64, ptr %shape
  %width = call i64 @word(ptr %shape, i64 8)
  %counters_at = getelementptr i8, ptr %taken, i64 $DATA
  %counters = load ptr, ptr %counters_at
  br label %each
each:
  %k = phi i64 [ 0, %count_threads ], [ %after, %each ]
  %place = mul i64 %k, %width
  %counter = getelementptr i64, ptr %counters, i64 %place
  store i64 0, ptr %counter
  %after = add i64 %k, 1
  %more = icmp slt i64 %after, %threads
  br i1 %more, label %each, label %before
before:
  %has_first = load i64, ptr %table
  %calls_first = icmp ne i64 %has_first, 0
  br i1 %calls_first, label %first, label %threads_of_it
first:
  call void %worker(i64 -1, ptr %state)
  br label %threads_of_it
threads_of_it:
  store i64 %threads, ptr %state
  %alone = icmp eq i64 %threads, 1
  br i1 %alone, label %one, label %several
one:
  call void %worker(i64 0, ptr %state)
  br label %end
several:
  %run = load ptr, ptr @pool
  call void %run(ptr %worker, ptr %state, i64 %threads)
  br label %end
end:
  %failed = load i64, ptr %state
  ret i64 %failed
wrong:
  ret i64 $WRONG_TYPES
}
""")
_SYMBOLS = {"ndarray": id(np.ndarray), "tuple": id(tuple), "pool": ctypes.addressof(pool.entry)}


@functools.cache
def linked(compiler: llvm.LLJIT) -> llvm.ResourceTracker:
    """The machine code of `start` by symbols, for LLVM's linker."""
    places = {name: value for name, value in globals().items() if isinstance(value, int | str)}
    text = _TEXT.substitute(places, place_of_class=HEAD - 8, swapped=ord(SWAPPED))
    return link_text(compiler, text, _SYMBOLS, (START,))
