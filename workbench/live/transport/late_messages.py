"""Messages of a page to a subshell that has ended are handled by the kernel's main shell.

JupyterLab talks to each kind of widget in a subshell (a thread of the kernel) of its own, and ends that with the last
widget of the kind that it knows of, as when a page is reloaded. Later messages, such as clicks, still name that
subshell; ipykernel logs "Unknown subshell_id" and drops them.
"""

from __future__ import annotations

from typing import Any

from ipykernel.comm import comm
from ipykernel.kernelbase import Kernel


def keep() -> None:
    """Choose the main shell for messages to a subshell that has ended, in this process from now on.

    Does nothing with an ipykernel that has no subshells, or that routes them in another way.
    """
    route = getattr(comm.BaseComm, "_reply_subshell_for", None)
    if route is None or hasattr(route, "keeps_late_messages"):
        return

    def alive(self: Any, data: object, default: str | None) -> str | None:
        chosen = route(self, data, default)
        return chosen if chosen is None or chosen in _subshells() else None

    alive.keeps_late_messages = True
    comm.BaseComm._reply_subshell_for = alive


def _subshells() -> list[str]:
    """The live subshells of this process's kernel."""
    thread = getattr(Kernel.instance(), "shell_channel_thread", None)
    return thread.manager.list_subshell() if thread is not None else []
