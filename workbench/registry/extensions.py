"""Extensions: capabilities outside the core, each of which says by an `Extension` what it adds.

Ours are the packages of `workbench.extensions`, whose module `extension` has the declaration. Those of others are entry
points of the group `workbench.extensions` in the metadata of their distributions. A declaration names modules, and
imports none: each is imported when what it holds is asked for. The core knows no extension but by what is declared.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.errors import InputError, error_message, quoted

GROUP = "workbench.extensions"
"""The group of entry points, and the package of ours."""
REFERENCE = re.compile(r"[\w.]+:\w+")
INSTALLABLE = re.compile(r"[A-Za-z0-9](?:[\w.-]{0,78}\w)?(?:\[[\w,-]{1,40}\])?")
"""What `pip install` may be told to install: a distribution, with extras."""


@dataclasses.dataclass(frozen=True)
class Command:
    """A command of `workbench`. help: one line; add: reference to the function that adds its parser to the subparsers
    of argparse, as `workbench.cli.listing.add` does."""

    help: str
    add: str


@dataclasses.dataclass(frozen=True)
class PageView:
    """A view of the page.

    place: the key of its place in the rail, one of the page's own or another, then named `place_title`. title: of its
    switch there, which no other view has. make: reference to a function of the page, `workbench.live.Workbench`, which
    returns a `workbench.live.View`; called when it is first shown. flush: without space around it. offered: reference
    to a function of no argument that says if the page has the view; by default it has. takes: reference to a function
    of a `Configuration`, true for those that a suggestion is followed to in this view rather than in Solve; the view is
    then a `workbench.live.ExtensionView`, whose `take_method` gets it.
    """

    place: str
    title: str
    make: str
    flush: bool = False
    offered: str = ""
    takes: str = ""
    place_title: str = ""


@dataclasses.dataclass(frozen=True)
class Extension:
    """The declaration of an extension; a reference is a text such as "package.module:name".

    name: as entry point, and in messages. title: one line. package: the package that holds it. install: what
    `pip install` takes to bring it with all it needs. needs: modules that it imports and that may be missing; without
    them its blocks raise InputError by themselves.

    blocks: by kind, the module of each block by the block's name. facts: file in the package, of the form of
    `data/blocks.toml`. devices: by name, references to functions that return the `Device`, given the text behind the
    colon of "name:text". engines: by name, references to functions as `workbench.run.choices.engines` describes them.
    commands, views: by name, and in order. bars: references to functions of the page that return a widget above all
    views, or None. widgets: by name, modules of what `workbench.live` offers too. static: folder in the package with
    the ES modules and style sheets of its widgets. services: references to what the core asks an extension for, by the
    name of the service. doctor: reference to a function that returns lines for `workbench doctor`. documents: files in
    the package, Markdown, by title, for the help of the page.
    """

    name: str
    title: str
    package: str
    install: str
    needs: tuple[str, ...] = ()
    blocks: Mapping[str, Mapping[str, str]] = dataclasses.field(default_factory=dict)
    facts: str = ""
    devices: Mapping[str, str] = dataclasses.field(default_factory=dict)
    engines: Mapping[str, str] = dataclasses.field(default_factory=dict)
    commands: Mapping[str, Command] = dataclasses.field(default_factory=dict)
    views: tuple[PageView, ...] = ()
    bars: tuple[str, ...] = ()
    widgets: Mapping[str, str] = dataclasses.field(default_factory=dict)
    static: str = ""
    services: Mapping[str, str] = dataclasses.field(default_factory=dict)
    doctor: str = ""
    documents: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        for reference in self._references():
            if not REFERENCE.fullmatch(reference):
                raise InputError(f"extension {self.name}: a reference is package.module:name, got {quoted(reference)}")
        if not INSTALLABLE.fullmatch(self.install):
            raise InputError(
                f"extension {self.name}: install must be the name of a distribution, got {quoted(self.install)}"
            )

    @property
    def missing(self) -> list[str]:
        """The modules of `needs` that are not installed."""
        return [name for name in self.needs if importlib.util.find_spec(name) is None]

    @property
    def is_ours(self) -> bool:
        """True if it comes with the workbench."""
        return self.package.startswith(f"{GROUP}.")

    @property
    def folder(self) -> Path:
        """The folder of the package, which is imported for it."""
        return Path(str(self.imported(self.package).__file__)).parent

    def resolved(self, reference: str) -> Any:
        """What a reference names, imported now. Raises InputError with the reason where that fails."""
        module, _, name = reference.partition(":")
        try:
            return getattr(self.imported(module), name)
        except AttributeError:
            raise self.failure(f"{module} has no {name}") from None

    def imported(self, module: str) -> Any:
        """A module, imported now. Raises InputError with the reason where that fails."""
        try:
            return importlib.import_module(module)
        # Code of anybody, which may raise anything.
        except Exception as error:
            raise self.failure(f"{module} cannot be imported ({error_message(error, 'its import')})") from error

    def called(self, reference: str, *arguments: object) -> Any:
        """The result of the function that a reference names. Raises InputError with the reason where that fails."""
        function = self.resolved(reference)
        try:
            return function(*arguments)
        # Code of anybody, which may raise anything.
        except Exception as error:
            raise self.failure(error_message(error, f"calling {reference}")) from error

    def failure(self, reason: str) -> InputError:
        """The error of a part that fails; from now on the extension is `broken`."""
        sentence = f"extension {self.name} is broken: {reason}"
        _broken.setdefault(self.name, sentence)
        return InputError(f"{sentence}; install {self.install} anew")

    def _references(self) -> Iterator[str]:
        yield from (*self.devices.values(), *self.engines.values(), *self.services.values(), *self.bars)
        yield from (command.add for command in self.commands.values())
        for view in self.views:
            yield view.make
            yield from filter(None, (view.offered, view.takes))
        yield from filter(None, (self.doctor,))


_broken: dict[str, str] = {}


@functools.cache
def ours() -> dict[str, Extension]:
    """The extensions that come with the workbench, by name. Cost: a millisecond, once."""
    found: dict[str, Extension] = {}
    for module in pkgutil.iter_modules(importlib.import_module(GROUP).__path__):
        declared = importlib.import_module(f"{GROUP}.{module.name}.extension").EXTENSION
        found[declared.name] = declared
    return found


@functools.cache
def extensions() -> dict[str, Extension]:
    """All extensions that are installed, ours first, by name; without those that are `broken`.

    Cost: the metadata of all distributions is read, once: 15 ms for 200 of them.
    """
    from importlib import metadata

    found = dict(ours())
    for entry in sorted(metadata.entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        try:
            declared = entry.load()
            if not isinstance(declared, Extension):
                raise InputError(f"{entry.value} is no workbench.registry.extensions.Extension")
            if declared.name in found:
                raise InputError(f"{entry.value} has the name of another extension, {declared.name}")
        # Code of anybody, which may raise anything.
        except Exception as error:
            _broken[entry.name] = f"extension {entry.name} is broken: {error_message(error)}"
        else:
            found[declared.name] = declared
    return found


def broken() -> dict[str, str]:
    """By name of extension, a sentence on the first of its parts that failed."""
    extensions()
    return dict(_broken)


def owner(kind: str, name: str) -> Extension | None:
    """The extension that has a block, None for the core's and for unknown ones. Those of others are read where it is
    none of ours."""
    for group in (ours, extensions):
        for extension in group().values():
            if name in extension.blocks.get(kind, ()):
                return extension
    return None


def service(name: str) -> Any:
    """What an extension offers under the name of a service. Raises InputError where none does."""
    for extension in ours().values():
        if name in extension.services:
            return extension.resolved(extension.services[name])
    raise InputError(f"no extension offers {name}; install cg-workbench with its extensions")
