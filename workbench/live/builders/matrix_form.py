"""The form of the matrix builder: a file, a sample, a name or a path; uploads are kept in the cache folder."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable
from pathlib import Path

from workbench.errors import InputError
from workbench.files import write
from workbench.files.unpacking import ENDINGS, stem_and_ending
from workbench.live.builders.matrix_facts import SAMPLES
from workbench.live.field.preview import MOST_BYTES
from workbench.live.ui.declared_form import Control, fields_of
from workbench.live.ui.field_form import FieldForm
from workbench.live.ui.file_names import make_folder, slug
from workbench.live.ui.form_fields import UploadField
from workbench.live.ui.words import uploads
from workbench.problems.catalogue import catalogue, group_and_name, known_entry
from workbench.problems.files import MatrixFile
from workbench.problems.stand_in import StandIn
from workbench.problems.suitesparse import SuiteSparse, cached
from workbench.registry import Parameter
from workbench.words.numbers import amount, count

MOST_UPLOAD = 10 << 20
"""Bytes. A Jupyter server takes messages up to that size and hangs up on larger ones."""

MOST_STORED = 2 << 30
"""Bytes of all uploads that are kept."""
UPLOAD, SAMPLE, NAME, PATH = "upload", "of", "name", "path"
SOURCES = {UPLOAD: "File", SAMPLE: "Sample", NAME: "SuiteSparse", PATH: "Path"}
"""Each source in words, by the name of its field."""
LOAD = "load"
HINTS = {
    UPLOAD: f"{', '.join(ENDINGS)}, at most {MOST_UPLOAD >> 20} MiB",
    SAMPLE: "generated here, with the size of a real one",
    NAME: "a name of the SuiteSparse collection; type to search",
    PATH: "a file where the kernel runs",
}
LASTS = {"lasting": True}
"""Looks of fields that have no default to go back to."""

RULES = {item.name: item for item in (*StandIn.parameters(), *MatrixFile.parameters())}
RULES[NAME] = dataclasses.replace(SuiteSparse.parameters()[0], default="")
CONTROLS = (
    Control(
        "source",
        "Source",
        rule=Parameter("source", str, UPLOAD, ""),
        looks={"kind": "segments", "choices": list(SOURCES.items()), "about": ""},
    ),
    Control(
        UPLOAD,
        rule=Parameter(UPLOAD, str, "", ""),
        looks={"kind": "file", "label": "Matrix file", "accept": ".mtx,.gz,.bz2,.petsc", "most": MOST_UPLOAD},
        of=UploadField,
    ),
    Control(SAMPLE, "Sample", looks={"choices": list(SAMPLES.items())}),
    Control(NAME, "Name", looks={"suggestions": list(catalogue()), "placeholder": "bcsstk15, or group/name", **LASTS}),
    Control(PATH, "Path", looks={"placeholder": "some/where.mtx.gz", **LASTS}),
    Control(LOAD, "Load", rule=Parameter(LOAD, str, "Load", ""), looks={"kind": "press", "primary": True}),
)


def store(name: str, content: bytes) -> Path:
    """Keep an uploaded file as uploads/HASH/NAME in the cache folder; equal content is stored once.

    Returns its path, which stays valid for links and saved problems on this machine. Raises InputError for a name that
    is not a matrix file's, for an empty or too large file, when `MOST_STORED` bytes are kept already, and when the
    folder cannot be written.
    """
    check_upload(name, len(content))
    stem, ending = stem_and_ending(name)
    folder = uploads() / hashlib.sha256(content).hexdigest()[:16]
    path = folder / f"{slug(stem) or 'matrix'}{ending}"
    if path.exists():
        return path
    stored = sum(map(_size, uploads().glob("*/*")))
    if stored + len(content) > MOST_STORED:
        raise InputError(
            f"uploads that are kept have {stored / 2**30:.2g} GiB, at most {MOST_STORED / 2**30:.2g} GiB; ask whoever "
            "runs this server to delete old ones"
        )
    make_folder(folder)
    return write(path, content)


def _size(path: Path) -> int:
    """Bytes of a file; 0 for one that another page has just renamed, or deleted."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def check_upload(name: str, size: int) -> None:
    """Raise InputError for a name that is not a matrix file's, and for an empty or too large file; size in bytes."""
    if not name.lower().endswith(ENDINGS):
        raise InputError(f"{name[:60]!r} is not a matrix file; choose one whose name ends in {', '.join(ENDINGS)}")
    if not size:
        raise InputError(f"{name[:60]!r} is empty; choose another file")
    if size > MOST_UPLOAD:
        raise InputError(
            f"{name[:60]!r} has {size / 2**20:.1f} MiB, uploads may have {MOST_UPLOAD >> 20} MiB; "
            "put it where this notebook's kernel runs and give its path"
        )


class MatrixForm(FieldForm):
    """Four sources of a matrix, of which the field of one is in sight. changed: called with the name of the field after
    each change. load: called when the button is pressed."""

    off_reason = "no matrix is chosen"

    def __init__(self, changed: Callable[[str], None], load: Callable[[], None]) -> None:
        fields = fields_of(CONTROLS, RULES)
        fields[SAMPLE].options = tuple(SAMPLES)
        fields[SAMPLE].put(next(iter(SAMPLES)))
        super().__init__(fields, title="Matrix", about="Matrix", acts={LOAD: load}, typed=changed)
        self.turn()

    @property
    def source(self) -> str:
        """The name of the field that the matrix comes from."""
        return str(self.settings["source"].value)

    @property
    def text(self) -> str:
        """The text in the field of the source."""
        return str(self.settings[self.source].value).strip()

    def turn(self, source: str = "", text: str = "") -> None:
        """Show the field of the source chosen, or of another with this text."""
        if source:
            self.settings["source"].put(source)
            self.settings[source].put(text)
        others = {name for name in SOURCES if name != self.source}
        self.hidden = others | {LOAD} if self.source in (UPLOAD, SAMPLE) else others
        self.say(HINTS[self.source])

    def say(self, about: str, wrong: str = "") -> None:
        """Show facts and an error about the value of that field."""
        self.about[self.source] = about
        self.complaints = {self.source: wrong} if wrong else {}
        self.show()

    def offer(self, *, chosen: bool, words: str = "") -> None:
        """Enable the button if there is a matrix to load, and set its text."""
        self.settings[LOAD].disabled = not chosen
        if words:
            self.settings[LOAD].put(words)
        self.show()


def cost_of(problem: MatrixFile | SuiteSparse | StandIn) -> tuple[bool, str, str]:
    """True if reading waits for the button; the text of the button; a description of the matrix."""
    if isinstance(problem, StandIn):
        return False, "Load", HINTS[SAMPLE]
    if isinstance(problem, SuiteSparse):
        group, name = group_and_name(problem.matrix)
        entry = known_entry(problem.matrix)
        about = f"{group}/{name}" + (f": {count(entry.N)} unknowns, {count(entry.nnz)} entries" if entry else "")
        path = cached(group, name)
        if path is None:
            return True, "Download and load", f"{about}; not on this machine yet"
    else:
        path = Path(problem.path)
        about = path.name
    try:
        size = path.stat().st_size
    except OSError:
        size = 0
    said = f"{about}, {amount(size)}"
    return (
        size > MOST_BYTES,
        "Load",
        f"{said}; large, so it is loaded when you press Load" if size > MOST_BYTES else said,
    )
