"""Numbers, times and amounts as the page writes them; `static/ui/numbers.js` writes them alike.

Three significant digits, the unit that fits, a true minus, and thin spaces, at which no line ends, in groups of three
digits and before a unit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

THIN = "\u202f"
MINUS = "\u2212"
MISSING = "–"
NOTICED = 0.1
"""Seconds from which on a wait in the queue is said."""
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
Units = tuple[tuple[float, str, float], ...]
TIMES: Units = ((1.0, "s", 0.1), (1e-3, "ms", 1e-3), (1e-6, "µs", 1e-6), (1e-9, "ns", 0.0))
"""Size, name, and the value from which a unit is used."""
AMOUNTS: Units = ((1e12, "TB", 1e12), (1e9, "GB", 1e9), (1e6, "MB", 1e6), (1e3, "kB", 1e3), (1.0, "B", 0.0))


def number(value: float | None, digits: int = 3) -> str:
    """A number with this many digits; a power of ten below 0.001 and from a million on: 0.0407, 15.9, 8.71 × 10⁻⁷."""
    if value is None or not math.isfinite(value):
        return MISSING
    if value == 0:
        return "0"
    mantissa, exponent = f"{abs(value):.{digits - 1}e}".split("e")
    power = int(exponent)
    sign = MINUS if value < 0 else ""
    if -3 <= power < 6:
        decimals = max(0, digits - 1 - power)
        return sign + _grouped(f"{float(f'{mantissa}e{exponent}'):.{decimals}f}")
    return sign + scientific(mantissa, power)


def relative(value: float) -> str:
    """A number of a run with three digits, such as a relative residual; "not finite" for any that is not."""
    return number(value) if math.isfinite(value) else "not finite"


def percent(share: float) -> str:
    """A share as a percentage; a small one keeps a digit, since 0% would mean none."""
    return f"{share:.0%}" if share >= 0.01 or share == 0 else f"{100 * share:.1g}%"


def deviation_text(percents: float | None) -> str:
    """The deviation of a value from another, given in percent: +36%, −4.1%; where it is ten times the other or more,
    how many times: 1210 times."""
    if percents is None:
        return MISSING
    if not math.isfinite(percents):
        return "not finite"
    if percents >= 900:
        return f"{number(float(f'{1 + percents / 100:.3g}'))} times"
    return f"{'+' if percents > 0 else ''}{number(percents)}%"


def seconds(value: float) -> str:
    """Seconds without a unit, with three decimals below ten seconds, one above."""
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def count(value: int) -> str:
    """An exact count, grouped from five digits on: 1234, 2 097 152."""
    return (MINUS if value < 0 else "") + _grouped(str(abs(value)))


def counted(value: int, noun: str, plural: str = "") -> str:
    """An exact count with its noun: 1 iteration, 2 iterations. plural: where it is not the noun and an s."""
    return f"{count(value)} {noun if value == 1 else plural or f'{noun}s'}"


def apart(one: float, other: float, write: Callable[[float, int], str] = number) -> tuple[str, str]:
    """Two values with as many digits as distinguish them, at least 3; equal texts only for values that agree in 12.

    write: writes a value with a number of digits, such as `number` or `duration`.
    """
    for digits in range(3, 13):
        texts = write(one, digits), write(other, digits)
        if texts[0] != texts[1]:
            return texts
    return write(one, 3), write(other, 3)


def queued(ahead: int, noun: str = "run") -> str:
    """A clause for a run that waits: queued, 2 runs before yours; starting, where it is the next one. noun: of what is
    before it."""
    return f"queued, {counted(ahead, noun)} before yours" if ahead else "starting"


def waited(value: float) -> str:
    """A clause on the seconds in the queue: waited 3.1 s; empty for a wait that nobody notices."""
    return f"waited {duration(value, 2)}" if value >= NOTICED else ""


def duration(value: float | None, digits: int = 3) -> str:
    """A time in the unit that fits: 0.458 s, 15.9 ms, 1.64 s, 2 min 5 s."""
    if value is None or not math.isfinite(value):
        return MISSING
    if value >= 99.95:
        minutes, rest = divmod(round(value), 60)
        hours, minutes = divmod(minutes, 60)
        parts = ((hours, "h"), (minutes, "min"), (rest if not hours else 0, "s"))
        return " ".join(f"{whole}{THIN}{unit}" for whole, unit in parts if whole)
    return _in_units(value, TIMES, digits)


def compiling(seconds: float | None) -> str:
    """A clause on the time of compiling kernels, which is in no other time of a run; empty for next to nothing."""
    return f"compiling kernels took {duration(seconds)} more, once per machine" if seconds and seconds >= 0.01 else ""


def amount(nbytes: float) -> str:
    """Bytes in the unit that fits: 268 MB."""
    return _in_units(nbytes, AMOUNTS)


def unit_of(kind: str, largest: float) -> tuple[str, float]:
    """The unit of an axis that reaches to `largest`, and how many of it are one of `kind`: "s", "B", "" and "count" for
    none, or any other unit, which is kept."""
    if kind not in ("s", "B"):
        return ("" if kind == "count" else kind), 1.0
    size, unit, _ = next(entry for entry in (TIMES if kind == "s" else AMOUNTS) if largest >= entry[2])
    return unit, 1.0 / size


def said(value: float, kind: str = "") -> str:
    """A value of a kind, as `unit_of` takes it, in words."""
    kinds = {"s": duration, "B": amount, "count": lambda value: count(round(value)), "": number}
    return kinds[kind](value) if kind in kinds else f"{number(value)}{THIN}{kind}"


def tick(value: float, *, powers: bool = False) -> str:
    """A number at an axis or a line: 0.25, 20 000, 10⁻⁶. powers: all of them are written as powers of ten."""
    if powers and value > 0:
        exponent = round(math.log10(value))
        return str(10**exponent) if exponent in (0, 1) else f"10{str(exponent).translate(SUPERSCRIPTS)}"
    return chosen(value, 1e7)


def chosen(value: float, most: float = 1e6, digits: int = 7) -> str:
    """A number that someone has chosen, such as a tolerance, with up to seven digits, or as many as are asked for.

    Below 0.001 and from `most` on in powers of ten: 0.25, 20 000, 10⁻⁶, 2.5 × 10⁶.
    """
    sign = MINUS if value < 0 else ""
    if value == 0 or 1e-3 <= abs(value) < most:
        return sign + _grouped(f"{abs(value):.{digits}g}")
    mantissa, exponent = f"{abs(value):.{digits - 1}e}".split("e")
    return sign + scientific(mantissa.rstrip("0").rstrip("."), int(exponent))


def scientific(mantissa: str, exponent: int) -> str:
    """A number by its mantissa and its power of ten: 10⁻⁶, 2.5 × 10⁶."""
    power = f"10{str(exponent).translate(SUPERSCRIPTS)}"
    return power if mantissa == "1" else f"{mantissa}{THIN}×{THIN}{power}"


def rounded(value: float) -> str:
    """At most four significant digits: 1, 0.01011, 98.9."""
    return tick(float(f"{value:.4g}"))


def span(low: float, high: float, say: Callable[[Any], str]) -> str:
    """The least and the greatest of some values in words. say: writes one of them."""
    return f"{say(low)} everywhere" if low == high else extent(low, high, say)


def extent(low: float, high: float, say: Callable[[Any], str]) -> str:
    """A range in front of what it counts, as in: 60 to 100 unknowns. say: writes an end."""
    return say(low) if low == high else f"{say(low)} to {say(high)}"


def _in_units(value: float, units: Units, digits: int = 3) -> str:
    if value == 0:
        return f"0{THIN}{'s' if units is TIMES else 'B'}"
    size, unit, _ = next(entry for entry in units if abs(value) >= 0.9995 * entry[2])
    return f"{number(value / size, digits)}{THIN}{unit}"


def _grouped(text: str) -> str:
    whole, dot, rest = text.partition(".")
    if len(whole) > 4:
        whole = f"{int(whole):,}".replace(",", THIN)
    return whole + dot + rest


def ordinal(number: int) -> str:
    """An ordinal number as text: 2nd, 3rd, 4th, 11th, 21st."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
