"""Numbered messages through the pipes of the compiling process."""

from __future__ import annotations

import struct
from typing import IO

HEAD = struct.Struct("!QQ")


def write_message(file: IO[bytes], number: int, content: bytes) -> None:
    """A numbered message into a pipe."""
    file.write(HEAD.pack(number, len(content)) + content)
    file.flush()


def read_message(file: IO[bytes]) -> tuple[int, bytes] | None:
    """The next one; None at the end of the pipe."""
    head = file.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    number, size = HEAD.unpack(head)
    content = file.read(size)
    return None if len(content) < size else (number, content)
