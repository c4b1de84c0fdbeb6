"""The connection of a served page to the server that has started its kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from workbench.errors import InputError
from workbench.live.ui.frontend import in_voila
from workbench.registry.extensions import service

SERVICE = "page_server"
"""The service that returns the connection of this kernel, a `PageServer`, or None where it has none."""


class PageServer(Protocol):
    """The part of the connection that the page itself uses."""

    @property
    def facts(self) -> Mapping[str, object]:
        """ "collects": True if runs are sent to a teacher. "address": of the server for others, empty if unknown."""
        ...

    def shorten(self, link: str) -> str:
        """The code of the short address of a share link; empty for one that is too long. Raises OSError."""
        ...


def page_server() -> PageServer | None:
    """The connection, from whose first use on runs take turns with those of other pages; None on pages without one."""
    if not in_voila():
        return None
    try:
        return service(SERVICE)()
    # A page without it does all but what several pages share.
    except InputError:
        return None
