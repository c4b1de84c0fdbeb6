"""The connection of a served page to the server that has started its kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from workbench.errors import InputError
from workbench.live.ui.frontend import in_voila
from workbench.registry.extensions import service

SERVICE = "page_connection"
"""The service that returns the connection of this kernel, a `ServerConnection`, or None where it has none."""


class ServerConnection(Protocol):
    """The part of the connection that the page itself uses."""

    @property
    def facts(self) -> Mapping[str, object]:
        """ "collects": true if there is a teacher, who sees runs and exercises. "address": of the server for others,
        empty if unknown. "solutions": the exercises whose solutions the teacher shows, as lesson:number."""
        ...

    def on(self, kind: str, act: Callable[[Mapping[str, object]], object]) -> None:
        """Call `act` with each message of a kind, in a thread; it should return at once."""
        ...

    def tell(self, kind: str, **facts: object) -> None:
        """Send a message. Raises OSError once the server has ended."""
        ...

    def shorten(self, link: str) -> str:
        """The code of the short address of a share link; empty for one that is too long. Raises OSError."""
        ...


def server_connection() -> ServerConnection | None:
    """The connection, from whose first use on runs take turns with those of other pages; None on pages without one."""
    if not in_voila():
        return None
    try:
        return service(SERVICE)()
    # A page without it does all but what several pages share.
    except InputError:
        return None
