"""Blocks: frozen dataclasses with declared parameters, registered under a name, and found by it.

Dropdowns, the command line, the contract tests, the docs tables and the provenance of a run are generated from here.
`workbench.registry.text` says how a block is written. The files of a package that holds blocks (`add_package`) are
imported when one of their blocks is asked for.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import pkgutil
import re
from collections.abc import Mapping, Sequence
from importlib.machinery import SourceFileLoader
from typing import Any, ClassVar, Self, TypeVar

from workbench.errors import InputError, quoted
from workbench.registry.extensions import Extension, at_hand, extensions, owner, way_to
from workbench.registry.parameters import Parameter, Value, formers, of_any_case, present_values, unknown_name
from workbench.registry.text import quoted_where_needed, values_by_name


@dataclasses.dataclass(frozen=True)
class Block:
    """Base of all registered dataclasses. The constructor checks every parameter and raises InputError.

    Examples:
        >>> from workbench.registry import find
        >>> block = find("preconditioner", "neumann:3")
        >>> block.text, [parameter.name for parameter in block.parameters()]
        ('neumann:3', ['order'])
    """

    kind: ClassVar[str] = ""
    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    """One line for menus; the class docstring gives cost and source."""
    on_ranks: ClassVar[bool] = False
    """True if it runs on ranks of MPI, each with a part of the rows."""
    has_user_lines: ClassVar[bool] = False
    """True if its lines are a user's, who named it."""
    also: ClassVar[tuple[str, ...]] = ()
    """Names that other programs have for it, which a message for an unknown name understands; in small letters."""
    joined_by: ClassVar[str] = ""
    """The sign between the texts of other blocks of this kind that together are the text of this one."""

    def __post_init__(self) -> None:
        given = vars(self)
        for declared in self.parameters():
            object.__setattr__(self, declared.name, declared.check(given[declared.name], self.name))

    @classmethod
    @functools.cache
    def parameters(cls) -> tuple[Parameter, ...]:
        """The declared parameters, in order."""
        return tuple(
            Parameter(name=field.name, **field.metadata)
            for field in dataclasses.fields(cls)
            if "help" in field.metadata
        )

    @property
    def parameter_values(self) -> dict[str, Any]:
        """The values of all parameters by name, in the declared order."""
        return {declared.name: getattr(self, declared.name) for declared in self.parameters()}

    @property
    def spec(self) -> str:
        """The text `name:argument`, which `find` reads back if only the first parameter differs from its default."""
        values = self.parameter_values
        return f"{self.name}:{next(iter(values.values()))}" if values else self.name

    @property
    def differing(self) -> dict[str, Value]:
        """The parameters that differ from their defaults."""
        values = self.parameter_values
        differ = (declared for declared in self.parameters() if values[declared.name] != declared.default)
        return {declared.name: values[declared.name] for declared in differ}

    @property
    def text(self) -> str:
        """The shortest text that `find` reads back as an equal block."""
        differing = self.differing
        if not differing:
            return self.name
        alone = str(next(iter(differing.values())))
        if list(differing) == [self.parameters()[0].name] and alone and "=" not in alone:
            return f"{self.name}:{alone}"
        return f"{self.name}:{','.join(f'{name}={quoted_where_needed(value)}' for name, value in differing.items())}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: kind, name and all parameters, and for a block of an extension of others `extension`,
        what brings it."""
        plain = {"kind": self.kind, "name": self.name, "parameters": self.parameter_values}
        return plain | ({"extension": self.brought_by} if self.brought_by else {})

    @property
    def brought_by(self) -> str:
        """The distributions of others to install for it, with spaces between; empty for blocks of the core and ours."""
        # The core's and ours are wherever the workbench is.
        extension = None if self.__module__.startswith("workbench.") else owner(self.kind, self.name)
        return extension.install if extension else ""

    @classmethod
    def named(cls, block: object) -> Self:
        """A block of the kind of this class, from the block itself or from its text. Raises InputError for anything
        else.

        Examples:
            >>> from workbench.solvers import Solver
            >>> Solver.named("cg").text
            'cg'
        """
        found = as_block(cls.kind, block)
        if not isinstance(found, cls):
            raise TypeError(f"{cls.kind} {found.name} must derive from {cls.__name__}")
        return found

    @classmethod
    def create(cls, values: Mapping[str, Any] | None = None) -> Self:
        """A block from parameter values by name. Raises InputError with the nearest known name for unknown ones."""
        values = cls.present(values or {})
        known = [declared.name for declared in cls.parameters()]
        for name in values:
            if name not in known:
                raise InputError(f"{cls.name}: {unknown_name('parameter', name, known)}")
        return cls(**values)

    def changed(self, values: Mapping[str, Any]) -> Self:
        """A copy with some parameters replaced. Raises InputError for unknown names as `create` does."""
        return self.create({**self.parameter_values, **self.present(values)})

    @classmethod
    def present(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values with the present names of parameters. Raises InputError as `present_values` does."""
        names = formers(cls)
        declared = {each.name: each for each in cls.parameters()} if names else {}
        return present_values(cls.name, names, declared, values)

    @classmethod
    def present_lists(cls, over: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
        """Lists of values by the present names of parameters; other names stay. Raises InputError as `present`."""
        now = {name: former.name for name, former in formers(cls).items()}
        return {
            now.get(name, name): [cls.present({name: value})[now.get(name, name)] for value in values]
            for name, values in over.items()
        }


class UnknownBlockError(InputError):
    """The name of a block that there is not."""


AnyBlock = TypeVar("AnyBlock", bound=type[Block])
_registry: dict[str, dict[str, type[Block]]] = {}
_unlisted: dict[tuple[str, str], type[Block]] = {}
_packages: dict[str, list[str]] = {}
DECLARED_BY = "workbench.run"
"""The package whose import declares those of the core's blocks, for a process that has imported the registry alone."""


def register(cls: AnyBlock) -> AnyBlock:
    """Class decorator: register a block under its kind and name. Raises ValueError if the name is taken.

    Examples:
        >>> from workbench.registry import find, register
        >>> jacobi = type(find("preconditioner", "jacobi"))
        >>> register(jacobi) is jacobi
        True
    """
    named = _registry.setdefault(cls.kind, {})
    # A module that is read again, or a cell of a notebook, replaces its own.
    replaced = named.get(cls.name, cls)
    if (replaced.__module__, replaced.__qualname__) != (cls.__module__, cls.__qualname__) or _is_reserved(cls):
        raise ValueError(f"two blocks of kind {cls.kind} are named {cls.name}")
    named[cls.name] = cls
    if formers(cls):
        _take_former_names(cls)
    return cls


def _take_former_names(cls: type[Block]) -> None:
    """Let the constructor of a block take former names of its parameters too."""
    construct = cls.__init__

    @functools.wraps(construct)
    def taking(self: Block, *values: object, **named: object) -> None:
        construct(self, *values, **cls.present(named))

    cls.__init__ = taking


def _is_reserved(cls: type[Block]) -> bool:
    """True for a block of another author with the name of one of the core or of an extension, imported or not: which of
    two is found must not depend on which is imported first."""
    if cls.__module__.startswith("workbench."):
        return False
    if any(cls.name in blocks for blocks in _files_of(cls.kind).values()):
        return True
    declared = [each for each in at_hand().values() if cls.name in each.blocks.get(cls.kind, ())]
    return any(not f"{cls.__module__}.".startswith(f"{each.package}.") for each in declared)


def register_unlisted(cls: AnyBlock) -> AnyBlock:
    """Class decorator: a block that is made in code only; `from_dict` reads it back, but menus do not list it."""
    _unlisted[cls.kind, cls.name] = cls
    return cls


def add_package(package: str, *kinds: str) -> None:
    """Declare that files of a package, or of a package in it, register blocks of these kinds. A new file adds a block.

    Cost: nothing; the files are looked for when a block is asked for.
    """
    for kind in kinds:
        _packages.setdefault(kind, []).append(package)


@functools.cache
def _files(package: str) -> dict[str, list[str]]:
    """The modules in a package that register blocks, those of a package in it last, and the names in their texts.

    Cost: about 0.2 ms a file.
    """
    found: dict[str, list[str]] = {}
    modules = list(pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."))
    for module in sorted(modules, key=lambda module: (module.name.count("."), module.name)):
        # The finder of its folder: asking all finders of the process takes three times as long.
        name, spec = module.name, module.module_finder.find_spec(module.name, None)
        text = spec.loader.get_source(name) if spec and isinstance(spec.loader, SourceFileLoader) else None
        # Any file of a package without texts may register blocks. Most texts lack the letters, which are found faster.
        if text is None or ("register" in text and re.search(r"\bregister\b", text)):
            found[name] = re.findall(r'name: ClassVar\[str\] = "(.*)"', text or "")
    return found


def _files_of(kind: str) -> dict[str, list[str]]:
    if kind not in _packages:
        importlib.import_module(DECLARED_BY)
    return {name: blocks for package in _packages.get(kind, ()) for name, blocks in _files(package).items()}


def kinds() -> tuple[str, ...]:
    """The kinds that blocks may have."""
    if not _packages:
        importlib.import_module(DECLARED_BY)
    return tuple({**_packages, **_registry})


def registered(kind: str) -> dict[str, type[Block]]:
    """All blocks of one kind by name: the core's in the order of their files, then those of extensions. Imports the
    modules of all, but for those of `workbench.registry.extensions.broken` ones."""
    modules = list(_files_of(kind))
    for name in modules:
        importlib.import_module(name)
    for extension in extensions().values():
        for module in dict.fromkeys(extension.blocks.get(kind, {}).values()):
            # An extension that is broken must not take the others with it; `broken` tells.
            with contextlib.suppress(InputError):
                _import(extension, module)
            modules.append(module)
    places, named = {name: place for place, name in enumerate(modules)}, _registry.get(kind, {})
    return dict(sorted(named.items(), key=lambda block: places.get(block[1].__module__, len(places))))


def _import(extension: Extension, module: str) -> None:
    """Import a module of an extension. Raises InputError where that fails, or registers no block that is declared."""
    try:
        extension.imported(module)
    except InputError:
        # What it registered before it failed.
        for named in _registry.values():
            for name in [name for name, cls in named.items() if cls.__module__ == module]:
                del named[name]
        raise
    for kind, blocks in extension.blocks.items():
        for name in (name for name, declared in blocks.items() if declared == module):
            if name not in _registry.get(kind, {}):
                raise extension.failure(f"{module} registers no {kind} {name}, which is declared")


def known(kind: str, name: str) -> type[Block] | None:
    """The block class of that name, None if there is none. Imports its module; all modules of the kind if none has it.

    Raises InputError where its module cannot be imported.
    """
    if name not in _registry.get(kind, {}):
        for module, blocks in _files_of(kind).items():
            if name in blocks:
                importlib.import_module(module)
    if name not in _registry.get(kind, {}) and (extension := owner(kind, name)):
        _import(extension, extension.blocks[kind][name])
    return _registry.get(kind, {}).get(name) or registered(kind).get(name)


def lookup(kind: str, name: str, extension: object = None) -> type[Block]:
    """The block class of that name, whatever its capitals. extension: what brings it, as `Block.to_dict` says.

    Raises InputError for an unknown name, with the extension to install or the nearest known name.
    """
    found = known(kind, name)
    if found is not None:
        return found
    if way := way_to(extension):
        raise UnknownBlockError(f"{kind} {quoted(name)} {way}")
    named = registered(kind)
    if (spelled := of_any_case(name, named)) in named:
        return named[spelled]
    also = {other: cls.name for cls in named.values() for other in cls.also}
    raise UnknownBlockError(unknown_name(kind, name, named, also))


def find(kind: str, spec: str, **values: Any) -> Block:
    """The block described by `name`, `name:argument` or `name:key=value,...`; `values` set parameters by name.

    `a + b` is the block of the class that joins others by +, if there is one of this kind.

    Examples:
        >>> from workbench.registry import find
        >>> find("deflation", "stripes:4").text
        'stripes:4'
    """
    # Only a text with a sign between spaces can be of such a class, and asking for all imports their files.
    for cls in registered(kind).values() if re.search(r" \S ", spec) else ():
        if cls.joined_by and f" {cls.joined_by} " in spec and not spec.startswith(f"{cls.name}:"):
            return cls.create({cls.parameters()[0].name: spec, **values})
    name, colon, argument = spec.partition(":")
    cls = lookup(kind, name)
    if colon:
        declared = cls.parameters()
        if not declared:
            raise InputError(f"{kind} {name} takes no argument, got {argument!r}; write {name}")
        names = [*(each.name for each in declared), *formers(cls)]
        values = {**values_by_name(argument, names, name), **values}
    return cls.create(values)


def as_block(kind: str, block: object) -> Block:
    """A block of this kind, from the block itself or from its text. Raises InputError for anything else."""
    if isinstance(block, str):
        return find(kind, block)
    if isinstance(block, Block) and block.kind == kind:
        return block
    known = next(iter(registered(kind)), kind)
    raise InputError(f"{kind} must be a name such as {known!r}, or a block of that kind, got {quoted(block)}")


def from_dict(plain: Mapping[str, Any]) -> Block:
    """The inverse of `Block.to_dict`. Raises InputError for what is no description of a block."""
    described = plain if isinstance(plain, Mapping) else {}
    kind, name, values = (described.get(key) for key in ("kind", "name", "parameters"))
    if not (isinstance(kind, str) and kind.isidentifier() and isinstance(name, str) and isinstance(values, Mapping)):
        raise InputError(f"a block is described by its kind, name and parameters, got {quoted(plain)}")
    cls = _unlisted.get((kind, name)) or lookup(kind, name, described.get("extension"))
    try:
        return cls.create(values)
    except UnknownBlockError as error:
        # One of those that its text joins.
        if way := way_to(described.get("extension")):
            raise InputError(f"a member of {kind} {quoted(name)} {way}") from error
        raise


def catalogue() -> dict[str, list[dict[str, Any]]]:
    """All registered blocks by kind as plain data: name, title and declared parameters.

    Examples:
        >>> from workbench.registry import catalogue
        >>> "cg" in [block["name"] for block in catalogue()["solver"]]
        True
    """
    return {kind: [_described(cls) for cls in registered(kind).values()] for kind in kinds()}


def _described(cls: type[Block]) -> dict[str, Any]:
    parameters = [
        {
            "name": declared.name,
            "default": declared.default,
            "help": declared.help,
            "low": declared.low,
            "high": declared.high,
            "unit": declared.unit,
            "type": declared.kind.__name__,
            "choices": list(declared.choices),
            "bounds": declared.bounds(),
        }
        for declared in cls.parameters()
    ]
    return {"name": cls.name, "title": cls.title, "parameters": parameters}
