"""The part of `workbench doctor` on extensions: which there are, and what each of them lacks or finds."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping

from workbench.errors import InputError
from workbench.machines.advice import Missing, install_command_of
from workbench.registry.blocks import registered
from workbench.registry.extensions import Extension, broken, extensions


@dataclasses.dataclass(frozen=True)
class Examined:
    """Findings of an extension on this machine, as the function returns that it declares as `doctor`.

    heading: of its part of the report, with its lines. facts: the same as plain data. missing: what could be installed,
    None where that is what the modules of `Extension.needs` come with.
    """

    heading: str = ""
    lines: tuple[str, ...] = ()
    facts: Mapping[str, object] = dataclasses.field(default_factory=dict)
    missing: tuple[Missing, ...] | None = None


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
    """All extensions, those that cannot be loaded last. Cost: the modules of their blocks are imported, and their
    functions `doctor` are called, two of which start Python anew."""
    for kind in {kind for extension in extensions().values() for kind in extension.blocks}:
        registered(kind)
    found = [_report(extension) for extension in extensions().values()]
    wrong = broken()
    found = [dataclasses.replace(each, problem=wrong.pop(each.name, "")) for each in found]
    return (*found, *(ExtensionReport(name, problem=sentence) for name, sentence in wrong.items()))


def _report(extension: Extension) -> ExtensionReport:
    lacks, found = tuple(extension.missing), _examined(extension)
    missing = found.missing
    if missing is None:
        why = f"required by the extension {extension.name}: {extension.title}"
        missing = (Missing(", ".join(lacks), why, (install_command_of(extension),)),) if lacks else ()
    return ExtensionReport(extension.name, extension.title, lacks, "", found.heading, found.lines, found.facts, missing)


def _examined(extension: Extension) -> Examined:
    """The findings of an extension, empty where it fails; `broken` has the reason then."""
    # One that is broken must not take the others with it.
    with contextlib.suppress(InputError):
        if extension.doctor:
            found = extension.called(extension.doctor)
            if not isinstance(found, Examined):
                raise extension.failure(f"{extension.doctor} returns no {Examined.__module__}.Examined")
            return found
    return Examined()
