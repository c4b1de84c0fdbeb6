"""A generator of what clients of a server may do: each act is one visit by raw sockets, drawn by a seeded generator."""

from __future__ import annotations

import base64
import contextlib
import json
import math
import os
import random
import re
import socket
import struct
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from tests.extensions.classroom.messages import (
    HEADER,
    REQUEST,
    legacy,
    malformed_legacy,
    malformed_v1,
    picture,
    request_v1,
    v1,
)
from tests.waiting import LIMIT
from workbench.extensions.classroom.server.framing import V1

TEXT, BINARY, CONTINUED, CLOSE, PING, PONG = 1, 2, 0, 8, 9, 10
"""Opcodes of websocket frames (RFC 6455, 5.2)."""
WAIT = 3.0
"""Seconds that a visitor waits for anything."""
MB = 1 << 20
OFFERED = ((V1,), (), ("legacy",), (V1.upper(),), ("x", V1), (f"{V1};q=1",), (V1, "\t"), ("v0",) * 300)
ADDRESSES = ("/", "/x", "/voila/static/none", "/voila/files/a.png", "/api/kernels", "/api/kernels/0", "/s/abcdef",
    "/teacher", "/%00", "/logout", "/../x", "//", "/?p=cgw1.x&view=%00", "/lesson/none", "/voila/api/shutdown/0",
    "/api/contents", "/nbextensions/x.js", "/" + "a" * 4000)  # fmt: skip
KINDS = ("kernel_info_request", "comm_info_request", "comm_msg", "comm_open", "comm_close", "execute_request",
    "interrupt_request", "history_request", "input_reply", "is_complete_request", "nonsense", "")  # fmt: skip
CHANNELS = (b"shell", b"control", b"stdin", b"iopub", b"", b"x" * 300)


class Visitor:
    """One client. url, cookie: of the server. kernels: of pages that are open; messages: those sent before, to be
    replayed. chance: all draws."""

    def __init__(self, url: str, kernels: list[str], legacy_too: bool, seed: int, cookie: str = "") -> None:
        place = urlsplit(url)
        self.place, self.kernels, self.legacy_too = (place.hostname or "", place.port or 0), kernels, legacy_too
        self.chance, self.cookie = random.Random(seed), cookie
        self.messages: list[bytes | str] = []
        self.done: Counter[str] = Counter()
        self.end = math.inf
        """When to stop, also in the middle of many messages to a server that is slow to read."""
        self.malformed = list(malformed_v1()), list(malformed_legacy())

    def visit(self) -> None:
        """One act; a server may refuse or end it as it likes."""
        act = self.chance.choice(ACTS)
        with contextlib.suppress(OSError):
            act(self)
        self.done[act.__name__] += 1

    def connect(self, receive: int = 0) -> socket.socket:
        """A connection. receive: bytes of its buffer, 0 for the system's."""
        made = socket.socket()
        if receive:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        made.settimeout(WAIT)
        made.connect(self.place)
        return made

    def ask(self, lines: str, receive: int = 0) -> socket.socket:
        """A connection on which a request has been sent."""
        made = self.connect(receive)
        made.sendall(lines.encode("latin-1"))
        return made

    def opened(self, *, good: bool = False, receive: int = 0) -> tuple[socket.socket, str | None]:
        """A websocket to a kernel, and its protocol. good: one that a page of the server would have."""
        accepted = V1 if not self.legacy_too else self.chance.choice((V1, None))
        offered = ((accepted,) if accepted else ()) if good else self.chance.choice(OFFERED)
        kernel = self.chance.choice(self.kernels) if good or self.chance.random() < 0.8 else str(uuid.uuid4())
        session = uuid.uuid4().hex if good else self.chance.choice((uuid.uuid4().hex, "", "x" * 300, "same", "%0a"))
        key = base64.b64encode(os.urandom(16)).decode()
        names = f"Sec-WebSocket-Protocol: {', '.join(offered)}\r\n" if offered else ""
        made = self.ask(
            f"GET /api/kernels/{kernel}/channels?session_id={session} HTTP/1.1\r\nHost: 127.0.0.1:{self.place[1]}\r\n"
            f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
            f"{names}{self.cookie}\r\n",
            receive,
        )
        answer = b""
        while b"\r\n\r\n" not in answer:
            got = made.recv(4096)
            if not got:
                raise ConnectionError("refused")
            answer += got
        if b" 101 " not in answer.split(b"\r\n")[0]:
            raise ConnectionError("refused")
        return made, V1 if V1.encode() in answer else None

    def leave(self, at: socket.socket) -> None:
        """End a connection in one of four ways."""
        how = self.chance.randrange(4)
        with contextlib.suppress(OSError):
            if how == 0:
                at.sendall(frame(struct.pack("!H", self.chance.choice((1000, 1001, 5, 4999, 65535))), CLOSE))
            elif how == 1:
                # A reset in place of an end.
                at.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            elif how == 2:
                at.shutdown(socket.SHUT_WR)
        at.close()

    def message(self, protocol: str | None) -> bytes | str:
        """A message: well formed, malformed, or one that was sent before."""
        draw = self.chance.random()
        if draw < 0.25 and self.messages:
            return self.chance.choice(self.messages)
        if draw < 0.5:
            return self.chance.choice(self.malformed[protocol is None])
        kind, channel = self.chance.choice(KINDS), self.chance.choice(CHANNELS)
        content = self.chance.choice((
            {}, {"comm_id": uuid.uuid4().hex, "data": {"method": "request_state"}},
            {"comm_id": "c", "target_name": "jupyter.widget.control", "data": {"method": "request_states"}},
            {"comm_id": "x" * 1000, "target_name": "jupyter.widget", "data": {"state": {"_model_name": "ImageModel"}}},
            {"code": "1 + 1", "silent": False, "restart": False}, [], "x",
        ))  # fmt: skip
        if protocol == V1:
            made = v1(*request_v1(kind, channel=channel, content=json.dumps(content).encode()))
        else:
            header = HEADER | {"msg_id": uuid.uuid4().hex, "msg_type": kind}
            text = REQUEST | {"header": header, "content": content, "channel": channel.decode()}
            made = json.dumps(text)
            if self.chance.random() < 0.3:
                made = legacy(made.encode(), b"buffer")
        self.messages = [*self.messages[-50:], made]
        return made


def frame(data: bytes, opcode: int, *, last: bool = True, masked: bool = True, reserved: int = 0) -> bytes:
    """A frame of a websocket from a client, right or wrong (RFC 6455, 5.2)."""
    size, bit = len(data), 0x80 if masked else 0
    first = bytes([(0x80 if last else 0) | reserved << 4 | opcode])
    if size < 126:
        head = bytes([bit | size])
    elif size < 1 << 16:
        head = bytes([bit | 126]) + struct.pack("!H", size)
    else:
        head = bytes([bit | 127]) + struct.pack("!Q", size)
    # A mask of zeros changes nothing.
    return first + head + (bytes(4) if masked else b"") + data


def whole(message: bytes | str) -> bytes:
    """The frame of a message."""
    return frame(message.encode(), TEXT) if isinstance(message, str) else frame(message, BINARY)


def read_some(at: socket.socket, seconds: float) -> None:
    """Read what comes for a while."""
    end = time.monotonic() + seconds
    at.settimeout(0.05)
    while time.monotonic() < end:
        with contextlib.suppress(TimeoutError):
            if not at.recv(1 << 16):
                break
    at.settimeout(WAIT)


def offers(one: Visitor) -> None:
    """Offers protocols, and sends a message where one is accepted."""
    at, protocol = one.opened()
    at.sendall(whole(one.message(protocol)))
    read_some(at, 0.1)
    one.leave(at)


def talks(one: Visitor) -> None:
    """Sends some messages on a good connection, reading or not."""
    at, protocol = one.opened(good=True)
    with contextlib.suppress(OSError):
        for _ in range(one.chance.randint(1, 30)):
            if time.monotonic() > one.end:
                break
            at.sendall(whole(one.message(protocol)))
            if one.chance.random() < 0.2:
                read_some(at, 0.05)
    one.leave(at)


def fragments(one: Visitor) -> None:
    """Sends a message in fragments, with frames between that may or may not be there."""
    at, protocol = one.opened(good=True)
    message = one.message(protocol)
    data, kind = (message.encode(), TEXT) if isinstance(message, str) else (message, BINARY)
    size = max(1, len(data) // one.chance.randint(1, 8))
    places = [*range(0, len(data), size)]
    with contextlib.suppress(OSError):
        for place in places:
            last = place == places[-1] and one.chance.random() < 0.7
            at.sendall(frame(data[place : place + size], kind if place == 0 else CONTINUED, last=last))
            if one.chance.random() < 0.2:
                at.sendall(frame(b"x" * one.chance.choice((0, 125, 200)), one.chance.choice((PING, PONG, TEXT))))
    one.leave(at)


def half_frames(one: Visitor) -> None:
    """Sends a part of a frame, or a wrong one, and leaves or stays a while."""
    at, protocol = one.opened(good=True)
    message = whole(one.message(protocol))
    wrong = (
        message[: one.chance.randint(1, len(message))],
        bytes([0x82, 0xFF]) + struct.pack("!Q", one.chance.choice((2**63 - 1, 2**64 - 1, 20 * MB))) + bytes(4),
        frame(b"abc", CONTINUED),
        frame(b"abc", BINARY, masked=False),
        frame(b"abc", BINARY, reserved=one.chance.randint(1, 7)),
        frame(b"abc", one.chance.randint(3, 15)),
        os.urandom(one.chance.randint(1, 2000)),
    )
    at.sendall(one.chance.choice(wrong))
    time.sleep(one.chance.choice((0, 0.1, 0.5)))
    one.leave(at)


def floods(one: Visitor) -> None:
    """Sends many small messages as fast as they go, without reading."""
    at, protocol = one.opened(good=True)
    kinds = (PING, BINARY if protocol == V1 else TEXT)
    kind = one.chance.choice(kinds)
    with contextlib.suppress(OSError):
        for _ in range(one.chance.randint(50, 1000)):
            if time.monotonic() > one.end:
                break
            at.sendall(frame(b"x", PING) if kind == PING else whole(one.message(protocol)))
    one.leave(at)


def reads_slowly(one: Visitor) -> None:
    """Lets a kernel make messages of megabytes with buffers, and reads none or few of their bytes."""
    at, protocol = one.opened(good=True, receive=4096)
    made, ask, _ = picture(one.chance.choice((9, MB, 4 * MB)))
    if protocol == V1:
        with contextlib.suppress(OSError):
            at.sendall(whole(made))
            for _ in range(one.chance.randint(1, 20)):
                at.sendall(whole(ask()))
    end = time.monotonic() + one.chance.uniform(0, 2)
    while time.monotonic() < end and at.recv(100):
        time.sleep(0.05)
    one.leave(at)


def asks_for_addresses(one: Visitor) -> None:
    """Requests of pages that there are or not, whole or in part."""
    method = one.chance.choice(("GET", "POST", "HEAD", "DELETE", "OPTIONS", "PUT", "X" * 50, "GET"))
    head = f"{method} {one.chance.choice(ADDRESSES)} HTTP/1.1\r\nHost: 127.0.0.1:{one.place[1]}\r\n"
    more = ("", "Content-Length: -5\r\n", "Content-Length: 99999999999\r\n", "Transfer-Encoding: chunked\r\n",
        "Cookie: a=b; _xsrf=\x80\r\n", "X: " + "y" * 100_000 + "\r\n", "Content-Length: 5\r\n")  # fmt: skip
    request = f"{head}{one.chance.choice(more)}\r\n{one.chance.choice(('', 'x' * 5, 'zz' * 5000))}"
    at = one.ask(request[: one.chance.choice((len(request), len(request), 10, len(head) // 2))])
    read_some(at, one.chance.choice((0, 0.1, 0.5)))
    one.leave(at)


def pipelines(one: Visitor) -> None:
    """Sends many requests on one connection and reads none of the answers."""
    at = one.ask(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{one.place[1]}\r\n\r\n" * 200, receive=4096)
    time.sleep(one.chance.uniform(0, 1))
    one.leave(at)


def opens_a_page(one: Visitor) -> None:
    """Opens a page and leaves it at once, in the middle, or by ending its kernel with messages under way."""
    at = one.ask(
        f"GET {one.chance.choice(('/?view=build.build', '/lesson/without-pain'))} HTTP/1.1\r\n"
        f"Host: 127.0.0.1:{one.place[1]}\r\n{one.cookie}\r\n"
    )
    if one.chance.random() < 0.3:
        one.leave(at)
        return
    text, end = b"", time.monotonic() + 20
    at.settimeout(20)
    while time.monotonic() < end and not (found := re.search(rb'"kernelId":\s*"([0-9a-f-]+)"', text)):
        got = at.recv(1 << 16)
        if not got:
            return
        text += got
    if time.monotonic() >= end or not found:
        return
    kernel, xsrf = found[1].decode(), re.search(rb"_xsrf=([^;]+)", text)
    token = xsrf[1].decode() if xsrf else ""
    visitor = Visitor(f"http://{one.place[0]}:{one.place[1]}", [kernel], one.legacy_too, one.chance.randrange(1 << 30))
    with contextlib.suppress(OSError):
        socket_, protocol = visitor.opened(good=True)
        socket_.sendall(whole(visitor.message(protocol)))
        ending = one.ask(
            f"POST /voila/api/shutdown/{kernel} HTTP/1.1\r\nHost: 127.0.0.1:{one.place[1]}\r\n"
            f"Cookie: _xsrf={token}\r\nX-XSRFToken: {token}\r\nContent-Length: 0\r\n\r\n"
        )
        for _ in range(20):
            socket_.sendall(whole(visitor.message(protocol)))
        read_some(ending, 0.5)
        one.leave(ending)
        one.leave(socket_)
    one.leave(at)


ACTS: Sequence[Callable[[Visitor], None]] = (
    *(offers, talks, fragments, half_frames, floods, reads_slowly, asks_for_addresses) * 3,
    pipelines,
    opens_a_page,
)


def visits(visitors: Sequence[Visitor], seconds: float, every_second: Callable[[], None]) -> Counter[str]:
    """Let visitors act, each in a thread, for some seconds; `every_second` is called meanwhile. Returns how many acts
    of each kind there were."""
    end = time.monotonic() + seconds
    threads = [threading.Thread(target=_act, args=(one, end), daemon=True) for one in visitors]
    for thread in threads:
        thread.start()
    while (left := end - time.monotonic()) > 0:
        every_second()
        time.sleep(min(1.0, max(0.0, left)))
    for thread in threads:
        thread.join(LIMIT)
        assert not thread.is_alive(), "a visitor waits for ever"
    return sum((one.done for one in visitors), Counter())


def _act(one: Visitor, end: float) -> None:
    one.end = end
    while time.monotonic() < end:
        one.visit()
