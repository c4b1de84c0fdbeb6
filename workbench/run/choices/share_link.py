"""Exports of a configuration that read back as an equal one: Python text, command, share link, saved file."""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from typing import Any

from workbench.errors import InputError
from workbench.files import with_ending, write
from workbench.files.data_files import path_of
from workbench.registry import blocks as registry
from workbench.run.choices.configuration import Configuration
from workbench.run.choices.link_codec import ENDING, LINK, PREFIX, file_text, pack, read_shared
from workbench.settings import BLOCKS, RUN, STOPPING, differing, settings_of

__all__ = ["from_link", "load_configuration", "save_configuration", "to_command", "to_link", "to_python", "to_script"]


def to_python(configuration: Configuration, *imported: str) -> str:
    """Python text that assigns an equal configuration. imported: what else it imports from workbench.run.

    Raises InputError for in-memory blocks.

    Examples:
        >>> from workbench.run import configure
        >>> from workbench.run.choices.share_link import to_python
        >>> to_python(configure("two-layer", n=16)).splitlines()[0]
        'from workbench.run import configure'
    """
    check_registered(configuration)
    stopping = _stopping(configuration)
    arguments = [_literal(configuration.problem.name)]
    arguments += _keywords(configuration.problem.differing | _blocks(configuration) | _settings(configuration))
    if stopping:
        arguments.append(f"stopping=Stopping({', '.join(_keywords(stopping))})")
    names = ", ".join(sorted([*(["Stopping"] if stopping else []), "configure", *imported]))
    lines = "".join(f"    {part},\n" for part in arguments)
    return f"from workbench.run import {names}\n\nconfiguration = configure(\n{lines})\n"


def to_script(configuration: Configuration) -> str:
    """Python text that solves an equal configuration and prints how that ended. Raises InputError as `to_python`.

    Examples:
        >>> from workbench.run import configure
        >>> from workbench.run.choices.share_link import to_script
        >>> to_script(configure("two-layer", n=16)).splitlines()[-2]
        'result = run_through(Run(configuration))'
    """
    ran = "result = run_through(Run(configuration))\n"
    printed = "print(result.reason.sentence, result.iterations, result.true_relative_residual)\n"
    return f"{to_python(configuration, 'Run', 'run_through')}{ran}{printed}"


def to_command(configuration: Configuration) -> str:
    """The `workbench solve` command of the run, quoted for a POSIX shell. Raises InputError for in-memory blocks.

    Examples:
        >>> from workbench.run import configure
        >>> from workbench.run.choices.share_link import to_command
        >>> to_command(configure("two-layer", n=16, solver="pipecg"))
        'workbench solve two-layer --n 16 --solver pipecg'
    """
    check_registered(configuration)
    words = ["workbench", "solve", configuration.problem.name]
    for name, value in configuration.problem.differing.items():
        words += ["--n", str(value)] if name == "n" else ["--param", f"{name}={value}"]
    options = _blocks(configuration) | _settings(configuration) | _stopping(configuration)
    for name, value in options.items():
        words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join(words)


def to_link(configuration: Configuration) -> str:
    """A share link: `cgw1.`, then letters, digits, - and _ that encode the configuration.

    Raises InputError for in-memory blocks, and for links of more than 65536 characters.

    Examples:
        >>> from workbench.run import configure
        >>> from workbench.run.choices.share_link import to_link
        >>> to_link(configure("two-layer", n=16))[:5]
        'cgw1.'
    """
    check_registered(configuration)
    return pack(configuration.to_dict())


def from_link(text: str) -> Configuration:
    """The configuration of a share link, checked like any other input. Raises InputError for bad text.

    Decoding runs, reads and fetches nothing; the unpacked size is bounded by 256 KiB.

    Examples:
        >>> from workbench.run import configure
        >>> from workbench.run.choices.share_link import from_link, to_link
        >>> from_link(to_link(configure("two-layer", n=16))).problem.n
        16
    """
    if not LINK.match(text):
        raise InputError(f"a link begins with {PREFIX}, got {text.strip()[:20]!r}; copy the whole text")
    return Configuration.from_dict(read_shared(text))


def save_configuration(configuration: Configuration, path: str | Path) -> Path:
    """Write a configuration as JSON, atomically; returns the path, which ends with .cg.json.

    The address of a scheduler is left out.
    Raises InputError for in-memory blocks and for paths that cannot be written.

    Examples:
        >>> from workbench.run import configure
        >>> from workbench.run.choices.share_link import save_configuration
        >>> save_configuration(configure("two-layer", n=16), "layers").name
        'layers.cg.json'
    """
    check_registered(configuration)
    path = path_of(path)
    if not path.name:
        raise InputError(f"{str(path)!r} names no file; give it a name, such as mine{ENDING}")
    path = with_ending(path, ENDING, ".json")
    return write(path, file_text(configuration.to_dict()))


def load_configuration(path: str | Path) -> Configuration:
    """The configuration that `save_configuration` wrote. Raises InputError for any other file.

    Examples:
        >>> from workbench.run import configure
        >>> from workbench.run.choices.share_link import load_configuration, save_configuration
        >>> path = save_configuration(configure("two-layer", n=16), "layers.cg.json")
        >>> load_configuration(path) == configure("two-layer", n=16)
        True
    """
    if not str(path).strip().endswith(ENDING):
        raise InputError(f"a saved configuration ends with {ENDING}, got {path}; choose another file")
    return Configuration.from_dict(read_shared(str(path)))


def _keywords(values: dict[str, Any]) -> list[str]:
    return [f"{name}={_literal(value)}" for name, value in values.items()]


def _literal(value: object) -> str:
    """A value as Python text, in double quotes where they need no additional escapes."""
    if isinstance(value, float) and math.isinf(value):
        return 'float("inf")'
    text = repr(value)
    return f'"{text[1:-1]}"' if text[0] == "'" and '"' not in text else text


def _blocks(configuration: Configuration) -> dict[str, str]:
    """The blocks besides the problem that are not the default ones, as texts that `registry.find` reads."""
    return differing({kind: configuration.blocks[kind].text for kind in BLOCKS}, BLOCKS)


def _settings(configuration: Configuration) -> dict[str, Any]:
    return differing(settings_of(configuration, RUN), RUN)


def _stopping(configuration: Configuration) -> dict[str, Any]:
    return differing(settings_of(configuration.stopping, STOPPING), STOPPING)


def check_registered(configuration: Configuration) -> None:
    for kind, block in configuration.blocks.items():
        if block.has_user_lines:
            raise InputError(
                "a user-defined method cannot be written as a link, a command or a file; save a run of it, which holds "
                "its lines"
            )
        if registry.known(kind, block.name) is not type(block):
            raise InputError(f"the {kind} is held in memory and cannot be written down; save it as a file first")
