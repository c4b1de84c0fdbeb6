"""Extensions of the Jupyter servers started by `make lab` and `make app`."""

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


def set_xsrf_cookie(handler: Any, **_unused: Any) -> None:
    """Set the `_xsrf` cookie of a Voila page, so that the page may shut down its kernel; Voila's prelaunch hook.

    The page sends the token of that cookie with its shutdown request. Voila does not set the cookie, so the request is
    refused and the kernel stays until it is culled. Reading the token of the page's request `handler` sets the cookie.
    The XSRF check itself stays on; it protects kernels because other sites cannot read the cookie.
    """
    _ = handler.xsrf_token
