"""Recordings: the history of a run and its file."""

from workbench.recording.history import COLUMNS, History
from workbench.recording.record import Record, load, save, to_csv

__all__ = ["COLUMNS", "History", "Record", "load", "save", "to_csv"]
