"""Functions from a text, whose source can be read again as that of a file can."""

from __future__ import annotations

import itertools
import linecache

_numbers = itertools.count()


def function(text, **names):
    """The last function that a text defines; names: further globals."""
    file = f"<text {next(_numbers)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    before = set(names)
    exec(compile(text, file, "exec"), names)
    return [value for name, value in names.items() if name not in before and callable(value)][-1]
