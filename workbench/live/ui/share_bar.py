"""The bar that hands a problem on: copied as Python, as a command or as a link, saved, and opened again."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import traitlets

from workbench.errors import InputError, error_message
from workbench.files import TemporaryFolder
from workbench.files.data_files import path_of
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.assets import script
from workbench.live.ui.file_names import make_folder, slug
from workbench.live.ui.files import File, written
from workbench.live.ui.frontend import in_voila
from workbench.live.ui.page_link import link_in, query_of
from workbench.live.ui.server_connection import server_connection
from workbench.live.ui.view import LiveWidget
from workbench.run import Configuration
from workbench.run.choices.link_codec import ENDING, LINK, is_shared
from workbench.run.choices.share_link import (
    from_link,
    load_configuration,
    save_configuration,
    to_command,
    to_link,
    to_script,
)
from workbench.run.jobs.race_codec import ENDING as RACE_ENDING
from workbench.run.jobs.race_codec import from_link as from_race_link
from workbench.run.jobs.race_codec import is_race, load_race, read_race
from workbench.run.jobs.race_record import RaceRecord
from workbench.words.numbers import count

COPIES: dict[str, tuple[str, str, Callable[[Configuration], str]]] = {
    "link": ("Copy share link", "a short text that holds all of it, to paste here or anywhere else", to_link),
    "python": ("Copy as Python", "Python lines that solve this problem and print how that ended", to_script),
    "command": ("Copy as command", "the workbench solve command that runs it", to_command),
}
NAMES = {"python": "the Python text", "command": "the command", "link": "the share link"}
ADDRESS = ("link", "Copy address", "the address of a page that opens this problem")
"""The address of the page; on a served page in place of the share link."""
SHORT = ("short", "Show for a class", "a short address of this problem, and its QR code, to be projected")
"""The short address, on a page of a server that keeps such."""
LONGEST_PAGE = 200
"""Characters of the address of a page, without the problem."""
HERE = ("localhost", "127.0.0.1", "::1")
"""Hosts of addresses that others do not reach."""
ONLY_HERE = "This address leads here from this machine only; the documents on teaching say how a class does."
SAVE = ("save", "Save problem", f"download it as a {ENDING} file")
KEEP = ("keep", "Save in folder", f"write it as a {ENDING} file where the kernel runs")
MOST_TEXT = 1 << 20
"""Characters of a file that is opened through the page; a saved problem has some hundreds."""


class ShareBar(LiveWidget):
    """Buttons that write what a form says as a link, Python, a command or a file, and a line that reads them.

    get: returns the form's configuration, or raises InputError. load: shows one in the form; it is called in a thread
    of the bar's own. folder: where problems are saved and looked for by name, by default exports/ next to the notebook;
    on a page without code problems are only downloaded. open_race: shows a race, on a page that has one. A file of the
    user's is chosen and opened in the page.

    Examples:
        >>> from workbench.live import ShareBar
        >>> from workbench.run import configure
        >>> bar = ShareBar(lambda: configure("two-layer", n=16), load=print)
        >>> bar.written("command")
        'workbench solve two-layer --n 16'
    """

    _script = script("ui/share.js")
    actions = traitlets.List().tag(sync=True)
    text = traitlets.Unicode("").tag(sync=True)
    """The text that was copied last; one that begins with ? follows the address of the page."""
    said = traitlets.Unicode("").tag(sync=True)
    tone = traitlets.Enum(("plain", "good", "bad"), "plain").tag(sync=True)
    number = traitlets.Int(0).tag(sync=True)
    """Number of answers so far: the page copies the text when it rises."""

    def __init__(
        self,
        get: Callable[[], Configuration],
        load: Callable[[Configuration], None],
        folder: str | Path | None = None,
        open_race: Callable[[RaceRecord], object] | None = None,
    ) -> None:
        self.folder = Path(folder) if folder is not None else Path.cwd() / "exports"
        self._get, self._load, self._open_race = get, load, open_race
        self.in_front: Callable[[], tuple[str, str] | None] = lambda: None
        """Returns the link of what is shown, and a sentence on it, where that is more than a configuration."""
        self._worker = LatestOnly("workbench-share")
        copies = [[what, *words[:2]] for what, words in COPIES.items()]
        self._served = in_voila()
        self.room = server_connection()
        saves = [list(SAVE)] if self._served else [list(SAVE), list(KEEP)]
        if self._served:
            copies = [list(ADDRESS) if action[0] == ADDRESS[0] else action for action in copies]
        copies += [list(SHORT)] if self.room else []
        super().__init__(actions=[*copies, *saves])
        self.on_msg(self._receive)

    def written(self, what: str) -> str:
        """The text of "python", "command" or "link". Raises InputError as the form does."""
        return COPIES[what][2](self._get())

    def file(self) -> File:
        """The configuration as a file. Raises InputError."""
        chosen = self._get()
        (made,) = written(lambda folder: [save_configuration(chosen, folder / f"{_stem(chosen)}{ENDING}")])
        return made

    def save_problem(self) -> Path:
        """Write the configuration into the folder under a name of its own; returns the path. Raises InputError, also on
        a page without code, whatever its visitor sends."""
        if self._served:
            raise InputError(f"this page writes nothing where its kernel runs; press {SAVE[1]} to download the file")
        chosen = self._get()
        make_folder(self.folder)
        stem = _stem(chosen)
        endings = itertools.chain([""], (f"-{number}" for number in itertools.count(2)))
        paths = (self.folder / f"{stem}{ending}{ENDING}" for ending in endings)
        return save_configuration(chosen, next(path for path in paths if not path.exists()))

    def short(self, page: str) -> dict[str, str]:
        """A short address of the configuration, its QR code as SVG, and a note on who reaches it. page: the address of
        this page, without the problem. Raises InputError."""
        if self.room is None or not re.fullmatch(r"https?://[!-~]+/", page) or len(page) > LONGEST_PAGE:
            raise InputError(f"there are no short addresses of the page {page[:LONGEST_PAGE]!r}; copy the address")
        here = urlsplit(page).hostname in HERE
        base = str(self.room.facts["address"]) or page if here else page
        try:
            code = self.room.shorten(self.written("link"))
        except OSError:
            raise InputError("the server of this page does not answer; copy the address, or try again") from None
        if not code:
            raise InputError("this problem is too long for an address; send the file of Save problem")
        # Few pages show one.
        import segno

        address = f"{base}s/{code}"
        picture = segno.make_qr(address, error="m").svg_inline(dark="#000", light="#fff", border=4, omitsize=True)
        return {"address": address, "svg": picture, "note": ONLY_HERE if here and base == page else ""}

    def take(self, text: str) -> Configuration:
        """Load a link or a saved file, found as it stands or in the folder. Raises InputError for any other text."""
        text = link_in(text.strip())
        if not text:
            raise InputError(f"there is nothing to open; paste a link, or write the name of a {ENDING} file")
        if not is_shared(text):
            raise InputError(
                f"{text[:40]!r} is neither a link, which begins with cgw1., nor the name of a {ENDING} file"
            )
        if LINK.match(text):
            chosen = from_link(text)
        else:
            path = path_of(text)
            chosen = load_configuration(path if path.exists() or path.is_absolute() else self.folder / path)
        self._load(chosen)
        return chosen

    def read(self, name: str, text: str) -> Configuration:
        """Load a file that comes through the page, by its name and text. Raises InputError as `take` does."""
        if not name.endswith(ENDING):
            raise InputError(f"{name[:60]!r} is not a saved problem; choose a {ENDING} file")
        if len(text) > MOST_TEXT:
            raise InputError(
                f"{name[:60]!r} has {count(len(text))} characters, a saved problem at most {count(MOST_TEXT)}"
            )
        with TemporaryFolder("files") as folder:
            path = folder / f"upload{ENDING}"
            path.write_text(text, encoding="utf-8")
            try:
                chosen = load_configuration(path)
            except InputError as error:
                raise InputError(str(error).replace(str(path), name[:60])) from None
        self._load(chosen)
        return chosen

    def say(self, sentence: str, tone: str) -> None:
        """Show a sentence below the buttons; tone: plain, good or bad."""
        with self.hold_sync():
            self.said, self.tone = sentence, tone

    def _receive(self, _widget: object, content: object, _buffers: object) -> None:
        if isinstance(content, dict):
            fields = {name: str(content.get(name, "")) for name in ("kind", "text", "name", "page")}
            self._worker.ask(lambda: self._answer(**fields))

    def _answer(self, kind: str, text: str, name: str, page: str) -> None:
        given, text, tone = text, "", "good"
        try:
            if kind in COPIES:
                text, said = self.copied(kind)
            elif kind == SHORT[0]:
                self.send({"kind": "short", "page": page, **self.short(given)})
                said = ""
            elif kind == SAVE[0]:
                made = self.file()
                self.send({"kind": "file", "page": page, "name": made.name}, [made.content])
                said = f"Downloaded {made.name}"
            elif kind == KEEP[0]:
                said = f"Written to {self.save_problem()}"
            elif self._open_race is not None and is_race(found := name or link_in(given.strip())):
                race = read_race(given.encode(), name[:60]) if name else self._race_in(found)
                self._open_race(race)
                said = f"Opened a race of {len(race.entries)} methods as it ended {race.where}."
            else:
                chosen = self.read(name, given) if name else self.take(given)
                said = f"Opened {chosen.problem.label} with {chosen.label}."
        # No one else would report it to the user.
        except Exception as error:
            said, tone = error_message(error, "sharing"), "bad"
        with self.hold_sync():
            self.text, self.said, self.tone = text, said, tone
            self.number += 1

    def _race_in(self, text: str) -> RaceRecord:
        """The race of a link, or of a file as it stands or in the folder. Raises InputError."""
        if not text.endswith(RACE_ENDING):
            return from_race_link(text)
        path = path_of(text)
        return load_race(path if path.exists() or path.is_absolute() else self.folder / path)

    def copied(self, kind: str) -> tuple[str, str]:
        """The text of a button and the sentence on it. Raises InputError as the form does.

        A text that begins with ? follows the address of the page.
        """
        if kind == ADDRESS[0] and (shown := self.in_front()) is not None:
            return shown
        text = self.written(kind)
        said = f"Copied {NAMES[kind]}, {count(len(text.strip()))} characters."
        if not (self._served and kind == ADDRESS[0]):
            return text, said
        query = query_of(text)
        if query is None:
            return text, f"{said} It is too long for an address; paste it into the line below on another page."
        return query, "Copied the address of this problem."


def _stem(configuration: Configuration) -> str:
    return slug(f"{configuration.problem.label} {configuration.label}")
