"""The front end that shows the views."""

from __future__ import annotations

import os

FORGETS = " Reloading this page discards its state, so save what you want to keep."


def in_voila() -> bool:
    """True if the page is Voila's. Each load of it starts a new kernel, and the disk is not the user's."""
    return os.environ.get("SERVER_SOFTWARE", "").startswith("voila/")
