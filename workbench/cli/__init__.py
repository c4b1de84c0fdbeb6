"""The command line: the same verbs as the notebooks. Exit 0 converged, 1 not converged, 2 wrong input."""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn

import workbench
from workbench.cli import advising, comparing, listing, reproducing, solving, sweeping, timing
from workbench.cli.common import NOT_CONVERGED, WRONG_INPUT
from workbench.errors import InputError


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    try:
        chosen = _parser().parse_args(arguments)
        return chosen.command(chosen)
    except InputError as error:
        print(f"workbench: {error}", file=sys.stderr)
        return WRONG_INPUT
    except MemoryError:
        print("workbench: not enough memory for this problem; choose a smaller n", file=sys.stderr)
        return WRONG_INPUT
    except KeyboardInterrupt:
        print("workbench: stopped by the user", file=sys.stderr)
        return NOT_CONVERGED
    except BrokenPipeError:
        sys.stderr.close()
        return NOT_CONVERGED


class _Parser(argparse.ArgumentParser):
    """An ArgumentParser whose complaints are one sentence like all others."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; see `{self.prog} --help`")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="workbench", description="A workbench for conjugate gradient methods.")
    parser.add_argument("--version", action="version", version=f"workbench {workbench.__version__}")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    for group in (solving, sweeping, advising, comparing, reproducing, timing, listing):
        group.add(verbs)
    return parser
