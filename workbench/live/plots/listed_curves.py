"""The curves of runs of a list in one convergence plot."""

from __future__ import annotations

import threading
from collections.abc import Callable

from workbench.live.kit.run_handle import ACTIVE
from workbench.live.kit.run_list import ListedRun, RunList
from workbench.live.plots.convergence import ConvergenceView, Curve
from workbench.recording import Record
from workbench.run import Norm


class ListedCurves:
    """Keeps one curve for each run of a list that `shows` returns true for, in the run's name, colour, dash and mark.

    A run without a history, such as one that failed in its setup, has no curve.
    """

    def __init__(
        self,
        view: ConvergenceView,
        runs: RunList,
        shows: Callable[[ListedRun], bool],
        label: Callable[[ListedRun], str] = lambda run: run.label,
    ) -> None:
        self.view, self.runs, self._shows, self._name = view, runs, shows, label
        self._curves: dict[ListedRun, Curve] = {}
        self._lock = threading.RLock()
        runs.on_change(self.sync)
        self.sync()

    def of(self, run: ListedRun | None) -> Curve | None:
        """The curve of a run; None where it is not on the plot."""
        return self._curves.get(run) if run is not None else None

    def sync(self) -> None:
        """Add and remove curves, and rename and recolour those that stay."""
        with self._lock:
            wanted = [run for run in self.runs.runs if not run.hidden and self._shows(run)]
            for run in [run for run in self._curves if run not in wanted]:
                self.view.drop(self._curves.pop(run))
            for run in wanted:
                curve = self._curves.get(run)
                if curve is not None:
                    self.view.redraw(curve, self._label(run), run.style)
                elif (made := self._made(run)) is not None:
                    self._curves[run] = made

    def close(self) -> None:
        """Follow the list no more."""
        self.runs.forget(self.sync)

    def _made(self, run: ListedRun) -> Curve | None:
        source = run.source
        if isinstance(source, ACTIVE):
            return None if source.ended and source.run is None else self.view.watch(source, self._name(run), run.style)
        record = source if isinstance(source, Record) else run.record
        return None if record is None else self.view.add(record, self._label(run), run.style)

    def _label(self, run: ListedRun) -> str:
        """As `ConvergenceView.watch` writes it: with the norm where the run does not stop by the residual."""
        name, norm = self._name(run), run.norm
        return name if norm in ("", Norm.RESIDUAL) else f"{name} (stops by the {norm} norm)"
