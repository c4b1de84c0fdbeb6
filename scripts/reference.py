"""What the reference lists: modules that users import from, and the names in their `__all__`."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

MODULES = (
    "run",
    "run.choices.share_link",
    "scipy",
    "problems",
    "spectra",
    "costs",
    "costs.block_costs",
    "advise",
    "records",
    "plots.scenes",
    "plots.figures",
    "machines",
    "machines.profile",
    "machines.retime",
    "live",
    "extensions.models.ranks_model",
    "extensions.papers",
    "extensions.lessons",
    "extensions.lessons.quadratic_scene",
    "lines",
    "lines.parse",
    "lines.interpret",
    "registry",
    "solvers",
    "preconditioners",
    "deflation",
    "operators",
    "devices",
    "errors",
)
"""In the order of the reference, without `workbench.` before them."""


def public() -> Iterator[tuple[str, str, Any]]:
    """Module, name and object of all that is public: functions, classes and constants."""
    for name in MODULES:
        module = importlib.import_module(f"workbench.{name}")
        for each in module.__all__:
            yield name, each, getattr(module, each)
