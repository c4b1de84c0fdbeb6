"""Exit statuses, and how results and progress are printed."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Container
from typing import TYPE_CHECKING, Any, Protocol

from workbench.errors import printable

if TYPE_CHECKING:
    import argparse

CONVERGED, NOT_CONVERGED, WRONG_INPUT = 0, 1, 2


class Commands(Protocol):
    """The subparsers of argparse, which have no public class: a command adds its own."""

    @property
    def choices(self) -> Container[str]:
        """The names of the commands so far."""
        ...

    def add_parser(
        self, name: str, *, help: str = "", description: str | None = None, epilog: str | None = None
    ) -> argparse.ArgumentParser:
        """The parser of a new command."""
        ...


def print_summary(summary: dict[str, Any], notes: list[str]) -> None:
    """Print one aligned line per entry that has a value, then the notes. Those of a file of others may hold what a
    terminal would obey."""
    from workbench.run.choices.memory_need import in_words as need_in_words
    from workbench.run.setup.setup_phases import in_words

    plain = dict(summary)
    columns = plain.pop("columns", [])
    if phases := plain.pop("setup_phases", []):
        plain["setup_phases"] = in_words(phases, plain["setup_seconds"])
    compiled = plain.pop("compile_seconds", 0.0)
    if compiled and round(compiled, 2):
        plain["compile_seconds"] = f"{compiled:.3g} for kernels, once per machine; not in the setup"
    if need := plain.pop("memory_needed", None):
        plain["memory_needed"] = need_in_words(need)
    problem = plain.pop("problem")
    described = ", ".join(f"{name}={value}" for name, value in problem["parameters"].items())
    rows = {"problem": f"{problem['name']} ({described})" if described else problem["name"], **plain}
    for number, note in enumerate(notes, 1):
        rows[f"note {number}"] = note
    shown = {printable(name.replace("_", " ")): value for name, value in rows.items() if value is not None}
    width = max(map(len, shown))
    for name, value in shown.items():
        print(f"{name:{width}}  {f'{value:.6g}' if isinstance(value, float) else printable(value)}")
    if columns:
        print_columns(columns)


def print_columns(columns: list[dict[str, Any]]) -> None:
    """Print one line per right-hand side: its end, and both residuals over ||b_j||."""
    print(f"\n{'column':>6}{'iteration':>11}{'residual':>12}{'true':>12}  reason")
    for number, column in enumerate(columns, 1):
        residuals = f"{column['relative_residual']:12.3e}{column['true_relative_residual']:12.3e}"
        print(f"{number:6}{column['iteration']:11}{residuals}  {printable(column['reason'])}")


class CompilationNotice:
    """Reports on standard error that kernels are being compiled: once, or on a terminal as a line that is updated."""

    def __init__(self) -> None:
        self._printed = self._shown = False

    def __call__(self, seconds: float | None) -> None:
        """Report the compilation. seconds: duration so far; None clears the line on the terminal."""
        file = sys.stderr
        if file is None or (seconds is None and not self._shown):
            return
        # A closed terminal or pipe must not end the run.
        with contextlib.suppress(OSError, ValueError):
            if file.isatty():
                what = "" if seconds is None else f"compiling kernels for this machine, once: {seconds:.0f} s"
                file.write(f"\r\033[K{what}")
                self._shown = seconds is not None
            elif not self._printed:
                file.write("workbench: compiling kernels for this machine, once; this takes some seconds\n")
            self._printed = True
            file.flush()
