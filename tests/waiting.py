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


def until(condition: Callable[[], Any]) -> Any:
    """Wait until something is true, and return it."""
    end = time.monotonic() + LIMIT
    while not (value := condition()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.002)
    return value
