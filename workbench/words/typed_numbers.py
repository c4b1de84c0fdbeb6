"""Numbers as people type them: 9,0 and -5/2, 2^3 and sqrt(2), the minus sign of a page, 9° with its unit, and lists."""

from __future__ import annotations

import math
import re

from workbench.errors import InputError, quoted

LONGEST = 60
"""Characters of a number."""
_MINUS = str.maketrans(dict.fromkeys("\u2212\u2013\ufe63\uff0d", "-"))
"""Signs that are read as minus: those of a page, of word processors and of other keyboards."""
_SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_PLAIN = r"(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)"
_DIGITS = rf"{_PLAIN}(?:[eE][-+]?[0-9]+)?"
_RATIO = rf"{_DIGITS}(?:/{_DIGITS})?"
_ROOT = rf"(?:{_DIGITS}\s*[×x*·]?\s*)?(?:sqrt|√)\s*(?:{_DIGITS}|\(\s*{_RATIO}\s*\))"
_RAISED = rf"{_PLAIN}(?:(?:\^|\*\*)(?:[-+]?{_PLAIN}|\(\s*[-+]?{_RATIO}\s*\))|[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)"
_OPERAND = rf"(?:{_ROOT}|{_RAISED}|{_DIGITS})"
_NUMBER = re.compile(rf"([-+]?\s*{_OPERAND})\s*(?:/\s*([-+]?\s*{_OPERAND}))?")
_OPERATION = re.compile(r"(.*?)[×x*·]?(sqrt|√|\^|\*\*|(?=[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]))(.+)")
_ROOTS = ("sqrt", "√")
_POWER = re.compile(
    rf"(?:(?<![0-9.,/])(?<!/[-+])({_PLAIN})(/[-+]?{_PLAIN})?\s*[×x*·]\s*)?"
    r"(?<![0-9.,])10(?:\^|\*\*|(?=[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]))([-+⁻]?[0-9⁰¹²³⁴⁵⁶⁷⁸⁹]+)(?![0-9⁰¹²³⁴⁵⁶⁷⁸⁹.,])"
)
_DEGREES = re.compile(r"\s*deg(?:rees?)?$")
_OVER = re.compile(r"\s*/\s*([-+]?)\s*")
_JOINED = re.compile(r"\s*([/×x*·])\s*")
_GROUPS = re.compile(r"(?<=[0-9])[\s_'’](?=[0-9]{3}(?:[^0-9]|$))")
THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2}(?:,[0-9]{3})+")
"""Digits whose commas may stand between thousands, or one of them before decimals."""


def typed_number(text: str, unit: str = "", *, whole: bool = False) -> float:
    """The number of a text: a decimal point or comma, a fraction, a power as in 2 × 10⁻³ or 2^3, a root as in sqrt(2)
    or 3√2, and its unit or none.

    whole: a whole number is expected, so that commas before three digits are between thousands. Raises InputError for a
    text that is no finite number.
    """
    plain = text.strip().translate(_MINUS)
    unit = unit.translate(_MINUS)
    if unit == "°":
        plain = _DEGREES.sub("", plain)
    if unit:
        plain = plain.removesuffix(unit).removesuffix(unit.removesuffix("s")).rstrip()
    plain = _POWER.sub(_scientific, _OVER.sub(r"/\1", _GROUPS.sub("", plain[: LONGEST + 1])))
    if whole and THOUSANDS.fullmatch(plain):
        plain = plain.replace(",", "")
    found = _NUMBER.fullmatch(plain) if len(plain) <= LONGEST else None
    value = _quotient(found[1], found[2] or "1") if found else math.nan
    if not math.isfinite(value):
        example = "9" if whole else "2.5, 2,5 or 5/2"
        raise InputError(f"{quoted(text)} is not a number such as {example}")
    return value


def typed_numbers(text: str) -> list[float]:
    """The numbers of a text, separated by semicolons, spaces or commas; brackets around them are left out.

    A comma within digits is a decimal comma if anything else separates the numbers. Raises InputError for others.
    """
    return [typed_number(part) for part in separated(text.strip().strip("{}[]()"))]


def separated(text: str) -> list[str]:
    """The parts of a text between semicolons, spaces or commas; see `typed_numbers`."""
    # Spaces around the sign of a fraction or a power are within a number.
    parts = [part for part in re.split(r"\s*;\s*|,\s+|\s+", _JOINED.sub(r"\1", text.strip())) if part]
    if len(parts) == 1:
        parts = parts[0].split(",")
    return [part for part in (part.rstrip(",") for part in parts) if part]


def _scientific(power: re.Match[str]) -> str:
    """A power of ten, with or without a factor before it, as code writes it: 2 × 10⁻³ is 2e-3, 1/2 × 10³ is 1e3/2."""
    return f"{power[1] or '1'}e{power[3].translate(_SUPERSCRIPTS)}{power[2] or ''}"


def _quotient(above: str, below: str) -> float:
    try:
        return _operand(above) / _operand(below)
    except (ZeroDivisionError, OverflowError, ValueError):
        return math.nan


def _operand(text: str) -> float:
    """Digits, a power of them, or a multiple of a root, with a sign or none. Raises ValueError for 0 to a negative
    power, and OverflowError for one that is too large."""
    joined = "".join(text.split()).replace(",", ".")
    size, sign = joined.lstrip("+-"), -1 if joined.startswith("-") else 1
    found = _OPERATION.fullmatch(size)
    if not found:
        return sign * float(size)
    before, operation, behind = found.groups()
    above, _, below = behind.strip("()").translate(_SUPERSCRIPTS).partition("/")
    inner = float(above) / float(below or "1")
    if operation in _ROOTS:
        return sign * float(before or "1") * math.sqrt(inner)
    return sign * math.pow(float(before), inner)
