"""Measurements of this machine that take milliseconds: on arrays that are in its caches, and few times."""

from __future__ import annotations

from typing import Any

from workbench.devices.host.triad import launch_latency, update_bandwidth
from workbench.machines import calibrate, processor

BRIEF: list[tuple[Any, str, object]] = [
    (calibrate, "update_bandwidth", lambda seconds, nbytes: update_bandwidth(0.01, 1 << 20)),
    (calibrate, "launch_latency", lambda: launch_latency(50)),
    (calibrate, "ELEMENTS", 1 << 17),
    (calibrate, "COPIED", 1 << 20),
    (processor, "last_level_cache", lambda: 1 << 20),
]
"""Owner, attribute and value."""
