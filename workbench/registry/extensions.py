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
from collections.abc import Iterator, Mapping
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import InputError, error_message, one_line
from workbench.registry import declared_values as check

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "workbench.extensions"
"""The group of entry points, and the package of ours."""


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
    then a `workbench.live.ExtensionView`, whose `take_method` gets it. formerly: addresses that it had before, such as
    "compare.storage", which still lead to it.
    """

    place: str
    title: str
    make: str
    flush: bool = False
    offered: str = ""
    takes: str = ""
    place_title: str = ""
    formerly: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Extension:
    """The declaration of an extension. Only the first four entries are required.

    A reference is a text such as "package.module:name". Blocks, devices, engines and commands have names of their own:
    an extension with a name that another one has too is `broken`, and a name of the core stays the core's. Raises
    InputError for entries of another form.

    Examples:
        >>> from workbench.registry.extensions import Extension
        >>> Extension("damped", "Damped sweeps", "cg_damped", "cg-damped", doctor="cg_damped.doctor:lines").missing
        []
        >>> try: Extension("damped", "Damped sweeps", "cg_damped", "cg-damped", doctor="cg_damped.doctor")
        ... except ValueError as error: print(error)
        extension damped: doctor must be a reference, as in package.module:name, got 'cg_damped.doctor'
    """

    name: str
    """As its entry point has it; messages name the extension by it."""
    title: str
    """One line for lists."""
    package: str
    """The package that holds it."""
    install: str
    """The name of its distribution, with extras: what `pip install` takes to bring it with all it needs."""
    needs: tuple[str, ...] = ()
    """Modules that it imports and that may be missing; without them its blocks raise InputError by themselves."""
    blocks: Mapping[str, Mapping[str, str]] = dataclasses.field(default_factory=dict)
    """By kind, the module of each block by the block's name. Importing the module registers it."""
    facts: str = ""
    """A file in the package, of the form of `data/blocks.toml`: labels and formulas of its blocks."""
    devices: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """By name, references to functions that return the `Device`, given the text behind the colon of "name:text"."""
    engines: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """By name, references to functions as `workbench.run.choices.engines` describes them."""
    commands: Mapping[str, Command] = dataclasses.field(default_factory=dict)
    """Commands of `workbench` by name."""
    views: tuple[PageView, ...] = ()
    """Views of the page, in order."""
    bars: tuple[str, ...] = ()
    """References to functions of the page that return a widget above all views, or None."""
    widgets: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """By name, modules of what `workbench.live` offers too."""
    static: str = ""
    """A folder in the package with the ES modules and style sheets of its widgets."""
    services: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """By name of the service, references to what the core asks an extension that comes with it for."""
    doctor: str = ""
    """A reference to a function that returns lines for `workbench doctor`."""
    documents: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """By title, files in the package, Markdown, for the help of the page."""

    def __post_init__(self) -> None:
        try:
            self._check()
        except InputError as error:
            raise InputError(f"extension {one_line(self.name)}: {error}") from None

    def _check(self) -> None:
        check.name("name", self.name)
        check.line("title", self.title)
        check.module("package", self.package)
        check.installable("install", self.install)
        for module in check.several("needs", self.needs):
            check.module("needs", module)
        for kind, blocks in check.by_name("blocks", self.blocks, keys=check.kind).items():
            for module in check.by_name(f"blocks of kind {kind}", blocks).values():
                check.module(f"blocks of kind {kind}", module)
        for field in ("devices", "engines", "services"):
            for reference in check.by_name(field, vars(self)[field]).values():
                check.reference(field, reference)
        for module in check.by_name("widgets", self.widgets).values():
            check.module("widgets", module)
        for command in check.by_name("commands", self.commands).values():
            check.instance("commands", command, Command)
            check.line("help of a command", command.help)
            check.reference("add of a command", command.add)
        for view in check.several("views", self.views):
            check.instance("views", view, PageView)
            check.line("title of a view", view.title)
            check.reference("make of a view", view.make)
            check.reference("offered of a view", view.offered, optional=True)
            check.reference("takes of a view", view.takes, optional=True)
            for place in check.several("formerly of a view", view.formerly):
                check.line("formerly of a view", place)
        check.distinct("views", [view.title for view in self.views])
        for reference in check.several("bars", self.bars):
            check.reference("bars", reference)
        check.reference("doctor", self.doctor, optional=True)
        check.file("facts", self.facts)
        check.file("static", self.static)
        for title, file in check.by_name("documents", self.documents, keys=check.line).items():
            check.file(f"documents: {title}", file)

    @property
    def missing(self) -> list[str]:
        """The modules of `needs` that are not installed."""
        return [name for name in self.needs if _spec(name) is None]

    @property
    def is_ours(self) -> bool:
        """True if it comes with the workbench."""
        return self.package.startswith(f"{GROUP}.")

    @property
    def folder(self) -> Path:
        """The folder of the package, which is imported for it. Raises InputError where that fails."""
        file = self.imported(self.package).__file__
        if file is None:
            raise self.failure(f"package {self.package} has no __init__.py")
        return Path(file).parent

    def text(self, file: str) -> str:
        """The text of a file in the package. Raises InputError with the reason where it cannot be read."""
        try:
            return (self.folder / file).read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            raise self.failure(f"{file} cannot be read ({_reason(error, 'reading it')})") from error

    def resolved(self, reference: str) -> Any:
        """The object that a reference names, imported now. Raises InputError with the reason where that fails."""
        module, _, name = reference.partition(":")
        holder = self.imported(module)
        try:
            return getattr(holder, name)
        except AttributeError as error:
            raise self.failure(f"{module} has no {name}") from error

    def called(self, reference: str, /, *given: object) -> Any:
        """The result of a function that a reference names. Raises InputError with the reason where that fails."""
        function = self.resolved(reference)
        try:
            return function(*given)
        # Code of anybody, which may raise anything.
        except Exception as error:
            raise self.failure(_reason(error, f"calling {reference}")) from error

    def imported(self, module: str) -> Any:
        """A module, imported now. Raises InputError with the reason where that fails, and the next time without trying
        again: menus ask for all blocks whenever they open."""
        if module in _failed:
            raise self.failure(_failed[module])
        try:
            return importlib.import_module(module)
        # Code of anybody, which may raise anything, and end the process if it is let.
        except (Exception, SystemExit) as error:
            _failed[module] = f"{module} cannot be imported ({_reason(error, 'its import')})"
            raise self.failure(_failed[module]) from error

    def failure(self, reason: str) -> InputError:
        """The error to raise where a part of the extension fails; `broken` has the first reason from then on."""
        sentence = f"extension {self.name} is broken: {reason}"
        _broken.setdefault(self.name, sentence)
        return InputError(f"{sentence}; install {self.install} anew")

    def claims(self) -> Iterator[tuple[str, str]]:
        """Names that no other extension may have too, each with a word for its kind."""
        for kind, blocks in self.blocks.items():
            yield from ((kind, name) for name in blocks)
        for what, names in (("device", self.devices), ("engine", self.engines), ("command", self.commands)):
            yield from ((what, name) for name in names)


_broken: dict[str, str] = {}
"""By name of extension, the first reason."""
_failed: dict[str, str] = {}
"""By module, why it cannot be imported."""
_unread: dict[str, str] = {}
"""By distribution, what is wrong with its declaration."""


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
            declared = _declared(entry)
            _check_free(declared, found)
        # Code of anybody, which may raise anything, and end the process if it is let.
        except (Exception, SystemExit) as error:
            name = one_line(entry.name)
            _broken[name] = f"extension {name} is broken: {_reason(error, f'importing {entry.value}')}"
            if entry.dist:
                _unread[_normal(entry.dist.name)] = _broken[name]
        else:
            found[declared.name] = declared
    return found


def at_hand() -> dict[str, Extension]:
    """All extensions once `extensions` has read them, until then ours; costs nothing where no block of others is in
    use."""
    return extensions() if extensions.cache_info().currsize else ours()


def broken() -> dict[str, str]:
    """By name of extension, a sentence on the first part of it that failed."""
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


def way_to(install: object) -> str:
    """The end of a message on a block that is not there: the distributions that bring it, as a link or file of another
    author names them, and how to install them; empty for a text that `pip install` would read as anything but names."""
    names = install.split(" ") if isinstance(install, str) else []
    if not names or not all(map(check.is_installable, names)):
        return ""
    several = "extensions" if len(names) > 1 else "extension"
    known = {_normal(each.install) for each in extensions().values()}
    for name in names:
        if _normal(name) in _unread:
            return f"is of the extension {name}: {_unread[_normal(name)]}"
    absent = [name for name in names if _normal(name) not in known]
    if not absent:
        return f"is of a later version of the {several} {' '.join(names)}; run: pip install --upgrade {' '.join(names)}"
    several, are = ("extensions", "are") if len(absent) > 1 else ("extension", "is")
    return (
        f"is of the {several} {' '.join(absent)}, which {are} not installed; if you trust the author, run: "
        f"pip install {' '.join(absent)}"
    )


def service(name: str) -> Any:
    """The part of an extension that has the name of a service. Raises InputError where none does."""
    for extension in ours().values():
        if name in extension.services:
            return extension.resolved(extension.services[name])
    raise InputError(f"no extension offers {name}; install cg-workbench with its extensions")


def _declared(entry: EntryPoint) -> Extension:
    """The declaration of an entry point. Raises InputError for anything else."""
    declared = entry.load()
    if not isinstance(declared, Extension):
        raise InputError(f"{entry.value} is no workbench.registry.extensions.Extension")
    if declared.name != entry.name:
        raise InputError(f"{entry.value} is named {declared.name} and its entry point {entry.name}; give both one name")
    if declared.is_ours:
        raise InputError(f"package {declared.package} is one of the workbench's; name the package of the extension")
    return declared


def _check_free(declared: Extension, found: Mapping[str, Extension]) -> None:
    """Raise InputError where an extension has what another one has."""
    if declared.name in found:
        raise InputError(
            f"{declared.install} has the name of another extension, {declared.name}; uninstall one of them"
        )
    for other in found.values():
        for what, name in sorted(set(declared.claims()).intersection(other.claims())):
            raise InputError(f"it has the {what} {name}, as extension {other.name} has; uninstall one of them")


def _spec(module: str) -> ModuleSpec | None:
    """Where a module is, None where it or a package of it is missing."""
    try:
        return importlib.util.find_spec(module)
    # Of a package that cannot be imported there is nothing to find, and of a module without __spec__ neither.
    except (ImportError, ValueError):
        return None


def _reason(error: BaseException, what: str) -> str:
    return one_line(error_message(error, what))


def _normal(install: str) -> str:
    """The name of a distribution in the form in which names are compared, without extras."""
    return check.normal(install.partition("[")[0])
