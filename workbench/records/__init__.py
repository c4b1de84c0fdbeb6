"""Recordings: run histories, run files, and traces of kernels and copies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import exported
from workbench.records.history import COLUMNS, BlockHistory, History
from workbench.records.trace import LABELS, Event, Trace

if TYPE_CHECKING:
    from workbench.records.aligned import AlignedTraces
    from workbench.records.chrome import load_trace, save_trace
    from workbench.records.kernels import hidden_fraction, kernel_table, with_levels_summed
    from workbench.records.record import Record, load, save, to_csv
    from workbench.records.run_collection import NamedRun, load_runs, save_runs
    from workbench.records.slices import slice_iterations, typical_iterations

__all__ = [
    "COLUMNS",
    "LABELS",
    "AlignedTraces",
    "BlockHistory",
    "Event",
    "History",
    "NamedRun",
    "Record",
    "Trace",
    "hidden_fraction",
    "kernel_table",
    "load",
    "load_runs",
    "load_trace",
    "save",
    "save_runs",
    "save_trace",
    "slice_iterations",
    "to_csv",
    "typical_iterations",
    "with_levels_summed",
]

__getattr__ = exported(
    __name__,
    {
        "aligned": ["AlignedTraces"],
        "chrome": ["load_trace", "save_trace"],
        "kernels": ["hidden_fraction", "kernel_table", "with_levels_summed"],
        "record": ["Record", "load", "save", "to_csv"],
        "run_collection": ["NamedRun", "load_runs", "save_runs"],
        "slices": ["slice_iterations", "typical_iterations"],
    },
)
