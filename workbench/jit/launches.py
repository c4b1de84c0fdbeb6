"""Launches on fixed arguments in order, as one call of machine code.

A pass over a few hundred numbers takes less time than Python takes to launch it. `run(steps, count, taken)` makes
launches, and copies of numbers between them, without Python; `repeat` makes them several times, keeps a
row of scalars each time, and ends with the first row that meets a limit. Both hold no GIL. A step is four words: the
address of `launch` (see `c_abi`) and of its objects; or zero, and the addresses from and to which a word is copied.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.jit import threads
from workbench.jit.fixed_text import link_text
from workbench.jit.linking import linker, plain

if TYPE_CHECKING:
    import llvmlite.binding as llvm

    from workbench.jit.compiled import Kernel

RUN, REPEAT = "run", "repeat"
WORD = np.dtype(np.int64).itemsize

_TEXT = """
define i64 @run(ptr %steps, i64 %count, ptr %taken) {
begin:
  br label %next
next:
  %k = phi i64 [ 0, %begin ], [ %after, %copy ], [ %after, %launch ]
  %after = add i64 %k, 1
  %more = icmp slt i64 %k, %count
  br i1 %more, label %step, label %done
step:
  %word = shl i64 %k, 2
  %at = getelementptr ptr, ptr %steps, i64 %word
  %first_at = getelementptr ptr, ptr %at, i64 1
  %second_at = getelementptr ptr, ptr %at, i64 2
  %function = load ptr, ptr %at
  %first = load ptr, ptr %first_at
  %second = load ptr, ptr %second_at
  %copies = icmp eq ptr %function, null
  br i1 %copies, label %copy, label %launch
copy:
  %value = load i64, ptr %first
  store i64 %value, ptr %second
  br label %next
launch:
  %failed = call i64 %function(ptr %first, ptr %taken, ptr %second)
  %fine = icmp eq i64 %failed, 0
  br i1 %fine, label %next, label %fails
done:
  ret i64 0
fails:
  ret i64 -1
}

define internal double @number(ptr %row, ptr %places, i64 %k) {
  %place_at = getelementptr i64, ptr %places, i64 %k
  %place = load i64, ptr %place_at
  %at = getelementptr double, ptr %row, i64 %place
  %value = load double, ptr %at
  ret double %value
}

define i64 @repeat(ptr %steps, i64 %count, i64 %most, ptr %scalars, i64 %width, ptr %table, ptr %places,
                   double %low, double %high, ptr %taken) {
begin:
  br label %next
next:
  %row = phi i64 [ 0, %begin ], [ %rows, %judge ]
  %rows = add i64 %row, 1
  %more = icmp slt i64 %row, %most
  br i1 %more, label %make, label %done
make:
  %failed = call i64 @run(ptr %steps, i64 %count, ptr %taken)
  %fine = icmp eq i64 %failed, 0
  br i1 %fine, label %keep, label %fails
keep:
  %first = mul i64 %row, %width
  %kept = getelementptr i64, ptr %table, i64 %first
  br label %each
each:
  %k = phi i64 [ 0, %keep ], [ %after, %copy ]
  %after = add i64 %k, 1
  %left = icmp slt i64 %k, %width
  br i1 %left, label %copy, label %judge
copy:
  %from = getelementptr i64, ptr %scalars, i64 %k
  %to = getelementptr i64, ptr %kept, i64 %k
  %value = load i64, ptr %from
  store i64 %value, ptr %to
  br label %each
judge:
  %norm = call double @number(ptr %kept, ptr %places, i64 0)
  %delta = call double @number(ptr %kept, ptr %places, i64 1)
  %gamma = call double @number(ptr %kept, ptr %places, i64 2)
  %above = fcmp olt double %low, %norm
  %below = fcmp ole double %norm, %high
  %curved = fcmp ogt double %delta, 0.0
  %definite = fcmp ogt double %gamma, 0.0
  %a = and i1 %above, %below
  %b = and i1 %curved, %definite
  %goes_on = and i1 %a, %b
  br i1 %goes_on, label %next, label %ends
done:
  ret i64 %most
ends:
  ret i64 %rows
fails:
  ret i64 -1
}
"""


class Launch:
    """A launch of a kernel over `size` elements; its code is loaded, or begins to be compiled, where it is made."""

    def __init__(self, size: int, kernel: Kernel, *arguments: object) -> None:
        self.size, self._kernel, self._arguments = size, kernel, arguments
        self._kinds = threads.prepare(kernel, *arguments)

    def __call__(self) -> None:
        threads.launch(self.size, self._kernel, *self._arguments)

    def step(self) -> tuple[tuple[int, ...], object]:
        """The words of its step, and the objects that they point to. Waits for the code."""
        code, arguments = self._kernel.compile(self._kinds), tuple(map(plain, self._arguments))
        numbers = code.words(arguments)
        return (code.address, id(numbers), id(arguments), 0), (numbers, arguments)


class Copy(NamedTuple):
    """target[to] = source[place], words of arrays; see `copies`."""

    source: np.ndarray
    place: int
    target: np.ndarray
    to: int

    size = 1

    def __call__(self) -> None:
        self.target[self.to] = self.source[self.place]

    def step(self) -> tuple[tuple[int, ...], object]:
        """The words of its step, and the objects that they point to."""
        places = (array.ctypes.data + WORD * k for array, k in ((self.source, self.place), (self.target, self.to)))
        return (0, *places, 0), (self.source, self.target)


def copies(source: np.ndarray, place: int, target: np.ndarray, to: int) -> list[Copy]:
    """target[to] = source[place], word by word, of double precision, real or complex."""
    words = source.itemsize // WORD
    source, target = source.view(np.float64), target.view(np.float64)
    return [Copy(source, words * place + k, target, words * to + k) for k in range(words)]


class Launches:
    """Launches and copies, which a call makes in order; one by one where a pass is worth sharing between cores."""

    def __init__(self, parts: Iterable[Launch | Copy]) -> None:
        self.parts = tuple(parts)
        self.are_short = all(part.size < threads.WORTH_SHARING for part in self.parts)
        self._was_made = False

    def __call__(self) -> None:
        # The words of launches that are made once, as at the start of a method, would take longer than they do.
        if self.are_short and self._was_made:
            _made(threads.launch_on_one_core(_library().run, *self.steps))
            return
        self._was_made = True
        for part in self.parts:
            part()

    @functools.cached_property
    def steps(self) -> tuple[int, int]:
        """The address of the steps, and their number."""
        words, self._kept = zip(*(part.step() for part in self.parts), strict=True)
        self._words = np.array(words, np.int64)
        return self._words.ctypes.data, len(words)


class Repetition:
    """Short launches, repeated by machine code until a row of scalars meets a limit.

    scalars: those of the launches, real ones or complex. table: for the rows, shape (most, scalars). places: of the
    squared norm, delta and gamma.
    """

    def __init__(
        self, launches: Launches, scalars: np.ndarray, table: np.ndarray, places: tuple[int, int, int]
    ) -> None:
        self.launches, self._kept = launches, (scalars, table)
        width = scalars.itemsize // WORD
        self._places = np.array(places, np.int64) * width
        arrays = scalars, table, self._places
        at_scalars, at_table, at_places = (array.ctypes.data for array in arrays)
        self._arguments = at_scalars, scalars.size * width, at_table, at_places

    def __call__(self, most: int, low: float, high: float) -> int:
        """Make up to `most` repetitions, until one whose squared norm is not above `low`, or is above `high`, or whose
        delta or gamma is not positive; returns their number."""
        steps = self.launches.steps
        return _made(threads.launch_on_one_core(_library().repeat, *steps, most, *self._arguments, low, high))


class _Library(NamedTuple):
    """The machine code; it stays loaded with `kept`."""

    run: Callable[..., int]
    repeat: Callable[..., int]
    kept: llvm.ResourceTracker


@functools.cache
def _library() -> _Library:
    library = link_text(linker(), _TEXT, {}, (RUN, REPEAT))
    word, number, taken = ctypes.c_int64, ctypes.c_double, ctypes.py_object
    run = ctypes.CFUNCTYPE(word, word, word, taken)(library[RUN])
    repeat = ctypes.CFUNCTYPE(word, *(word,) * 7, number, number, taken)(library[REPEAT])
    return _Library(run, repeat, library)


def _made(count: int) -> int:
    """A number of repetitions, or 0. Raises RuntimeError for -1."""
    if count < 0:
        raise RuntimeError("a kernel does not take the arguments that it was compiled for")
    return count
