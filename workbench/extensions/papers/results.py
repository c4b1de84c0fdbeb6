"""Results computed for items, kept in memory for the page and for reports."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from workbench.extensions.papers.items import Work
from workbench.run import Configuration, Result

KEPT = 4000
"""Results that are kept, a few hundred bytes each, of residual curves some kilobytes."""


class Results:
    """The last `KEPT` of them, by what was computed: equal work is done once."""

    def __init__(self) -> None:
        self._found: dict[object, Any] = {}
        self._lock = threading.Lock()

    def get(self, work: Work) -> Any:
        """The result of a work; None where it is not known."""
        return self._found.get(work.key)

    def put(self, work: Work, found: object) -> None:
        with self._lock:
            self._found[work.key] = found
            while len(self._found) > KEPT:
                del self._found[next(iter(self._found))]

    def found(self, work: Work, solve: Callable[[Configuration], Result]) -> Any:
        """The known result of a work, or one made now by a function that solves."""
        if (known := self.get(work)) is None:
            self.put(work, known := work.done(solve))
        return known


RESULTS = Results()
