"""The websocket between a page and its kernel."""

from __future__ import annotations

from typing import Any

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection


class NoDelayConnection(ZMQChannelsWebsocketConnection):
    """A kernel websocket with Nagle's algorithm off (TCP_NODELAY).

    With Jupyter's default, the system holds a message back until the browser has acknowledged the one before, and
    browsers delay acknowledgements: one reply in ten to Pause came 25 ms late or more. Any Jupyter server accepts this
    class: --ServerApp.kernel_websocket_connection_class=workbench.server.NoDelayConnection.
    """

    def connect(self) -> Any:
        """Connect to the page with TCP_NODELAY set."""
        self.websocket_handler.set_nodelay(True)
        return super().connect()
