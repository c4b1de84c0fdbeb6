"""What several commands share: exit statuses, how a problem is named, and how results are printed."""

from __future__ import annotations

import argparse
import contextlib
import math
import sys
from typing import Any

from workbench.errors import InputError, quoted

CONVERGED, NOT_CONVERGED, WRONG_INPUT = 0, 1, 2
PROBLEM = "a registered problem, a SuiteSparse name, a .mtx or .mtx.gz file, a link, or a saved .cg.json file"


def problem_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("problem", metavar="PROBLEM", help=PROBLEM)
    parser.add_argument("--n", metavar="N", help="grid points per side")
    parser.add_argument(
        "--param", metavar="KEY=VALUE", action="append", default=[], help="another parameter of the problem; repeatable"
    )


def parameters(chosen: argparse.Namespace) -> dict[str, str]:
    """What --param and --n set, by name. Raises InputError for a parameter that is given twice."""
    given = [key_value(text) for text in chosen.param] + ([("n", chosen.n)] if chosen.n is not None else [])
    parameters: dict[str, str] = {}
    for name, value in given:
        if name in parameters:
            values = f"{quoted(parameters[name])} and {quoted(value)}"
            raise InputError(f"parameter {quoted(name)} is given twice, as {values}; give it once")
        parameters[name] = value
    return parameters


def finite(value: Any) -> Any:
    """JSON has no NaN and no infinity; both become null."""
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, list):
        return [finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_summary(summary: dict[str, Any], notes: list[str]) -> None:
    plain = dict(summary)
    problem = plain.pop("problem")
    described = ", ".join(f"{name}={value}" for name, value in problem["parameters"].items())
    rows = {"problem": f"{problem['name']} ({described})" if described else problem["name"], **plain}
    for number, note in enumerate(notes, 1):
        rows[f"note {number}"] = note
    width = max(map(len, rows))
    for name, value in rows.items():
        if value is not None:
            shown = f"{value:.6g}" if isinstance(value, float) else value
            print(f"{name.replace('_', ' '):{width}}  {shown}")


class CompilingLine:
    """Says on standard error that kernels are being compiled: once; on a terminal as a line that is updated."""

    def __init__(self) -> None:
        self._said = self._shown = False

    def __call__(self, seconds: float | None) -> None:
        """seconds: how long that has taken so far; None takes the line from the terminal."""
        file = sys.stderr
        if file is None or (seconds is None and not self._shown):
            return
        # A closed terminal or pipe is no reason to stop.
        with contextlib.suppress(OSError, ValueError):
            if file.isatty():
                what = "" if seconds is None else f"compiling kernels for this machine, once: {seconds:.0f} s"
                file.write(f"\r\033[K{what}")
                self._shown = seconds is not None
            elif not self._said:
                file.write("workbench: compiling kernels for this machine, once; this takes some seconds\n")
            self._said = True
            file.flush()


def key_value(text: str) -> tuple[str, str]:
    """What --param takes. Raises InputError for any other text."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise InputError(f"--param takes KEY=VALUE, got {text!r}")
    return key, value
