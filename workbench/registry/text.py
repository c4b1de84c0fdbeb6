"""The text of a block: `name`, or `name:argument`, where the argument has one of three forms.

The value of the first parameter (`neumann:2`, `blocks:6`), values by name (`hybrid3:share=0.4,fused=no`), or both
(`schwarz:3x3,overlap=4`). Commas within parentheses or "..." belong to the value.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence

from workbench.errors import InputError, quoted


def values_by_name(argument: str, names: Sequence[str], block: str) -> dict[str, str]:
    """Values by name from the text after the colon. names: of the parameters of the block.

    Raises InputError for a value without a name among others, and for a name that is given twice.
    """
    parts, values = _parts(argument), {}
    # A path may contain =, a parameter name cannot be a path.
    if not ("=" in argument and argument.partition("=")[0].strip().isidentifier()):
        keys = [part.partition("=") for part in parts[1:]]
        if not keys or not all(equals and key.strip() in names for key, equals, _ in keys):
            return {names[0]: argument}
        values = {names[0]: parts.pop(0)}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals:
            raise InputError(f"{block}: parameters are written key=value,key=value, got {part!r}")
        if key.strip() in values:
            raise InputError(f"{block}: parameter {key.strip()} is given twice in {quoted(argument)}")
        values[key.strip()] = _unquoted(value.strip())
    return values


def quoted_where_needed(value: object) -> str:
    """A value as the text after key=, in quotes where it contains delimiters."""
    text = str(value)
    return json.dumps(text) if any(mark in text for mark in ',"()') or text != text.strip() else text


def _parts(argument: str) -> list[str]:
    """Split at the commas that are neither in parentheses nor in quotes."""
    cuts, depth, in_quotes, escaped = [-1], 0, False, False
    for place, character in enumerate(argument):
        if escaped or (in_quotes and character == "\\"):
            escaped = not escaped
        elif character == '"':
            in_quotes = not in_quotes
        elif not in_quotes:
            depth = max(0, depth + (character == "(") - (character == ")"))
            if character == "," and depth == 0:
                cuts.append(place)
    return [argument[first + 1 : last] for first, last in itertools.pairwise([*cuts, len(argument)])]


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] == '"':
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text
