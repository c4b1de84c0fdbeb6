"""The command line: the same verbs as the notebooks. Exit 0 converged, 1 not converged, 2 wrong input."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import workbench
from workbench.cli import advising, comparing, listing, reproducing, solving, streams, sweeping, timing
from workbench.cli.common import NOT_CONVERGED, WRONG_INPUT, CompilingLine
from workbench.cli.streams import tell
from workbench.devices import compiling
from workbench.errors import InputError, shown
from workbench.files import check_target

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

OUTPUTS = ("save", "trace", "csv", "output", "picture")
"""Options that name a file to be written."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    streams.make_usable()
    try:
        status = _run(arguments)
        # What cannot be printed shows only now.
        sys.stdout.flush()
        return status
    except InputError as error:
        tell(str(error))
        return WRONG_INPUT
    except MemoryError:
        tell("not enough memory for this problem; choose a smaller n")
        return WRONG_INPUT
    except KeyboardInterrupt:
        tell("stopped by the user")
        return NOT_CONVERGED
    except BrokenPipeError:
        # The reader closed the pipe, as `| head` does: no message.
        streams.give_up(sys.stdout)
        return NOT_CONVERGED
    except OSError as error:
        # Files have sentences of their own; what is left is the output, or a folder that something else needs.
        streams.give_up(sys.stdout)
        where = shown(error.filename) if error.filename else "the output"
        tell(f"cannot read or write {where}: {error.strerror or error}")
        return WRONG_INPUT


def _run(arguments: list[str] | None) -> int:
    try:
        chosen = _parser().parse_args(arguments)
    # --help and --version have printed what they say.
    except SystemExit as ended:
        return int(ended.code or 0)
    # A long solve should not end with nowhere to put its result.
    for path in filter(None, (getattr(chosen, name, None) for name in OUTPUTS)):
        check_target(Path(path))
    with compiling.listening(CompilingLine()):
        return chosen.command(chosen)


class _Parser(argparse.ArgumentParser):
    """An ArgumentParser whose complaints are one sentence like all others."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; see `{self.prog} --help`")

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        # argparse passes over what could not be printed, as if there had been no help.
        if message:
            (file or sys.stdout).write(message)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="workbench", description="A workbench for conjugate gradient methods.")
    parser.add_argument("--version", action="version", version=f"workbench {workbench.__version__}")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    for group in (solving, sweeping, advising, comparing, reproducing, timing, listing):
        group.add(verbs)
    return parser
