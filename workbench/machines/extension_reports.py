"""The part of `workbench doctor` on extensions: which there are, and what each of them lacks or finds."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Protocol

from workbench.errors import InputError, error_message
from workbench.machines.advice import Missing, install_command_of
from workbench.registry.extensions import Extension, broken, extensions


@dataclasses.dataclass(frozen=True)
class Examined:
    """What an extension finds on this machine.

    heading: of its part of the report, with its lines. facts: the same as plain data. missing: what could be installed,
    None where that is what the modules of `Extension.needs` come with.
    """

    heading: str = ""
    lines: tuple[str, ...] = ()
    facts: Mapping[str, object] = dataclasses.field(default_factory=dict)
    missing: tuple[Missing, ...] | None = None


class Examine(Protocol):
    """The function that an extension declares as `doctor`; lines alone stand below its title."""

    def __call__(self) -> Examined | Sequence[str]: ...


@dataclasses.dataclass(frozen=True)
class ExtensionReport:
    """An extension on this machine. lacks: modules that it needs and that are not installed. problem: a sentence where
    it is broken, else empty. The rest is as in `Examined`."""

    name: str
    title: str = ""
    lacks: tuple[str, ...] = ()
    problem: str = ""
    heading: str = ""
    lines: tuple[str, ...] = ()
    facts: Mapping[str, object] = dataclasses.field(default_factory=dict)
    missing: tuple[Missing, ...] = ()

    @property
    def summary(self) -> str:
        """One line: its title, and what is wrong."""
        without = f"without {', '.join(self.lacks)}" if self.lacks else ""
        return "; ".join(filter(None, (self.title, without, self.problem)))


def examine_extensions() -> tuple[ExtensionReport, ...]:
    """All extensions, those that are broken last. Cost: the modules of their blocks are imported, and their functions
    `doctor` are called, two of which start Python anew."""
    found = [_report(extension) for extension in extensions().values()]
    wrong = broken()
    found = [dataclasses.replace(each, problem=each.problem or wrong.pop(each.name, "")) for each in found]
    return (*found, *(ExtensionReport(name, problem=sentence) for name, sentence in wrong.items()))


def _report(extension: Extension) -> ExtensionReport:
    lacks, problem = tuple(extension.missing), ""
    for module in {module for of_kind in extension.blocks.values() for module in of_kind.values()}:
        # `broken` tells which.
        with contextlib.suppress(InputError):
            extension.imported(module)
    found = Examined()
    try:
        if extension.doctor:
            examine: Examine = extension.resolved(extension.doctor)
            answer = examine()
            found = answer if isinstance(answer, Examined) else Examined(lines=tuple(answer))
    except InputError as error:
        problem = str(error)
    # Code of anybody, which may raise anything.
    except Exception as error:
        problem = f"extension {extension.name} is broken: {error_message(error, extension.doctor)}"
    missing = found.missing
    if missing is None:
        why = f"required by the extension {extension.name}: {extension.title}"
        missing = (Missing(", ".join(lacks), why, (install_command_of(extension),)),) if lacks else ()
    return ExtensionReport(
        extension.name, extension.title, lacks, problem, found.heading, found.lines, found.facts, missing
    )
