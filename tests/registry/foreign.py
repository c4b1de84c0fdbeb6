"""Distributions of others, installed for a test: a folder on the path with packages and their metadata."""

from __future__ import annotations

import importlib
import sys
import tempfile
import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest

from workbench.registry import blocks, extensions, facts

RICHARDSON = """
import dataclasses
from typing import ClassVar
from workbench.preconditioners import ElementWise, Preconditioner
from workbench.registry import parameter, register

@register
@dataclasses.dataclass(frozen=True)
class {cls}(Preconditioner):
    '''M^-1 = omega I. Cost: nothing. Source: Richardson 1911.'''
    name: ClassVar[str] = "{name}"
    title: ClassVar[str] = "a number"
    element_wise: ClassVar[bool] = True
    omega: float = parameter(0.5, "the number", low=1e-6, high=1e6)

    def setup(self, operator, device):
        return ElementWise(f"{{self.omega!r}}*v", {{}})
"""


def richardson(name: str = "richardson", cls: str = "Richardson") -> str:
    """A module that registers a preconditioner."""
    return RICHARDSON.format(name=name, cls=cls)


def declaration(name: str, more: str = "", package: str = "") -> str:
    """A module with a declaration; more: further arguments of `Extension`."""
    package = package or f"cg_{name}"
    return (
        "from workbench.registry.extensions import Command, Extension, PageView\n"
        f"EXTENSION = Extension('{name}', 'An extension', '{package}', 'cg-{name}', {more})\n"
    )


class Installer:
    """Installs distributions into a folder of its own, and takes all of them away again."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder, self._packages = folder, list[str]()
        folder.mkdir()
        patch.syspath_prepend(str(folder))

    def install(
        self, name: str, more: str = "", files: Mapping[str, str] | None = None, *, declared: str = "", entry: str = ""
    ) -> None:
        """Install cg-<name>, whose package is cg_<name>; files: of the package. declared: text of its declaration."""
        package = self.folder / f"cg_{name}"
        package.mkdir()
        texts = {"__init__.py": "", "extension.py": declared or declaration(name, more), **(files or {})}
        for file, text in texts.items():
            (package / file).write_text(textwrap.dedent(text), encoding="utf-8")
        about = self.folder / f"cg_{name}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: cg-{name}\nVersion: 1.0\n")
        entry = entry or f"{name} = cg_{name}.extension:EXTENSION"
        (about / "entry_points.txt").write_text(f"[{extensions.GROUP}]\n{entry}\n")
        self._packages.append(package.name)
        self.read_again()

    def preconditioner(self, name: str = "richardson", facts: str = "", module: str = "") -> None:
        """Install cg-<name>, which has a preconditioner of that name; facts: text of its file."""
        more = f"blocks={{'preconditioner': {{'{name}': 'cg_{name}.block'}}}}, facts={'facts.toml' if facts else ''!r}"
        self.install(name, more, {"block.py": module or richardson(name), "facts.toml": facts})

    def uninstall(self) -> None:
        """Take all of them away, as in a fresh process without them."""
        self.folder.rename(Path(tempfile.mkdtemp(dir=self.folder.parent)) / "gone")
        self.folder.mkdir()
        self.read_again()

    def read_again(self) -> None:
        """Forget what is known of extensions of others, as a fresh process does."""
        importlib.invalidate_caches()
        for name in [name for name in sys.modules if name.partition(".")[0] in self._packages]:
            del sys.modules[name]
        for named in blocks._registry.values():
            for name in [name for name, cls in named.items() if cls.__module__.partition(".")[0] in self._packages]:
                del named[name]
        for kept in (extensions._broken, extensions._failed, extensions._unread):
            kept.clear()
        for cached in (extensions.extensions, facts.facts, facts._of_extension):
            cached.cache_clear()
