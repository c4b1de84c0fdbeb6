"""Where the data files lie: inside the installed package, or beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

from workbench.errors import InputError

PACKAGE = Path(__file__).parent


def data_folder() -> Path:
    """The folder of data files. A wheel brings it as workbench/data; an editable installation reads the checkout's.

    Raises InputError where neither is there.
    """
    for folder in (PACKAGE / "data", PACKAGE.parent / "data"):
        if folder.is_dir():
            return folder
    raise InputError(f"no data files at {PACKAGE / 'data'}; install the workbench again, from a wheel or its checkout")
