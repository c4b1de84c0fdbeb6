"""Hints on a run without kernel timings."""

from __future__ import annotations

from workbench.live.ui.frontend import in_voila

NO_CODE = "This run has no kernel timings. Run it again with kernel timings to see its kernels here."


def fitting(hint: str) -> str:
    """A hint that fits the page: one that holds code is of no use where there are no cells."""
    return NO_CODE if "Session(" in hint and in_voila() else hint
