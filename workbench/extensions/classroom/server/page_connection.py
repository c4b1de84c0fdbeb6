"""The websocket between a page of `make app`, whoever opened it, and its kernel."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Sequence
from typing import Any

from tornado.web import HTTPError
from tornado.websocket import WebSocketClosedError, WebSocketHandler
from zmq.eventloop.zmqstream import ZMQStream

from workbench.extensions.classroom.server.connection import NoDelayConnection
from workbench.extensions.classroom.server.framing import V1, check_frame

MOST_UNREAD = 64 << 20
"""Bytes that the server keeps for a page that does not read, and on each channel for a kernel that does not. A single
message may have more: a file that the page saves comes as one."""
QUEUED = 2
"""Messages that ZeroMQ itself keeps for each channel and direction; the rest waits in the kernel."""
ONLY_V1 = f"a page talks to its kernel by the websocket subprotocol {V1}, which was not offered; load the page again"


class PageConnection(NoDelayConnection):
    """A connection of a stranger: one protocol, and bounds on what the server keeps for it.

    Voila reads each message to a page as one of `V1`, whatever the connection has: the first bytes of a legacy one are
    then a count of 10^17 offsets, which are read for ever. JupyterLab's pages, which Voila's are, offer `V1`.
    """

    @property
    def subprotocol(self) -> str:
        """`V1`, also once the page has closed: Jupyter then has none, and would make a legacy message of the next."""
        return V1

    async def prepare(self) -> None:
        """Prepare the connection. Raises HTTPError where it would not have `V1`."""
        handler = self.websocket_handler
        offered = handler.request.headers.get("Sec-WebSocket-Protocol", "")
        if handler.select_subprotocol([name.strip() for name in offered.split(",")]) != V1:
            raise HTTPError(400, ONLY_V1, reason=ONLY_V1)
        await super().prepare()

    def create_stream(self) -> None:
        """Connect to the channels of the kernel; those that it reads are bounded."""
        super().create_stream()
        for name, stream in self.channels.items():
            stream.socket.rcvhwm = QUEUED
            if name != "iopub":
                _bound(stream)

    @property
    def write_message(self) -> Any:
        """The function that sends a message to the page."""
        return self._write

    _unread = 0
    """Bytes that the page has not read yet."""

    def _write(self, message: bytes | str, binary: bool = False) -> None:
        """Send a message; end the connection where too many wait, since no message may be left out."""
        handler = self.websocket_handler
        if handler.ws_connection is None:
            return
        try:
            check_frame(message, V1)
        except ValueError as error:
            # Nothing makes such a message now. One that got here would keep the server from answering anyone.
            self.log.error("A message to the page of kernel %s is left out: %s", self.kernel_id, error)
            return
        if self._unread > MOST_UNREAD:
            self.log.warning("Connection to kernel %s ended: its page does not read", self.kernel_id)
            # A closing message would wait behind the others.
            if handler.ws_connection.stream is not None:
                handler.ws_connection.stream.close()
            return
        try:
            sent = _sent(handler, message, binary)
        except WebSocketClosedError:
            return
        if sent is not None:
            self._unread += len(message)
            sent.add_done_callback(functools.partial(self._on_sent, len(message)))

    def _on_sent(self, size: int, sent: asyncio.Future[None]) -> None:
        self._unread -= size
        if not sent.cancelled():
            # Otherwise asyncio logs that of a connection that has ended.
            sent.exception()


def _sent(handler: WebSocketHandler, message: bytes | str, binary: bool) -> asyncio.Future[None] | None:
    """The message on its way to the page; None for one that Voila leaves out."""
    return handler.write_message(message, binary)


def _bound(stream: ZMQStream) -> None:
    """Let a channel raise ValueError for a message while more than `MOST_UNREAD` bytes wait in it."""
    waiting = 0
    send = stream.send_multipart

    def send_bounded(msg: Sequence[Any], *options: Any, **named: Any) -> None:
        nonlocal waiting
        if waiting > MOST_UNREAD:
            raise ValueError("the kernel does not read, and too many messages wait for it")
        waiting += sum(map(len, msg))
        send(msg, *options, **named)

    def on_sent(parts: Sequence[bytes], _status: object) -> None:
        nonlocal waiting
        waiting -= sum(map(len, parts))

    stream.socket.sndhwm = QUEUED
    stream.on_send(on_sent)
    stream.send_multipart = send_bounded
