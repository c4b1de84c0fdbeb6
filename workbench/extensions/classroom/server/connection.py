"""The websocket between a page and its kernel."""

from __future__ import annotations

import contextlib
import re
from typing import Any

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from tornado.web import HTTPError
from tornado.websocket import WebSocketClosedError

from workbench.extensions.classroom.server.framing import check_frame

SESSION = re.compile(r"[!-~]{1,200}")
"""Names of sessions; as ZeroMQ's identities they have at most 255 bytes."""
INVALID_DATA = 1007
"""Status of a websocket that is closed for a message that does not follow its protocol (RFC 6455, 7.4.1)."""
MALFORMED = (ValueError, TypeError, LookupError, AttributeError, AssertionError, RecursionError, MemoryError)
"""Errors of Jupyter for a message that is not JSON, is nested too deeply, or lacks a part."""


def _refused(*_: object, **__: object) -> None:
    raise ValueError("a message to the channel of a kernel's output")


class NoDelayConnection(ZMQChannelsWebsocketConnection):
    """A kernel websocket with Nagle's algorithm off (TCP_NODELAY), which closes on malformed messages.

    With Jupyter's default, the system holds a message back until the browser has acknowledged the one before, and
    browsers delay acknowledgements: one reply in ten to Pause came 25 ms late or more. Any Jupyter server accepts this
    class: --ServerApp.kernel_websocket_connection_class=workbench.extensions.classroom.server.NoDelayConnection.
    """

    _protocol: str | None = None

    @property
    def subprotocol(self) -> str | None:
        """The protocol of the connection, also for messages that come when it has ended; None for the legacy one."""
        if (at := self.websocket_handler.ws_connection) is not None:
            self._protocol = at.selected_subprotocol
        return self._protocol

    async def prepare(self) -> None:
        """Prepare the connection. Raises HTTPError for a session's name that ZeroMQ would not take."""
        if not SESSION.fullmatch(self.session.session):
            raise HTTPError(400, "session_id has 1 to 200 printable ASCII characters and no space")
        await super().prepare()

    def create_stream(self) -> None:
        """Connect to the channels of the kernel; that of its output takes no message."""
        super().create_stream()
        # It is never written to, so what is sent there would stay in the server's memory.
        self.channels["iopub"].send_multipart = _refused

    def connect(self) -> Any:
        """Connect to the page with TCP_NODELAY set."""
        self.websocket_handler.set_nodelay(True)
        return super().connect()

    def handle_incoming_message(self, incoming_msg: str | bytes) -> None:
        """Pass a message on to the kernel; close the connection on a malformed one."""
        try:
            check_frame(incoming_msg, self.subprotocol)
            super().handle_incoming_message(incoming_msg)  # pyright: ignore[reportArgumentType]
        except MALFORMED as error:
            self.log.warning("Connection to kernel %s closed by a malformed message: %.200r", self.kernel_id, error)
            self.websocket_handler.close(INVALID_DATA, "malformed message")

    def handle_outgoing_message(self, stream: str, outgoing_msg: list[Any]) -> None:
        """Pass a message of the kernel on to the page, unless the page has closed since the kernel sent it."""
        with contextlib.suppress(WebSocketClosedError):
            super().handle_outgoing_message(stream, outgoing_msg)
