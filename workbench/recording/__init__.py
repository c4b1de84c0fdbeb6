"""Recordings: run histories, run files, and traces of kernels and copies."""

from workbench.recording.aligned import AlignedTraces
from workbench.recording.chrome import load_trace, save_trace
from workbench.recording.history import COLUMNS, BlockHistory, History
from workbench.recording.kernels import kernel_table, with_levels_summed
from workbench.recording.overlap import hidden_fraction
from workbench.recording.record import Record, load, save, to_csv
from workbench.recording.run_collection import NamedRun, load_runs, save_runs
from workbench.recording.trace import LABELS, Event, Trace

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
    "to_csv",
    "with_levels_summed",
]
