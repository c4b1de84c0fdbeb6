"""Places of files: data inside the installed package, or next to it in a checkout; and paths that a user writes."""

from __future__ import annotations

import contextlib
from pathlib import Path

from workbench.errors import InputError, quoted

PACKAGE = Path(__file__).parents[1]


def data_folder() -> Path:
    """The folder of data files. A wheel brings it as workbench/data; an editable installation reads the checkout's.

    Raises InputError where neither is there.
    """
    return _folder("data")


def docs_folder() -> Path:
    """The folder of the documentation, found as that of the data files is."""
    return _folder("docs")


def notebooks_folder() -> Path:
    """The folder of the notebooks, the lessons and the page that is served, found as that of the data files is."""
    return _folder("notebooks")


def _folder(name: str) -> Path:
    for folder in (PACKAGE / name, PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise InputError(f"no files at {PACKAGE / name}; install the workbench again, from a wheel or its checkout")


def path_of(text: str | Path) -> Path:
    """The path that a user writes, its ~ expanded; a file need not be there. Raises InputError where none can be."""
    try:
        path = Path(text).expanduser()
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            path.stat()
    # A ~ of no user; a name too long or out of reach; a character that no name may hold.
    except (RuntimeError, OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else "") or str(error).rstrip(".")
        raise InputError(f"{quoted(str(text))} cannot be a path ({reason}); check it") from None
    return path
