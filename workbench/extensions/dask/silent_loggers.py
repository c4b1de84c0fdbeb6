"""The loggers of Dask write to standard error by default; here they are silent while a cluster is in use."""

from __future__ import annotations

import logging
import threading

SILENT = logging.CRITICAL + 1
NAMES = ("distributed", "tornado", "asyncio")
"""Their loggers and all below. Those of asyncio and Tornado report the connections that a lost worker leaves open."""

_changing = threading.Lock()
_users = 0
_levels: dict[str, int] = {}


def silence() -> None:
    """Silence the loggers until `restore` has been called as often."""
    global _users
    with _changing:
        _users += 1
        known = [name for name in logging.root.manager.loggerDict if name.split(".")[0] in NAMES]
        for name in {*NAMES, *known} - set(_levels):
            _levels[name] = logging.getLogger(name).level
            logging.getLogger(name).setLevel(SILENT)


def restore() -> None:
    """The levels from before the first `silence`, after the last user has left."""
    global _users
    with _changing:
        _users -= 1
        if not _users:
            for name, level in _levels.items():
                logging.getLogger(name).setLevel(level)
            _levels.clear()
