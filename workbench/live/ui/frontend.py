"""The front end that shows the views, and hints that fit it."""

from __future__ import annotations

import os

FORGETS = " Reloading this page discards its state, so save what you want to keep."
NO_CODE = "This run has no kernel timings. Run it again with kernel timings to see its kernels here."


def in_voila() -> bool:
    """True if the page is Voila's. Each load of it starts a new kernel, and the disk is not the user's."""
    return os.environ.get("SERVER_SOFTWARE", "").startswith("voila/")


def fitting(hint: str) -> str:
    """A hint that fits the page: one that holds code is of no use where there are no cells."""
    return NO_CODE if "Session(" in hint and in_voila() else hint
