"""Hostile values, shared by the tests of whatever reads files or takes answers.

Arrays and JSON are damaged one field at a time, by `arrays` and `documents`; nothing that is read may execute a pickle.
"""

from __future__ import annotations

import copy
import io
import itertools
import json
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np

from workbench.errors import InputError

EXECUTED = "WORKBENCH_TESTS_EXECUTED"
"""The environment variable that a `Pickled` object sets where it is unpickled."""
DEEP = "[" * 50_000 + "]" * 50_000
WORDS = [
    "null", "true", "[]", "{}", '""', '"a"', '"1e400"', '"\\ud800"', '"\\u0000"', "[[[0]]]", '{"a": {"b": [null]}}',
    "0", "-1", "1e999", "Infinity", "-Infinity", "NaN", "9" * 30, "9" * 5000, DEEP,
]  # fmt: skip
"""JSON in place of a value."""


class Pickled:
    """An object that leaves a trace where it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, (f"import os; os.environ[{EXECUTED!r}] = '1'",)


class Everything:
    """Equals whatever it is compared with, and cannot be printed."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        raise RuntimeError("no text")


ANSWERS: dict[str, Any] = {
    "nan": float("nan"), "inf": float("inf"), "negative": -1, "huge": 10**400, "unprintable": 10**5000,
    "text of a huge number": "1e400", "text": "a", "empty": "", "surrogate": "\ud800", "null character": "\0",
    "none": None, "bool": True, "list": [[1]], "dict": {"a": 1}, "array": np.array([1, 2]), "one entry": np.array([1]),
    "0-d": np.array(1.0), "objects": np.array([None, {}], object), "bytes": b"1", "complex": 1j, "type": int,
    "everything": Everything(),
}  # fmt: skip
"""Python's values where one value is asked for."""


def arrays(values: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """What may stand in place of an array, with a name: other dtypes, shapes and entries."""
    shape = values.shape
    for name, entry in {
        "NaN": np.nan, "infinity": np.inf, "-1": -1, "-1.0": -1.0, "the largest": 2**63 - 1, "unsigned": 2**64 - 1,
        "1e300": 1e300, "imaginary": 1j, "bool": True, "text of a number": "1e400", "text": "x", "surrogate": "\ud800",
        "bytes": b"x", "date": np.datetime64("NaT", "s"), "span": np.timedelta64(1, "s"),
    }.items():  # fmt: skip
        yield name, np.full(shape, entry)
    yield "objects", np.full(shape, Pickled(), object)
    yield "one object", np.array(Pickled(), object)
    yield "fields", np.zeros(shape, [("a", "f8"), ("b", "U4")])
    yield "raw", np.zeros(shape, "V8")
    yield "0-d", np.array(3.0)
    yield "0-d of its dtype", np.zeros((), values.dtype)
    yield "empty", np.empty(0)
    yield "a dimension more", values[None]
    yield "flat", values.reshape(-1)
    yield "transposed", values.T
    if values.dtype.kind not in "iuf":
        return
    for name, dtype in {"half": "f2", "long double": "longdouble", "swapped": values.dtype.newbyteorder()}.items():
        yield name, values.astype(dtype)
    yield "by columns", np.asfortranarray(values)
    if values.size and values.ndim:
        yield "cut", values[:-1]
        for name, entry in {"NaN": np.nan, "infinity": np.inf, "-1": -1, "a million": 10**6}.items():
            if values.dtype.kind == "f" or (
                isinstance(entry, int) and np.can_cast(np.min_scalar_type(entry), values.dtype)
            ):
                one = values.copy()
                one.reshape(-1)[one.size // 2] = entry
                yield f"{name} among them", one


def archived(members: dict[str, np.ndarray]) -> bytes:
    """The bytes of an archive of arrays, objects pickled."""
    made = io.BytesIO()
    np.savez(made, allow_pickle=True, **members)
    return made.getvalue()


def values_of(plain: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values of nested plain data; of items of a list that are made alike, those of the first two."""
    yield path
    parts = plain.items() if isinstance(plain, dict) else enumerate(plain) if isinstance(plain, list) else ()
    seen: Counter[Any] = Counter()
    for key, value in parts:
        alike = type(key), kind_of(value)
        seen[alike] += isinstance(key, int)
        if seen[alike] <= 2:
            yield from values_of(value, (*path, key))


def kind_of(plain: Any) -> Any:
    """What plain data has in common with other such data: its types and keys."""
    if isinstance(plain, dict):
        return tuple((key, kind_of(value)) for key, value in plain.items())
    return tuple(map(kind_of, plain)) if isinstance(plain, list) else type(plain)


def replaced(plain: Any, path: tuple[Any, ...], word: str) -> str:
    """The JSON with `word` in place of one value."""
    mark = "<put it here>"
    return json.dumps(put(plain, path, mark)).replace(json.dumps(mark), word) if path else word


def documents(plain: Any, most: int = len(WORDS), leaves: Collection[str] = ()) -> Iterator[tuple[str, str]]:
    """The JSON with `most` of the `WORDS`, in turn, in place of each value, and without each entry, named. leaves: keys
    of what is replaced as a whole alone."""
    words = itertools.cycle(WORDS)
    for path in values_of(plain):
        if not set(path[:-1]).isdisjoint(leaves):
            continue
        for word in itertools.islice(words, most):
            yield f"{path} {word[:20]}", replaced(plain, path, word)
        if path and isinstance(path[-1], str):
            yield f"{path} left out", json.dumps(without(plain, path))


def put(plain: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Plain data with another value at a path."""
    changed = copy.deepcopy(plain)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed


def without(plain: Any, path: tuple[Any, ...]) -> Any:
    """Plain data without the entry at a path."""
    changed = copy.deepcopy(plain)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return changed


def refused_or(read: Callable[[], Any], use: Callable[[Any], Any], what: str) -> bool:
    """Whether something is read; it is then used. Otherwise it must be refused in one line, and nothing unpickled."""
    sentence = None
    try:
        use(read())
    except InputError as error:
        sentence = str(error)
    except Exception as error:
        raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error
    assert EXECUTED not in os.environ, what
    assert sentence != "", what
    assert "\n" not in (sentence or ""), what
    return sentence is None
