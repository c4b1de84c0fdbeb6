"""The words of kernels beyond Python: threads, unrolled loops, elements without rows, arrays that belong to a thread,
tiles of block vectors, cache lines.

A kernel names these functions and never runs them: the compiler knows what they mean. Numbers that are called constants
are known while the kernel is read. No index is tested.

Tiles: consecutive entries of a row in vector registers.

    tile = take(x, row, column, width)        width: a constant
    total = add_scaled(zeros(x, width), factor, tile)
    put(y, row, column, total)

LLVM's vectorizer must prove that the arrays of a loop do not overlap, again for every entry of a matrix, which costs
more than it gains; sums that are vectors themselves need no proof. Tiles have the dtype of the array, or, by `widened`,
double precision.

Cache lines: the entries of a vector that 64 bytes hold, for kernels whose results must not depend on how they are
blocked. In a kernel without licences every operation on them is rounded as IEEE 754 says, so the same formula has the
same bits in every kernel. Shifted lines take half the time of loads that cross two cache lines.
"""

# pyright: reportReturnType=false
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

import numpy as np

T = TypeVar("T")


class Line(Generic[T]):
    """A tile or a cache line, while the kernel runs."""


WORDS: dict[object, str] = {}
"""The names of all words but `threads`, `shared`, `items` and `unrolled`, which are loops."""
LINE_BYTES = 64


def word(function: Callable[..., T]) -> Callable[..., T]:
    """Decorator of a word."""
    WORDS[function] = function.__name__
    return function


# Threads.


def threads(taken: np.ndarray) -> Iterator[int]:
    """Indices of the threads of a launch; a loop over them in a kernel runs in parallel."""
    yield from range(taken.shape[0])


def shared(taken: np.ndarray, thread: int, chunks: int) -> Iterator[int]:
    """The chunks that a thread works on: those of its share, then those left of others; each is yielded once in all."""
    count = taken.shape[0]
    for away in range(count):
        owner = (thread + away) % count
        first, end = chunks * owner // count, chunks * (owner + 1) // count
        while first + taken[owner, 0] < end:
            taken[owner, 0] += 1
            yield first + taken[owner, 0] - 1


@word
def publish(progress: np.ndarray, place: int, value: int) -> None:
    """progress[place, 0] = value, after everything that this thread has written before; shape (places, 16)."""


@word
def published(progress: np.ndarray, place: int) -> int:
    """progress[place, 0]; what its thread wrote before is seen by everything after this."""


@word
def acquired(locks: np.ndarray, place: int) -> bool:
    """Take the lock locks[place, 0]; true if it was 0, so that this thread has it. Publishing 0 releases it."""


# Functions of rows.


@word
def wide(number: T) -> T:
    """The number, or the tile, in the precision of sums."""


@word
def narrow(number: T) -> T:
    """The number in the precision of vectors."""


@word
def inside(place: int) -> bool:
    """True if this is a row, as it is in rows that have all their neighbours."""


@word
def columns(arguments: T, first: int, width: int) -> T:
    """The entries of a tuple; in place of a block vector the vector of its tiles of `width` columns, a constant."""


@word
def column(arguments: T, place: int, width: int) -> T:
    """The entries of a tuple; in place of a block vector of `width` columns, a constant, one of them."""


# Accelerators: work-items in groups.


def items(rows: int, first: int, end: int) -> Iterator[int]:
    """The rows from `first` to before `end`, of `rows` in all, that a work-item computes; each is one's of all."""
    del rows
    yield from range(first, end)


@word
def member() -> int:
    """The place of the work-item in its group."""


@word
def members() -> int:
    """The number of work-items of a group."""


@word
def group() -> int:
    """The place of the group among all."""


@word
def groups() -> int:
    """The number of groups."""


@word
def strips() -> int:
    """A divisor of the number of work-items, which sums of a group are added in."""


@word
def shared_array(dtype: object, count: int) -> np.ndarray:
    """An array of one dimension that belongs to a group of work-items, its entries not set; count: of constants and
    the words before."""


@word
def barrier() -> None:
    """Wait for all work-items of the group; what they wrote before is seen after it."""


# Elements and numbers.


@word
def conj(number: T) -> T:
    """The complex conjugate."""


@word
def real(number: complex) -> float:
    """The real part."""


@word
def sqrt(number: T) -> T:
    """The square root."""


@word
def counted_from(array: T, first: int) -> T:
    """An array over this memory, whose first element is counted as element `first`."""


def unrolled(count: int) -> Iterator[int]:
    """0, .., count - 1: where their number is a constant, what a loop over them does is written once for each, as a
    constant; else they are a range."""
    yield from range(count)


@word
def local(dtype: object, count: int) -> np.ndarray:
    """An array of one dimension and constant length that belongs to the thread, the same memory each time that this
    place of the text is reached; its entries are not set."""


@word
def at(array: np.ndarray, place: int) -> float:
    """An element, counted row by row."""


@word
def set_at(array: np.ndarray, place: int, value: float) -> None:
    """Store an element, counted row by row."""


@word
def quotient(a: int, b: int) -> int:
    """a // b of numbers that are not negative, b not 0: on accelerators in fewer operations."""


@word
def remainder(a: int, b: int) -> int:
    """a % b of such numbers."""


@word
def scaled_by(number: float, value: complex) -> complex:
    """A real number times a complex one, in the precision of the product."""


# Tiles.


@word
def take(x: np.ndarray, row: int, column: int, width: int) -> Line[float]:
    """Entries column, .., column + width - 1 of a row of x, shape (N, s)."""


@word
def put(y: np.ndarray, row: int, column: int, tile: Line[float]) -> None:
    """Store a tile into a row of y."""


@word
def zeros(x: np.ndarray, width: int) -> Line[float]:
    """A tile of zeros in the dtype of x."""


@word
def filled(x: np.ndarray, width: int, number: float) -> Line[float]:
    """A tile of equal numbers in the dtype of x."""


@word
def add_scaled(total: Line[float], factor: float, tile: Line[float]) -> Line[float]:
    """total + factor*tile."""


@word
def add_products(total: Line[float], left: Line[float], right: Line[float]) -> Line[float]:
    """total + left*right, entry by entry."""


@word
def conjugated(tile: Line[float]) -> Line[float]:
    """The complex conjugates of a tile."""


@word
def widened(tile: Line[float]) -> Line[float]:
    """The tile in double precision."""


# Cache lines.


@word
def line_at(x: np.ndarray, i: int) -> Line[float]:
    """Entries i, i + 1, .. of x, shape (n,)."""


@word
def put_line(x: np.ndarray, i: int, line: Line[float]) -> None:
    """Store a line at entry i of x."""


@word
def entries_of_line(x: np.ndarray) -> int:
    """The number of entries of x in a line, a constant."""


@word
def spread(x: np.ndarray, value: float) -> Line[float]:
    """A line of equal entries in the dtype of x."""


@word
def plus(left: Line[float], right: Line[float]) -> Line[float]:
    """left + right."""


@word
def times(left: Line[float], right: Line[float]) -> Line[float]:
    """left*right, entry by entry."""


@word
def minus_product(total: Line[float], left: Line[float], right: Line[float]) -> Line[float]:
    """total - left*right, entry by entry, rounded once."""


@word
def shifted_up(before: Line[float], line: Line[float]) -> Line[float]:
    """The last entry of the line before, then the line without its last entry."""


@word
def shifted_down(line: Line[float], after: Line[float]) -> Line[float]:
    """The line without its first entry, then the first entry of the line after."""


@word
def first_entries(line: Line[float], count: int) -> Line[float]:
    """The line with zeros from entry `count` on."""
