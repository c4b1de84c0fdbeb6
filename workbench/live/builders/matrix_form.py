"""The form of the matrix builder: a file uploaded, a name of the collection, or a path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.files.unpacking import ENDINGS
from workbench.live.builders.uploads import MOST_UPLOAD
from workbench.live.ui.field_form import FieldForm
from workbench.live.ui.form_fields import Field
from workbench.problems.catalogue import catalogue
from workbench.problems.files import MatrixFile
from workbench.problems.suitesparse import SuiteSparse
from workbench.registry import Parameter

UPLOAD, NAME, PATH = "upload", "name", "path"
SOURCES = {UPLOAD: "upload", NAME: "by name", PATH: "by path"}
"""Each source in words, by the name of its field."""
LOAD = "load"
HINTS = {
    UPLOAD: f"{', '.join(ENDINGS)} of at most {MOST_UPLOAD >> 20} MiB; for larger ones give a path",
    NAME: "a name of the SuiteSparse collection; type to search",
    PATH: "a file where the kernel runs",
}


class UploadField(Field):
    """A file that came from the page. value: its name; size in bytes; content: empty where it is too large to come."""

    size = 0
    content = b""

    def typed(self, text: Any) -> None:
        self.size, self.content = int(text["size"]), text["content"] or b""
        self.value = str(text["name"])


class MatrixForm(FieldForm):
    """changed: called with the name of the field after each change. load: called when the button is pressed."""

    off_reason = "no matrix is chosen"

    def __init__(self, changed: Callable[[str], None], load: Callable[[], None]) -> None:
        name = next(item for item in SuiteSparse.parameters() if item.name == "matrix")
        path = next(item for item in MatrixFile.parameters() if item.name == "path")
        sources = {"kind": "segments", "label": "Source", "code": "", "about": "", "choices": list(SOURCES.items())}
        names = {"suggestions": list(catalogue()), "placeholder": "bcsstk15, or group/name", "lasting": True}
        files = {"kind": "file", "label": "File", "code": "", "accept": ".mtx,.gz,.petsc", "most": MOST_UPLOAD}
        fields: dict[str, Field] = {
            "source": Field(Parameter("source", str, UPLOAD, ""), **sources),
            UPLOAD: UploadField(Parameter(UPLOAD, str, "", ""), **files),
            NAME: Field(name, **names),
            PATH: Field(path, placeholder="some/where.mtx.gz", lasting=True),
            LOAD: Field(Parameter(LOAD, str, "Load", ""), kind="press", primary=True, label="Load"),
        }
        fields[NAME].put("")
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
        self.hidden = others | {LOAD} if self.source == UPLOAD else others
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
