"""Standard streams that may be closed, full, without a reader, or of an encoding that lacks characters."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import TextIO


def make_usable() -> None:
    """Open /dev/null for each closed standard stream, and let every text be printed.

    Otherwise the next file to be opened would get the descriptor of the closed stream, and what libraries print there.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # open takes the lowest free descriptor, which is this one.
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # Paths may hold undecodable bytes, and a terminal may be limited to ASCII.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def log(message: str) -> None:
    """Print a message on standard error; do nothing where it is closed."""
    try:
        print(f"workbench: {message}", file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)


def discard(stream: TextIO) -> None:
    """Redirect a stream, and what it has buffered, to /dev/null, so that flushing at exit does not fail."""
    with contextlib.suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


class StatusLine:
    """A line on a terminal that is overwritten by each update; nothing where standard error is no terminal."""

    def __init__(self) -> None:
        self.shown = sys.stderr.isatty()

    def show(self, text: str) -> None:
        """Replace the text; an empty one clears the line."""
        if not self.shown:
            return
        try:
            sys.stderr.write(f"\r\033[K{text}")
            sys.stderr.flush()
        except OSError:
            self.shown = False
            discard(sys.stderr)
