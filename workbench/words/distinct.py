"""Names of several runs that are shown together: of what differs among them, and no longer than a legend has room for.

A legend, a table and a menu show runs side by side. What all have in common is said once, in their title; a name has
what tells its run from the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.words.names import LEVELS, PROBLEM, Parts, method_name, sentence_case, shortened

LONGEST = 40
"""Characters of a name, where there are few runs: what the legend of a plot has room for."""
SHORTEST = 8
"""Characters of a method that are worth showing in front of settings."""
NAMING = {"solver", *LEVELS, *PROBLEM}
"""Parts that name a run without its settings."""
MOST_CHOICES = 12
"""Differing parts of which each may be left out; with more only absences are."""


def distinct_names(runs: Sequence[Parts], *without: str) -> list[str]:
    """A name for each of several runs, of the parts in which they differ; the method of all where nothing differs.

    A part is left out where the names tell the runs apart without it: what a run does not have, such as no deflation;
    then, while a name is longer than `LONGEST`, the last of the other parts. What is too long
    still is cut; where the cut makes names equal, or one the beginning of another, the first parts are cut in place of
    the last, and what is equal still is numbered. Where one run is named by its method alone, those that
    differ in settings have the method in front of these.
    without: parts that are shown elsewhere, such as in a column of their own.
    """
    keys = [key for key in dict.fromkeys(key for parts in runs for key in parts) if key not in without]
    differing = [key for key in keys if len({parts.get(key, "") for parts in runs}) > 1]
    shown = [{key: parts[key] for key in differing if parts.get(key)} for parts in runs]
    for key in reversed(differing[:MOST_CHOICES]):
        fewer = [
            {name: text for name, text in parts.items() if name != key or not absent(key, text)} for parts in shown
        ]
        shown = fewer if _told_apart(fewer, shown) else shown
    for key in reversed(differing[:MOST_CHOICES]):
        if max(map(len, _joined(shown)), default=0) > LONGEST:
            fewer = [{name: text for name, text in parts.items() if name != key} for parts in shown]
            shown = fewer if _told_apart(fewer, shown) else shown
    joined = _joined(shown)
    names = _cut(shown) if len(runs) > 1 else {name: sentence_case(name) for name in joined}
    named = [names[name] or method_name(parts) for name, parts in zip(joined, runs, strict=True)]
    if not all(joined):
        of_settings = [bool(given) and not given.keys() & NAMING for given in shown]
        whole = [
            _with_method(name, text, parts) if alone else name
            for name, text, parts, alone in zip(named, joined, runs, of_settings, strict=True)
        ]
        named = whole if len({*whole}) == len({*named}) else named
    return [shortened(name, LONGEST) for name in named] if len(runs) > 1 else named


def _with_method(name: str, text: str, parts: Parts) -> str:
    """A name of settings alone behind the method, which is cut where both are too long. text: these settings."""
    room = LONGEST - len(text) - 2
    fits = sentence_case(text) == name and room >= SHORTEST
    return f"{shortened(method_name(parts), room)}, {text}" if fits else name


def absent(key: str, text: str) -> bool:
    """True for a part that says that a run has something not: no deflation, b: default of the problem."""
    return text == f"no {key}" if key in LEVELS else text.endswith(": default of the problem") or text == "ranks: 1"


def _joined(runs: Sequence[Parts]) -> list[str]:
    return [", ".join(parts.values()) for parts in runs]


def _told_apart(fewer: Sequence[Parts], runs: Sequence[Parts]) -> bool:
    """True if names of fewer parts are none of them empty, and as many different ones as before."""
    names = _joined(fewer)
    return all(names) and len({*names}) == len({*_joined(runs)})


def _cut(runs: Sequence[Parts]) -> dict[str, str]:
    """Names as sentences, cut to `LONGEST`; those that are equal by that have shorter first parts, or end in a number.
    By the joined parts of each run."""
    parts = {", ".join(each.values()): [*each.values()] for each in runs}
    found = {name: shortened(sentence_case(name), LONGEST) for name in parts}
    equal = _ambiguous(found)
    found |= {name: sentence_case(_with_short_head(parts[name])) for name in equal}
    numbers = {name: f" ({place})" for place, name in enumerate(found, 1)}
    still = _ambiguous(found)
    return {
        name: shortened(sentence_case(name), LONGEST - len(numbers[name])) + numbers[name] if name in still else cut
        for name, cut in found.items()
    }


def _ambiguous(found: Mapping[str, str]) -> set[str]:
    """The names whose cut is that of another one, or differs from it by the sign of the cut alone, and those of which
    the cut has left the beginning of another one."""
    stems = {name: cut.rstrip("…") for name, cut in found.items()}
    return {
        name
        for name, stem in stems.items()
        if sum(other == stem or (stem != found[name] and other.startswith(stem)) for other in stems.values()) > 1
    }


def _with_short_head(parts: Sequence[str]) -> str:
    """The parts of a name with the first ones cut, as few as there is room for, and the others whole; cut at the end
    where there is no room even for the last one."""
    for first in range(1, len(parts)):
        head, tail = ", ".join(parts[:first]), ", ".join(parts[first:])
        room = LONGEST - len(tail) - 2
        if room >= SHORTEST:
            return f"{shortened(head, room)}, {tail}"
    return shortened(", ".join(parts), LONGEST)
