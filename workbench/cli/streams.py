"""Standard streams as a shell may leave them: closed, full, without a reader, or in an encoding of few characters."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import TextIO


def make_usable() -> None:
    """Put /dev/null where standard input, output or error is closed, and let every text be printed.

    A file that is opened later would otherwise take the number of the closed stream, and get what libraries print.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is taken, which is this one.
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # A path may hold bytes that are no text, and a terminal may know ASCII only.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def tell(what: str) -> None:
    """Say a sentence on standard error; do nothing where it is closed."""
    try:
        print(f"workbench: {what}", file=sys.stderr, flush=True)
    except OSError:
        give_up(sys.stderr)


def give_up(stream: TextIO) -> None:
    """Let what a stream still holds go to /dev/null, so that Python does not fail with it when it ends."""
    with contextlib.suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


class StatusLine:
    """One line on a terminal that is rewritten; silent where standard error is no terminal, or is one no more."""

    def __init__(self) -> None:
        self.shown = sys.stderr.isatty()

    def say(self, text: str) -> None:
        """Put a text in place of the last one; an empty one clears the line."""
        if not self.shown:
            return
        try:
            sys.stderr.write(f"\r\033[K{text}")
            sys.stderr.flush()
        except OSError:
            self.shown = False
            give_up(sys.stderr)
