"""Exceptions for wrong input, and their messages: one sentence with the value, the bound and what to do instead."""

import os
import traceback
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["DeviceError", "InputError"]


class InputError(ValueError):
    """Wrong input. The message is a complete sentence for the user; the command line exits with status 2.

    changes: choices of a configuration that mend it, such as {"preconditioner": "jacobi", "problem.n": 1024}, where
    other choices of that configuration are what is wrong; `workbench.run.choices.conflicts` collects them. at: the
    choice at fault where only its user knows what corrects it.

    Examples:
        >>> from workbench.errors import InputError
        >>> from workbench.run import configure
        >>> try: configure("two-layer", solver="cq")
        ... except InputError as error: print(error)
        unknown solver 'cq'; did you mean cg?
    """

    def __init__(self, *message: object, changes: Mapping[str, Any] | None = None, at: str = "") -> None:
        super().__init__(*message)
        self.changes, self.at = dict(changes or {}), at

    def _render_traceback_(self) -> list[str]:
        """The lines that IPython shows: the sentence, and the line of the cell in place of a traceback."""
        cells = [frame for frame in traceback.extract_tb(self.__traceback__) if frame.name == "<module>"]
        where = f" in line {cells[-1].lineno}, {cells[-1].line}" if cells and cells[-1].line else ""
        return [f"InputError{where}", str(self)]


class DeviceError(InputError):
    """A device stopped responding after it had worked; a run in progress ends with this reason.

    Examples:
        >>> from workbench.errors import DeviceError, InputError
        >>> issubclass(DeviceError, InputError)
        True
    """


KERNEL_MEMORY = "WORKBENCH_KERNEL_MEMORY"
"""The environment variable for the limit on the memory of a page, which `make app` sets for its kernels."""
ALL_MEMORY = "WORKBENCH_ALL_MEMORY"
"""The environment variable for the limit on the memory of all pages of a server together."""
RUN_SECONDS = "WORKBENCH_RUN_SECONDS"
"""The environment variable for the limit on the iteration time of each run of a page, in seconds."""
CLUSTERS = "WORKBENCH_CLUSTERS"
"""The environment variable that says "none" where a page may not use a cluster."""
DOWNLOADED_MB = "WORKBENCH_DOWNLOADED_MB"
"""The environment variable for the limit on all matrices that the pages of a server download, in MB."""
MOST_UNKNOWNS = "WORKBENCH_MOST_UNKNOWNS"
"""The environment variable for the limit on the number of unknowns of a problem on a page."""
CLASS = "WORKBENCH_CLASS"
"""The environment variable by which the kernel of a page connects to its server, as port:token."""
RANKS_WAIT = "WORKBENCH_RANKS_WAIT"
"""The environment variable for the seconds that a rank waits for the others in one call."""
MAX_QUOTED = 60
"""Characters of a value that a message quotes."""
MAX_PATH = 200
"""Characters of a path that a message prints unquoted."""


def quoted(value: object) -> str:
    """The repr of a value for a message, shortened to about 60 characters."""
    if isinstance(value, str):
        return repr(value if len(value) <= MAX_QUOTED else f"{value[: MAX_QUOTED - 1]}…")
    text = " ".join(_written(value, repr).split())
    return text if len(text) <= MAX_QUOTED else f"{text[: MAX_QUOTED - 1]}…"


def printable_path(path: object) -> str:
    """A path or URL for a message; quoted and shortened if it is long or has characters that cannot be printed."""
    text = str(path)
    return text if len(text) <= MAX_PATH and text.isprintable() else quoted(text)


def one_line(text: object) -> str:
    """A foreign text for a message: on one line, shortened, and without characters that a terminal would obey."""
    shown = printable(text)
    return shown if len(shown) <= MAX_PATH else f"{shown[: MAX_PATH - 1]}…"


def printable(text: object) -> str:
    """A foreign text on one line, without characters that a terminal would obey; each of these becomes a question mark.

    Examples:
        >>> from workbench.errors import printable
        >>> printable("red \x1b[31m text")
        'red ?[31m text'
    """
    words = " ".join(_written(text, str).split())
    return "".join(mark if mark.isprintable() else "?" for mark in words)


def _written(value: object, write: Callable[[object], str]) -> str:
    """The text that a function makes of a value; a phrase with the type of the value if the function fails."""
    try:
        return write(value)
    # Foreign objects raise anything; an integer of more than 4300 digits is not written by Python.
    except Exception:
        return f"a value of type {type(value).__name__} that cannot be printed"


def error_message(error: BaseException, what: str = "the run") -> str:
    """The message to show for any exception, unexpected ones included. what: the action that failed."""
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, MemoryError):
        limit = os.environ.get(KERNEL_MEMORY)
        shared = os.environ.get(ALL_MEMORY)
        bound = f"this page may take {limit} ({KERNEL_MEMORY})" if limit else ""
        if shared:
            bound += f"{' and ' if bound else ''}all pages of its server {shared} together"
        rest = f"{bound}, so take a smaller problem" if bound else "take a smaller problem, or close other programs"
        return f"there is not enough memory{_detail(error)}; {rest}"
    return f"{what} failed by a {type(error).__name__}{_detail(error)}"


def _detail(error: BaseException) -> str:
    return f": {error}" if str(error) else ""
