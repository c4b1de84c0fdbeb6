"""Files of a flow: figures, its steps as a table, a film, and a record to replay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.extensions.flow import records
from workbench.extensions.flow.film import film_of_kept
from workbench.files import write
from workbench.live.ui.controls import button, row
from workbench.live.ui.run_pictures import PAINTING
from workbench.live.ui.save_bar import SaveBar
from workbench.live.ui.status import StatusLine
from workbench.sequences.sequence import Sequence


class FlowFiles:
    """The buttons that write files. Display `box`, and `status` below it.

    sequence, pictures: return the sequence to save, and its figures by name. folder: of the files.
    """

    def __init__(self, sequence: Callable[[], Sequence], pictures: Callable[[], Any], folder: Path) -> None:
        self._sequence, self.status = sequence, StatusLine()
        self._exports = [
            button(words, tip, lambda kind=kind: self._export(kind), width="112px")
            for kind, (words, tip) in {
                "csv": ("Steps (CSV)", "a row for every step"),
                "gif": ("Film (GIF)", "the bubbles over time, with the iterations, from the kept phases"),
                "record": ("Record", "phases and right-hand sides as .seq.npz, to be replayed with any method"),
            }.items()
        ]
        self._save_bar = SaveBar(
            pictures,
            provenance=lambda: {"configuration": sequence().configuration.to_dict()},
            about=lambda: sequence().problem.label,
            folder=folder,
            status=self.status,
        )
        self.box = row("wb-buttons", self._save_bar.box, *self._exports)

    def offer(self, offered: bool) -> None:
        """Enable the buttons if there is something to write."""
        for press in self._exports:
            press.disabled = not offered

    def written(self, kind: str, folder: Path) -> Path:
        """Write a file of a kind, csv, gif or record; returns its path."""
        sequence = self._sequence()
        path = folder / f"{sequence.problem.name}.{'seq.npz' if kind == 'record' else kind}"
        match kind:
            case "csv":
                write(path, records.table(sequence))
            case "gif":
                with PAINTING:
                    path.write_bytes(film_of_kept(sequence))
            case _:
                records.save(sequence, path)
        return path

    def _export(self, kind: str) -> None:
        self.status.say("writing the file", "busy")
        label = self._sequence().problem.label
        self._save_bar.saver.save(lambda folder: [self.written(kind, folder)], lambda: label, "saving")
