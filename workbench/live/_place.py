"""Where the page is that shows the views."""

from __future__ import annotations

import os

FORGETS = " Reloading this page begins afresh, so save what you want to keep."


def in_voila() -> bool:
    """Whether the page is Voila's. Each load of it starts a kernel, which knows nothing of the one before."""
    return os.environ.get("SERVER_SOFTWARE", "").startswith("voila/")
