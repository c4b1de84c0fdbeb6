"""What the Jupyter servers of `make lab` and `make app` do beside Jupyter's own."""

from __future__ import annotations

from typing import Any

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection


class PromptConnection(ZMQChannelsWebsocketConnection):
    """A kernel's connection to a page that sends every message at once.

    Jupyter's own lets the system wait until the message before is confirmed (Nagle's algorithm), and browsers confirm
    late: one answer in ten to Pause then came about 25 ms later or more. Any Jupyter server takes this class, by
    --ServerApp.kernel_websocket_connection_class=workbench.server.PromptConnection.
    """

    def connect(self) -> Any:
        """Connect the page, as Jupyter's own does."""
        self.websocket_handler.set_nodelay(True)
        return super().connect()
