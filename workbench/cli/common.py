"""What several commands share: exit statuses, how a problem is named, and how results are printed."""

from __future__ import annotations

import argparse
import math
from typing import Any

from workbench.errors import InputError

CONVERGED, NOT_CONVERGED, WRONG_INPUT = 0, 1, 2
PROBLEM = "a registered problem, a SuiteSparse name, a .mtx or .mtx.gz file, a link, or a saved .cg.json file"


def problem_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("problem", metavar="PROBLEM", help=PROBLEM)
    parser.add_argument("--n", metavar="N", help="grid points per side")
    parser.add_argument(
        "--param", metavar="KEY=VALUE", action="append", default=[], help="another parameter of the problem; repeatable"
    )


def parameters(chosen: argparse.Namespace) -> dict[str, str]:
    parameters = dict(key_value(text) for text in chosen.param)
    return {**parameters, "n": chosen.n} if chosen.n is not None else parameters


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


def key_value(text: str) -> tuple[str, str]:
    """What --param takes. Raises InputError for any other text."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise InputError(f"--param takes KEY=VALUE, got {text!r}")
    return key, value
