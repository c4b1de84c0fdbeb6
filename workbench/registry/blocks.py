"""Blocks: frozen dataclasses with declared parameters, registered under a name, and found by it.

Dropdowns, the command line, the contract tests, the docs tables and the provenance of a run are generated from here.
`workbench.registry.text` says how a block is written. The files of a package that holds blocks (`add_package`) are
imported when one of their blocks is asked for.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import importlib
import math
import operator
import pkgutil
import re
from collections.abc import Iterable, Mapping
from importlib.machinery import SourceFileLoader
from typing import Any, ClassVar, Self, TypeVar

from workbench.errors import InputError, one_line, quoted
from workbench.registry.text import quoted_where_needed, values_by_name

__all__ = ["Block", "Parameter", "catalogue", "find", "parameter", "register"]

Value = int | float | str | bool


@dataclasses.dataclass(frozen=True)
class Parameter:
    """Declaration of one parameter of a block, or of one setting of a run.

    low, high: inclusive bounds. above: exclusive lower bound. high = infinity admits infinity, which is refused
    otherwise. unit: empty for pure numbers. empty: what None stands for, in words; without it None is refused.

    Examples:
        >>> from workbench.registry import find
        >>> (order, *_) = find("preconditioner", "neumann").parameters()
        >>> order.kind, order.bounds()
        (<class 'int'>, 'between 1 and 16')
    """

    name: str
    kind: type
    default: Any
    help: str
    low: float | None = None
    high: float | None = None
    unit: str = ""
    choices: tuple[str, ...] = ()
    above: float | None = None
    empty: str = ""

    def check(self, value: object, owner: str = "") -> Any:
        """Return `value` as `kind`. Raises InputError naming the owner, the value and the bound."""
        if value is None and self.empty:
            return None
        prefix = f"{owner}: " if owner else ""
        converted = self._convert(prefix, value)
        if self.choices and converted not in self.choices:
            raise InputError(f"{prefix}{unknown_name(self.name, str(converted), self.choices)}")
        if isinstance(converted, (int, float)) and not isinstance(converted, bool):
            if isinstance(converted, float) and not (math.isfinite(converted) or self._may_be_infinite(converted)):
                raise InputError(f"{prefix}{self.name} must be a finite number, got {one_line(value)}")
            if self._out_of_bounds(converted):
                raise InputError(f"{prefix}{self.name} must be {self.bounds()}, got {one_line(value)}")
        return converted

    def bounds(self) -> str:
        """The bounds in words, for messages and help texts."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        high = None if self.high == math.inf else self.high
        if self.low is not None and high is not None:
            return f"between {self.low:g} and {high:g}"
        if self.low is not None:
            return f"at least {self.low:g}"
        if self.above is not None:
            return f"above {self.above:g}" + (f" and at most {high:g}" if high is not None else "")
        return f"at most {high:g}" if high is not None else "any value"

    @property
    def about(self) -> str:
        """Help, bounds and unit in one line, for tooltips and option help. Choices are left to the control."""
        bounds = "" if self.choices or self.bounds() == "any value" else f"; {self.bounds()}"
        return f"{self.help}{bounds}" + (f"; in {self.unit}" if self.unit else "")

    def _may_be_infinite(self, number: float) -> bool:
        return self.high == math.inf and not math.isnan(number)

    def _out_of_bounds(self, number: float) -> bool:
        return (
            (self.low is not None and number < self.low)
            or (self.high is not None and number > self.high)
            or (self.above is not None and number <= self.above)
        )

    def _convert(self, prefix: str, value: object) -> Value:
        if self.kind is bool:
            words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
            word = one_line(value).lower()
            if word not in words:
                raise InputError(f"{prefix}{self.name} must be true or false, got {quoted(value)}")
            return words[word]
        if self.kind is str:
            try:
                return str(value)
            # Foreign objects raise anything; an integer of more than 4300 digits is not written by Python.
            except Exception:
                raise InputError(f"{prefix}{self.name} must be a text, got {quoted(value)}") from None
        number: Any = value
        try:
            return _whole_number(number) if self.kind is int else float(number)
        except (TypeError, ValueError, OverflowError):
            noun = "a whole number" if self.kind is int else "a number"
            raise InputError(f"{prefix}{self.name} must be {noun}, got {quoted(value)}") from None


def _whole_number(value: Any) -> int:
    """An int from a text, an integer or a float without a fraction, of Python or NumPy. Raises ValueError, TypeError.

    1e3 is a whole number too, 2.5 is not.
    """
    if isinstance(value, str):
        return int(value)
    is_whole = getattr(value, "is_integer", None)
    return int(value) if is_whole and is_whole() else int(operator.index(value))


def parameter(
    default: Value,
    help: str,
    *,
    low: float | None = None,
    high: float | None = None,
    unit: str = "",
    choices: tuple[str, ...] = (),
) -> Any:
    """A dataclass field of a block, declared with its default, one line of help, inclusive bounds, unit or choices.

    Examples:
        >>> from workbench.registry import parameter
        >>> parameter(0.5, "the number", low=0.0, high=1.0).metadata["high"]
        1.0
    """
    about = {
        "kind": type(default),
        "default": default,
        "help": help,
        "low": low,
        "high": high,
        "unit": unit,
        "choices": choices,
    }
    return dataclasses.field(default=default, metadata=about)


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
    joined_by: ClassVar[str] = ""
    """The sign between the texts of other blocks of this kind that together are the text of this one."""

    def __post_init__(self) -> None:
        for declared in self.parameters():
            checked = declared.check(getattr(self, declared.name), self.name)
            object.__setattr__(self, declared.name, checked)

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """The declared parameters, in order."""
        return tuple(
            Parameter(name=field.name, **field.metadata)
            for field in dataclasses.fields(cls)
            if "help" in field.metadata
        )

    @property
    def spec(self) -> str:
        """The text `name:argument`, which `find` reads back if only the first parameter differs from its default."""
        declared = self.parameters()
        return f"{self.name}:{getattr(self, declared[0].name)}" if declared else self.name

    @property
    def differing(self) -> dict[str, Value]:
        """The parameters that differ from their defaults."""
        values = {declared: getattr(self, declared.name) for declared in self.parameters()}
        return {declared.name: value for declared, value in values.items() if value != declared.default}

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
        """Plain data for JSON: kind, name and all parameters."""
        values = {declared.name: getattr(self, declared.name) for declared in self.parameters()}
        return {"kind": self.kind, "name": self.name, "parameters": values}

    @classmethod
    def create(cls, values: Mapping[str, Any] | None = None) -> Self:
        """A block from parameter values by name. Raises InputError with the nearest known name for unknown ones."""
        values = dict(values or {})
        known = [declared.name for declared in cls.parameters()]
        for name in values:
            if name not in known:
                raise InputError(f"{cls.name}: {unknown_name('parameter', name, known)}")
        return cls(**values)

    def changed(self, values: Mapping[str, Any]) -> Self:
        """A copy with some parameters replaced. Raises InputError for unknown names as `create` does."""
        present = {declared.name: getattr(self, declared.name) for declared in self.parameters()}
        return self.create({**present, **values})


AnyBlock = TypeVar("AnyBlock", bound=type[Block])
_registry: dict[str, dict[str, type[Block]]] = {}
_unlisted: dict[tuple[str, str], type[Block]] = {}
_packages: dict[str, list[str]] = {}


def register(cls: AnyBlock) -> AnyBlock:
    """Class decorator: register a block under its kind and name. Raises ValueError if the name is taken.

    Examples:
        >>> from workbench.registry import find, register
        >>> jacobi = type(find("preconditioner", "jacobi"))
        >>> register(jacobi) is jacobi
        True
    """
    named = _registry.setdefault(cls.kind, {})
    if cls.name in named and named[cls.name].__qualname__ != cls.__qualname__:
        raise ValueError(f"two blocks of kind {cls.kind} are named {cls.name}")
    named[cls.name] = cls
    return cls


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
    return {name: blocks for package in _packages.get(kind, ()) for name, blocks in _files(package).items()}


def kinds() -> tuple[str, ...]:
    """The kinds that blocks may have."""
    return tuple({**_packages, **_registry})


def registered(kind: str) -> dict[str, type[Block]]:
    """All blocks of one kind by name, in the order of their files. Imports these files."""
    places = {name: place for place, name in enumerate(_files_of(kind))}
    for name in places:
        importlib.import_module(name)
    named = _registry.get(kind, {})
    return dict(sorted(named.items(), key=lambda block: places.get(block[1].__module__, len(places))))


def known(kind: str, name: str) -> type[Block] | None:
    """The block class of that name, None if there is none. Imports its file; all files of the kind if none has it."""
    if name not in _registry.get(kind, {}):
        for module, blocks in _files_of(kind).items():
            if name in blocks:
                importlib.import_module(module)
    return _registry.get(kind, {}).get(name) or registered(kind).get(name)


def lookup(kind: str, name: str) -> type[Block]:
    """The block class of that name. Raises InputError with the nearest known name for unknown ones."""
    found = known(kind, name)
    if found is None:
        raise InputError(unknown_name(kind, name, registered(kind)))
    return found


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
        values = {**values_by_name(argument, [each.name for each in declared], name), **values}
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
    if not (isinstance(kind, str) and isinstance(name, str) and isinstance(values, Mapping)):
        raise InputError(f"a block is described by its kind, name and parameters, got {quoted(plain)}")
    return (_unlisted.get((kind, name)) or lookup(kind, name)).create(values)


def unknown_name(what: str, name: str, known: Iterable[object]) -> str:
    """The message for an unknown name: the nearest known one, or the list."""
    names = [str(name) for name in known]
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(names) or 'none'}"
    return f"unknown {what} {quoted(name)}; {hint}"


def catalogue() -> dict[str, list[dict[str, Any]]]:
    """All registered blocks by kind as plain data: name, title and declared parameters.

    Examples:
        >>> from workbench.registry import catalogue
        >>> "cg" in [block["name"] for block in catalogue()["solver"]]
        True
    """
    return {kind: [_described(cls) for cls in registered(kind).values()] for kind in kinds()}


def _described(cls: type[Block]) -> dict[str, Any]:
    plain = ("name", "default", "help", "low", "high", "unit")
    parameters = [
        {name: getattr(declared, name) for name in plain}
        | {"type": declared.kind.__name__, "choices": list(declared.choices), "bounds": declared.bounds()}
        for declared in cls.parameters()
    ]
    return {"name": cls.name, "title": cls.title, "parameters": parameters}
