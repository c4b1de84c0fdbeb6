"""This machine as a profile: what `retime` needs to know of it, measured here."""

from __future__ import annotations

import re

from workbench.devices.cpu.launching import LAUNCHES, launch_latency
from workbench.devices.cpu.triad import triad_bandwidth
from workbench.errors import InputError
from workbench.machine import processor
from workbench.machine.doctor import triad_array_bytes
from workbench.machine.profile import Number, Profile


def calibrate(name: str = "this", seconds: float = 1.0) -> Profile:
    """Measure the processor. Costs about `seconds` and a quarter of the free memory.

    Peak operations are left out, since no kernel of the workbench comes near them. Raises InputError for a name that
    is no word.
    """
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]*", name):
        raise InputError(f"a machine's name is lower-case letters, digits, dots and dashes, got {name!r}")
    total, free = processor.memory()
    cache = processor.last_level_cache()
    triad = triad_bandwidth(seconds, triad_array_bytes(cache, free))
    told = "the operating system, container limits included"
    return Profile(
        name=name,
        title=f"{processor.model()}, {triad.threads} cores",
        kind="cpu",
        bandwidth_measured=Number(
            triad.median,
            "measured",
            f"triad a = b + 3 c on {triad.threads} threads, median of {triad.repeats}, {triad.array_bytes} bytes each, "
            f"24 bytes an element; best {triad.best:.4g}",
        ),
        launch_latency=Number(
            launch_latency(), "measured", f"a kernel on all cores that touches a word each, median of {LAUNCHES}"
        ),
        memory_bytes=Number(total, "nominal", told),
        cache_bytes=Number(cache, "nominal", told) if cache else None,
    )
