"""The frames of messages on a kernel's websocket, checked before Jupyter or Voila believes their numbers.

Both protocols of Jupyter begin a binary message with a count of offsets and the offsets of its parts, which Jupyter
reads as they are: a count of 2^40 in eight bytes stops the server, and offsets that go back and forth copy the message
once for each. See "WebSocket kernel wire protocols" in Jupyter Server's documentation.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

V1 = "v1.kernel.websocket.jupyter.org"
MOST_PARTS = 10_000
"""Parts of a message; each becomes one of the message to the kernel. A page sends six, and one for each buffer."""
MOST_HEADER = 1 << 16
"""Bytes of a message's header, the one part that the server itself parses with v1; Jupyter's have some 250."""
MOST_JSON = 1 << 20
"""Bytes of the JSON of a legacy message, all of which the server parses."""


class _Layout(NamedTuple):
    """The offsets of a protocol. word: the format of one number; fewest: the least number of offsets."""

    word: str
    fewest: int


# Channel, header, parent header, metadata, content and the end; the legacy one has the JSON text.
_LAYOUTS = {V1: _Layout("<Q", 6), None: _Layout("!I", 1)}


def check_frame(message: str | bytes, protocol: str | None) -> None:
    """Raise ValueError unless the parts of a message lie in it one after the other, as clients write them.

    protocol: `V1`, or None for the legacy one, whose messages without buffers are texts. Cost: proportional to the
    number of parts, which is bounded.
    """
    if isinstance(message, str):
        if protocol == V1:
            raise ValueError("a text where the protocol has binary messages")
        if len(message) > MOST_JSON:
            raise ValueError(f"a text of {len(message)} characters, at most {MOST_JSON} are read")
        return
    word, fewest = _LAYOUTS[protocol]
    size = struct.calcsize(word)
    count = struct.unpack_from(word, message)[0] if len(message) >= size else 0
    first = size * (count + 1)
    if not fewest <= count <= MOST_PARTS or first > len(message):
        raise ValueError(f"{count} offsets in a message of {len(message)} bytes")
    offsets = struct.unpack_from(f"{word[0]}{count}{word[1]}", message, size)
    ends = (*offsets, len(message))
    if offsets[0] < first or any(start > end for start, end in zip(offsets, ends[1:], strict=True)):
        raise ValueError(f"offsets that do not ascend from {first} to at most {len(message)}")
    parsed, most = (offsets[2] - offsets[1], MOST_HEADER) if protocol == V1 else (ends[1] - offsets[0], MOST_JSON)
    if parsed > most:
        raise ValueError(f"{parsed} bytes for the server to parse, at most {most} are read")
