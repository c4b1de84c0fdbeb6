"""Parameters of blocks and settings of runs: declared once, with kind, bounds and help, and checked against these."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import math
import operator
from collections.abc import Iterable, Mapping
from typing import Any

from workbench.errors import InputError, one_line, quoted

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
        if self.choices and isinstance(converted, str) and converted not in self.choices:
            converted = of_any_case(converted, self.choices)
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


class Former:
    """The former name of a parameter of a block. It is read, and taken where parameters are set, as it was meant.

    name: the present name. reciprocal: the former value is 1 over the present one.

    Examples:
        >>> from workbench.registry import Former
        >>> Former("density_ratio", reciprocal=True).turned(1000.0)
        0.001
    """

    def __init__(self, name: str, *, reciprocal: bool = False) -> None:
        self.name, self.reciprocal = name, reciprocal

    def __get__(self, block: object, owner: type) -> float:
        if block is None:
            raise AttributeError(f"{owner.__name__} has {self.name}")
        return self.turned(vars(block)[self.name])

    def turned(self, value: float) -> float:
        """The former value of a present one, and the other way around."""
        return 1 / value if self.reciprocal else value

    def present(self, name: str, value: object, declared: Parameter, owner: str = "") -> Any:
        """The present value of one that is given by its former name. declared: the present parameter.

        Raises InputError with the former name, and with the bounds that the former value has.
        """
        low, high = declared.low, declared.high
        if self.reciprocal:
            # 15 digits: 1 / 1e-9 is below 1e9 in double precision, which is a value at the bound.
            low, high = (float(f"{1 / bound:.15g}") if bound else None for bound in (high, low))
        return self.turned(dataclasses.replace(declared, name=name, low=low, high=high).check(value, owner))


@functools.cache
def formers(cls: type) -> dict[str, Former]:
    """The former names of the parameters of a block."""
    return {name: each for base in cls.__mro__ for name, each in vars(base).items() if isinstance(each, Former)}


def present_values(
    owner: str, names: Mapping[str, Former], declared: Mapping[str, Parameter], values: Mapping[str, Any]
) -> dict[str, Any]:
    """Values by the present names of their parameters. names: the former ones; declared: the parameters, by name.

    Raises InputError for a parameter that is given by both names, and for a value out of bounds.
    """
    present = dict(values)
    for name in present.keys() & names.keys():
        former, value = names[name], present.pop(name)
        if former.name in present:
            raise InputError(f"{owner}: {name} is the former name of {former.name}; give one of the two")
        present[former.name] = former.present(name, value, declared[former.name], owner)
    return present


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


def of_any_case(name: str, known: Iterable[str]) -> str:
    """The known name that differs from a name by capitals alone; the name itself where none does, or several do."""
    found = [each for each in known if each.casefold() == name.casefold()]
    return found[0] if len(found) == 1 else name


def unknown_name(what: str, name: str, known: Iterable[object], also: Mapping[str, str] | None = None) -> str:
    """The message for an unknown name: the nearest known one, whatever its capitals, or the list.

    also: other names that people know, each with the known one that it stands for.
    """
    names = [str(name) for name in known]
    meant = {**(also or {}), **{each.casefold(): each for each in names}}
    near = difflib.get_close_matches(name.casefold(), meant, n=1, cutoff=0.5)
    hint = f"did you mean {meant[near[0]]}?" if near else f"known: {', '.join(names) or 'none'}"
    return f"unknown {what} {quoted(name)}; {hint}"
