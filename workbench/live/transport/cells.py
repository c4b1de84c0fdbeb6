"""The cells of a notebook: views that a cell has shown before are closed when it is run again without them.

ipywidgets keeps every widget until it is closed, so a view whose output is gone and to which no variable refers would
stay for good with its threads and vectors. The cell is recognized by its id, or by its text where the front end sends
none.
"""

from __future__ import annotations

import weakref
from typing import Any, Protocol

from IPython.core.getipython import get_ipython


class Closable(Protocol):
    """A view."""

    def close(self) -> None: ...


class Cells:
    """The views that the cells of one interactive shell show and have in variables. kinds: the classes of views."""

    def __init__(self, shell: Any, kinds: tuple[type, ...]) -> None:
        self._shell, self._kinds = shell, kinds
        self._shown: list[Any] = []
        """Views displayed by the cell that runs."""
        self._named: set[int] = set()
        """Identities of the views that variables referred to before it."""
        self._of: dict[str, list[weakref.ref[Any]]] = {}
        """Views that a cell has displayed or put into a variable, by cell."""
        shell.events.register("pre_run_cell", self._begin)
        shell.events.register("post_run_cell", self._end)

    def displayed(self, view: Closable) -> None:
        """Note a view that is displayed now."""
        self._shown.append(view)

    def _begin(self, _info: object) -> None:
        self._shown, self._named = [], {id(view) for view in self._variables()}

    def _end(self, result: Any) -> None:
        """Close views that the cell had shown or made and has replaced, unless something still shows or names them."""
        info = getattr(result, "info", None)
        cell = getattr(info, "cell_id", None) or cell_of(self._shell) or str(getattr(info, "raw_cell", ""))
        named = self._variables()
        present = [*self._shown, *(view for view in named if id(view) not in self._named)]
        before = [view for ref in self._of.get(cell, ()) if (view := ref()) is not None]
        if present:
            self._of[cell] = [weakref.ref(view) for view in present]
        elsewhere = [ref() for other, refs in self._of.items() if other != cell for ref in refs]
        kept = {id(view) for view in (*present, *named, *elsewhere)}
        kinds = {type(view) for view in present}
        for view in before:
            if id(view) not in kept and type(view) in kinds:
                view.close()
        self._shown = []

    def _variables(self) -> list[Any]:
        """Views that variables refer to; those of IPython's history of outputs do not count."""
        values = [value for name, value in list(self._shell.user_ns.items()) if not name.startswith("_")]
        return [value for value in values if isinstance(value, self._kinds)]


def cell_of(shell: object) -> str:
    """The id of the cell that a shell runs, as JupyterLab sends it; empty where there is none."""
    parent = getattr(shell, "get_parent", dict)()
    return str((parent.get("metadata") or {}).get("cellId") or "")


_cells: list[Cells] = []


def watch(*kinds: type) -> None:
    """From now on close views that cells replace, where this process is interactive. kinds: the classes of views."""
    shell = get_ipython()
    if shell is not None and not _cells:
        _cells.append(Cells(shell, kinds))


def displayed(view: Closable) -> None:
    """Note a view that is displayed now."""
    for cells in _cells:
        cells.displayed(view)
