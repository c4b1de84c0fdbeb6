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


def give_token(handler: Any, **_what: Any) -> None:
    """Give a page of Voila's the token by which it may end its kernel when it is left; Voila's prelaunch hook.

    The page sends the token of the cookie `_xsrf` with its request, but Voila sets no such cookie, so that the request
    is refused and every kernel stays until it is culled. handler: of the request for the page. Asking a handler for
    its token sets the cookie; that another site cannot read it is what protects kernels, so the check itself stays on.
    """
    _ = handler.xsrf_token
