"""The cookie by which a page may end its kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tornado.web import RequestHandler


def set_xsrf_cookie(handler: RequestHandler, **_unused: object) -> None:
    """Set the `_xsrf` cookie of a Voila page, so that the page may shut down its kernel; Voila's prelaunch hook.

    The page sends the token of that cookie with its shutdown request. Voila does not set the cookie, so the request is
    refused and the kernel stays until it is culled. Reading the token of the page's request `handler` sets the cookie.
    The XSRF check itself stays on; it protects kernels because other sites cannot read the cookie.
    """
    _ = handler.xsrf_token
