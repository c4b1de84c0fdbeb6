"""Names of several runs that are shown together: of what differs among them, and no longer than a legend has room for.

A legend, a table and a menu show runs side by side. What all have in common is said once, in their title; a name has
what tells its run from the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from workbench.words.names import LEVELS, Parts, method_name, sentence_case, shortened

LONGEST = 40
"""Characters of a name, where there are few runs: what the legend of a plot has room for."""
MOST_CHOICES = 12
"""Differing parts of which each may be left out; with more only absences are."""


def distinct_names(runs: Sequence[Parts], *without: str) -> list[str]:
    """A name for each of several runs, of the parts in which they differ; the method of all where nothing differs.

    A part is left out where the names tell the runs apart without it: what a run does not have, such as no deflation;
    then, while a name is longer than `LONGEST`, the last of the other parts. What is too long
    still is cut, and numbered where the cut makes names equal.
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
    names = _cut(joined) if len(runs) > 1 else {name: sentence_case(name) for name in joined}
    named = [names[name] or method_name(parts) for name, parts in zip(joined, runs, strict=True)]
    return [shortened(name, LONGEST) for name in named] if len(runs) > 1 else named


def absent(key: str, text: str) -> bool:
    """True for a part that says that a run has something not: no deflation, b: default of the problem."""
    return text == f"no {key}" if key in LEVELS else text.endswith(": default of the problem") or text == "ranks: 1"


def _joined(runs: Sequence[Parts]) -> list[str]:
    return [", ".join(parts.values()) for parts in runs]


def _told_apart(fewer: Sequence[Parts], runs: Sequence[Parts]) -> bool:
    """True if names of fewer parts are none of them empty, and as many different ones as before."""
    names = _joined(fewer)
    return all(names) and len({*names}) == len({*_joined(runs)})


def _cut(names: Sequence[str]) -> dict[str, str]:
    """Names as sentences, cut to `LONGEST`; those that are equal by that end in a number."""
    found = {name: shortened(sentence_case(name), LONGEST) for name in names}
    times = Counter(found.values())
    numbers = {name: f" ({place})" for place, name in enumerate(found, 1)}
    return {
        name: shortened(sentence_case(name), LONGEST - len(numbers[name])) + numbers[name] if times[cut] > 1 else cut
        for name, cut in found.items()
    }
