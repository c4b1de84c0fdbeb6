"""Settings as Python's own numbers and texts: NumPy's read back neither from JSON nor from what repr makes of them."""

from __future__ import annotations

import dataclasses
import operator
from typing import Any

from workbench.errors import InputError, quoted

WHOLE_NUMBERS = {"memory_limit", "seed", "maxiter", "stagnation", "check_every", "true_every"}
NUMBERS = {"rtol", "atol", "max_seconds"}
TEXTS = {"device", "norm", "rhs", "x0"}


def make_plain(settings: Any) -> None:
    """Convert the fields of those names of a frozen dataclass; a field that is None by default may stay None.

    1e3 is a whole number too. Raises InputError for what is no number.
    """
    for field in dataclasses.fields(settings):
        given = getattr(settings, field.name)
        if not (given is None and field.default is None):
            object.__setattr__(settings, field.name, _plain(field.name, given))


def _plain(name: str, given: Any) -> Any:
    if name in TEXTS:
        return str(given)
    if name not in WHOLE_NUMBERS | NUMBERS:
        return given
    try:
        if name in NUMBERS:
            return float(given)
        # Python's floats say whether they are whole, and so do NumPy's.
        is_whole = getattr(given, "is_integer", None)
        return int(given) if is_whole and is_whole() else int(operator.index(given))
    except (TypeError, ValueError, OverflowError):
        noun = "a number" if name in NUMBERS else "a whole number"
        raise InputError(f"{name} must be {noun}, got {quoted(given)}") from None
