"""Commands and their options, and the message and exit status of a command that fails."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import workbench
from workbench.cli import streams
from workbench.cli.common import NOT_CONVERGED, WRONG_INPUT, Commands, CompilationNotice
from workbench.cli.mpiexec import rank_of
from workbench.cli.streams import log
from workbench.errors import InputError, error_message, printable_path
from workbench.files import check_target, ended_in_order
from workbench.jit import compile_time as compiling
from workbench.registry.extensions import Command, Extension, extensions

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

OPTIONS = "--options"
COMMANDS = {
    "app": Command("serve the workbench as a page without code cells, by Voila", "workbench.cli.pages:add"),
    "lab": Command("start JupyterLab on the notebooks and lessons", "workbench.cli.pages:add"),
    "solve": Command("solve a linear system and print a summary", "workbench.cli.solving:add"),
    "sweep": Command("solve every combination of some choices, and print a table", "workbench.cli.sweeping:add"),
    "advise": Command(
        "rank pairs of first and second level by the measured time of a solve", "workbench.cli.advising:add"
    ),
    "convert": Command("write A as a Matrix Market file, or in PETSc's binary format", "workbench.cli.converting:add"),
    "family": Command("cost of one iteration of each solver, counted from its lines", "workbench.cli.comparing:add"),
    "calibrate": Command("measure a profile of this machine, for retime", "workbench.cli.timing:add"),
    "retime": Command("model the times of a traced run on another machine", "workbench.cli.timing:add"),
    "blocks": Command("list the registered blocks and their parameters", "workbench.cli.listing:add"),
    "doctor": Command(
        "devices and packages of this machine, and how to install missing ones", "workbench.cli.listing:add"
    ),
    "show": Command("print the summary of a saved run, or export it", "workbench.cli.listing:add"),
}
"""Commands of the core, in the order of --help; only the module of the command that runs is imported."""
OUTPUTS = ("save", "solution", "trace", "csv", "html", "output", "picture", "record")
"""Options that name output files, which are tested before the command runs."""


def run(arguments: list[str] | None) -> int:
    """Run one command and return its exit status. arguments: without the program's name; None for those of the process.

    SIGTERM and SIGHUP raise SystemExit, so that open files are closed or removed.
    """
    streams.make_usable()
    try:
        with ended_in_order():
            status = _run(arguments)
        # Output that cannot be written fails here rather than at exit.
        sys.stdout.flush()
        return status
    except InputError as error:
        log(str(error))
        return WRONG_INPUT
    except MemoryError as error:
        log(error_message(error))
        return WRONG_INPUT
    except BrokenPipeError:
        # The reader closed the pipe, as `| head` does: no message is due.
        streams.discard(sys.stdout)
        return NOT_CONVERGED
    except OSError as error:
        # An error on a file that the user named is an InputError; others are of the output, or a folder like the cache.
        streams.discard(sys.stdout)
        where = printable_path(error.filename) if error.filename else "the output"
        log(f"cannot read or write {where}: {error.strerror or error}")
        return WRONG_INPUT


def _run(arguments: list[str] | None) -> int:
    try:
        options = parsed(arguments)
    # argparse exits after --help and --version.
    except SystemExit as ended:
        return int(ended.code or 0)
    options.rank = rank_of(options)
    # Fail before a long solve rather than after it.
    for path in filter(None, map(vars(options).get, OUTPUTS)):
        check_target(Path(path))
    with compiling.listening(CompilationNotice()):
        return options.command(options)


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """The options of a command; `further` has the unknown ones of a command that passes them on. Raises InputError."""
    words = _with_options_joined(sys.argv[1:] if arguments is None else arguments)
    # --help and --version, which may be shortened, need no command; other options before it are refused.
    asks = bool(words) and words[0].startswith(("-h", "--h", "--v"))
    of_program = parser("" if asks else next((word for word in words if not word.startswith("-")), ""))
    options, unknown = of_program.parse_known_args(words)
    if unknown and not hasattr(options, "passes_on"):
        of_program.error(f"unrecognized arguments: {' '.join(unknown)}")
    options.further = unknown
    return options


def _with_options_joined(arguments: list[str]) -> list[str]:
    """The arguments, with --options and its text as one: argparse would refuse a text of PETSc, which begins with -."""
    if OPTIONS not in arguments[:-1]:
        return arguments
    place = arguments.index(OPTIONS)
    return [*arguments[:place], f"{OPTIONS}={arguments[place + 1]}", *arguments[place + 2 :]]


class _Parser(argparse.ArgumentParser):
    """An ArgumentParser that reports wrong input as an InputError."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; see `{self.prog} --help`")

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        # As argparse does, but with errors of writing, which it ignores.
        if message:
            (file or sys.stdout).write(message)


def parser(verb: str = "") -> argparse.ArgumentParser:
    """The parser of all commands. verb: the command that runs, which gets its options; others get a line of help."""
    parser = _Parser(prog="workbench", description="A workbench for conjugate gradient methods.")
    parser.add_argument("--version", action="version", version=f"workbench {workbench.__version__}")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    if verb in COMMANDS:
        module, _, add = COMMANDS[verb].add.partition(":")
        vars(importlib.import_module(module))[add](verbs)
    _add_names(COMMANDS, verbs)
    # Commands of the core run without the metadata of other distributions, which take long to read.
    if verb not in COMMANDS:
        for extension in extensions().values():
            _add_commands(extension, verbs, verb)
    return parser


def _add_commands(extension: Extension, verbs: Commands, verb: str) -> None:
    if verb in extension.commands and verb not in verbs.choices:
        reference = extension.commands[verb].add
        extension.called(reference, verbs)
        if verb not in verbs.choices:
            raise extension.failure(f"{reference} adds no command {verb}")
    _add_names(extension.commands, verbs)


def _add_names(commands: Mapping[str, Command], verbs: Commands) -> None:
    for name, command in commands.items():
        if name not in verbs.choices:
            # argparse fills in what follows a percent sign.
            verbs.add_parser(name, help=command.help.replace("%", "%%"))
