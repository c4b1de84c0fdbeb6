"""How long a test waits for what must come before it fails; nothing waits longer than it has to."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

LIMIT = float(os.environ.get("WORKBENCH_TEST_SECONDS", "240"))
"""Seconds. Far more than anything takes on an idle machine: two cores that eight processes share are four times as
slow, and compiling for the first time takes its share. WORKBENCH_TEST_SECONDS sets another limit, such as 900."""
LONGEST = 5 * LIMIT
"""Seconds that a test of the page, or of the views on it, may take with all its waits."""
NOT_YET = (LookupError, AttributeError, StopIteration)
"""What a condition raises where a row, a key or an attribute is not there yet, or `next` finds none."""


def until(condition: Callable[[], Any]) -> Any:
    """Wait until something is true, and return it."""
    end = time.monotonic() + LIMIT
    while True:
        missing = None
        try:
            if value := condition():
                return value
        except NOT_YET as error:
            missing = error
        if time.monotonic() >= end:
            raise AssertionError(f"it did not happen in time; missing: {missing!r}") from missing
        time.sleep(0.002)
