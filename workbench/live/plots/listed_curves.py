"""The runs of a list as curves of a convergence plot."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from workbench.live.plots.convergence import ConvergenceView
from workbench.live.plots.curve import Curve
from workbench.live.ui.run_handle import ACTIVE
from workbench.live.ui.run_list import ListedRun, RunList, labels
from workbench.records import Record
from workbench.run import Norm


class ListedCurves:
    """Keeps one curve for each run of a list that `shows` returns true for, in the run's name, colour, dash and mark.
    The name begins with the problem where the plot has runs on several.

    named: the names of several runs in the legend.

    A run without a history, such as one that failed in its setup, has no curve.
    """

    def __init__(
        self,
        view: ConvergenceView,
        runs: RunList,
        shows: Callable[[ListedRun], bool],
        named: Callable[[Sequence[ListedRun]], list[str]] = labels,
    ) -> None:
        self.view, self.runs, self._shows, self._named = view, runs, shows, named
        self._curves: dict[ListedRun, Curve] = {}
        self._nothing = view.nothing
        self._lock = threading.RLock()
        runs.on_change(self.sync)
        self.sync()

    def of(self, run: ListedRun | None) -> Curve | None:
        """The curve of a run; None where it is not on the plot."""
        return self._curves.get(run) if run is not None else None

    def sync(self) -> None:
        """Add and remove curves, and rename and recolour those that stay."""
        with self._lock:
            shown = [run for run in self.runs.runs if self._shows(run)]
            wanted = [run for run in shown if not run.hidden]
            self.view.nothing = "All runs are hidden." if shown and not wanted else self._nothing
            for run in [run for run in self._curves if run not in wanted]:
                self.view.drop(self._curves.pop(run))
            for run, name in zip(wanted, self._named(wanted), strict=True):
                curve = self._curves.get(run)
                if curve is not None:
                    self.view.redraw(curve, _with_norm(name, run), run.style)
                elif (made := self._made(run, name)) is not None:
                    self._curves[run] = made

    def close(self) -> None:
        """Follow the list no more."""
        self.runs.forget(self.sync)
        self._curves = {}

    def _made(self, run: ListedRun, name: str) -> Curve | None:
        source = run.source
        if isinstance(source, ACTIVE):
            return None if source.ended and source.run is None else self.view.watch(source, name, run.style)
        record = source if isinstance(source, Record) else run.record
        return None if record is None else self.view.add(record, _with_norm(name, run), run.style)


def _with_norm(name: str, run: ListedRun) -> str:
    """A label as `ConvergenceView.watch` writes it: with the norm where the run does not stop by the residual."""
    return name if run.norm in ("", Norm.RESIDUAL) else f"{name} (stops by the {run.norm} norm)"
