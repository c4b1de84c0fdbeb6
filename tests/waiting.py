"""How long a test waits for what must come before it fails; nothing waits longer than it has to."""

from __future__ import annotations

import os

LIMIT = float(os.environ.get("WORKBENCH_TEST_SECONDS", "240"))
"""Seconds. Far more than anything takes on an idle machine: two cores that eight processes share are four times as
slow, and compiling for the first time takes its share. WORKBENCH_TEST_SECONDS sets another limit, such as 900."""
LONGEST = 5 * LIMIT
"""Seconds that a test of the page, or of the views on it, may take with all its waits."""
