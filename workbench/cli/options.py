"""Command-line options from the declarations of settings, and the problem that most commands take."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import Any

from workbench.errors import InputError, quoted
from workbench.registry import Parameter
from workbench.settings import BLOCKS, Size

PROBLEM = "a registered problem, a SuiteSparse name, a .mtx, .mtx.gz or .petsc file, a share link, or a .cg.json file"
METAVARS: dict[type, str] = {int: "INT", float: "FLOAT", str: "NAME"}


def problem_arguments(parser: argparse.ArgumentParser) -> None:
    """Add PROBLEM, --n and --param."""
    parser.add_argument("problem", metavar="PROBLEM", help=PROBLEM)
    parser.add_argument("--n", metavar="N", help="grid points per side")
    parser.add_argument(
        "--param", metavar="KEY=VALUE", action="append", default=[], help="another parameter of the problem; repeatable"
    )


def parameters(options: argparse.Namespace) -> dict[str, str]:
    """The parameters given by --param and --n, by name. Raises InputError for a parameter that is given twice."""
    pairs = [key_value(text) for text in options.param] + ([("n", options.n)] if options.n is not None else [])
    parameters: dict[str, str] = {}
    for name, value in pairs:
        if name in parameters:
            values = f"{quoted(parameters[name])} and {quoted(value)}"
            raise InputError(f"parameter {quoted(name)} is given twice, as {values}; give it once")
        parameters[name] = value
    return parameters


def key_value(text: str) -> tuple[str, str]:
    """The key and the value of a --param. Raises InputError for any other text."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise InputError(f"--param takes KEY=VALUE, got {text!r}")
    return key, value


def add_option(parser: argparse.ArgumentParser, declared: Parameter, default: object = None) -> None:
    """Add the option of a setting. default: the value without the option, None to keep what a link or file says."""
    parser.add_argument(
        f"--{declared.name.replace('_', '-')}",
        type=_reader(declared),
        default=default,
        metavar=_metavar(declared),
        help=described(declared),
    )


def chosen(options: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """The options that were given, by name."""
    values = vars(options)
    return {name: values[name] for name in names if values[name] is not None}


def described(declared: Parameter) -> str:
    """The help of an option: meaning, bounds or choices, and default."""
    choices = f"; {declared.bounds()}" if declared.choices else ""
    default = declared.empty if declared.default is None else f"{declared.default:{_format(declared)}}"
    return f"{declared.about}{choices} (default {default})"


def _metavar(declared: Parameter) -> str:
    if declared.name in BLOCKS:
        return "BLOCK"
    if isinstance(declared, Size):
        return "BYTES"
    return "SECONDS" if declared.unit == "s" else METAVARS[declared.kind]


def _format(declared: Parameter) -> str:
    return "g" if declared.kind is float else ""


def _reader(declared: Parameter) -> Callable[[str], object]:
    """The conversion of an option's text; argparse adds the option's name to the message."""

    def read(text: str) -> object:
        try:
            return declared.check(text)
        except InputError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read
