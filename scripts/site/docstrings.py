"""Docstrings for the reference: parameters that a paragraph explains one after another become a list of their own."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import griffe

PARTS = r"(?:Raises|Returns?|Yields|Costs?|Sources?|Memory|Stores) ?\b"
FOLLOWING = re.compile(rf"(?<=[.)]) (?={PARTS})")
"""Where a sentence begins that belongs to no parameter."""
EXPLAINED = re.compile(r"(?:(?<=^)|(?<=[.;:)] ))((?:\*{0,2}\w+(?:, | and )){0,5}\*{0,2}\w+): (?=\S)")
SECTION = re.compile(r"^(?:\w[\w ]*):$", re.MULTILINE)


class ParameterLists(griffe.Extension):
    """Turns "n: cells per side. seed: of its random numbers." into a list: n and seed are parameters or fields."""

    def on_function(self, *, func: griffe.Function, **_more: Any) -> None:
        """The docstrings of functions and methods."""
        _listed(func, [each.name for each in func.parameters])

    def on_class(self, *, cls: griffe.Class, **_more: Any) -> None:
        """Those of classes, whose parameters are fields or those of `__init__`."""
        made = cls.members.get("__init__")
        names = [each.name for each in made.parameters] if isinstance(made, griffe.Function) else []
        _listed(cls, [*names, *(name for name, each in cls.members.items() if each.is_attribute)])


def _listed(described: griffe.Function | griffe.Class, names: Collection[str]) -> None:
    if described.docstring is not None and names:
        described.docstring.value = listed(described.docstring.value, names)


def listed(docstring: str, names: Collection[str]) -> str:
    """A docstring with a section "Parameters", in place of the sentences that explain them. names: of the parameters.

    The first paragraph stays, as do sections that are there already.
    """
    body, sections = docstring, ""
    if found := SECTION.search(docstring):
        body, sections = docstring[: found.start()], docstring[found.start() :]
    kept, explained = [], []
    for place, paragraph in enumerate(re.split(r"\n\s*\n", body.strip())):
        if paragraph.lstrip().startswith(("|", "-", "*", ">")) or paragraph.startswith("    "):
            kept.append(paragraph)
            continue
        rest, found_here = _taken_apart(" ".join(paragraph.split()), names)
        explained += found_here
        if place == 0 and not found_here:
            kept.append(paragraph)
        elif rest:
            kept.append(rest)
    if not explained:
        return docstring
    order = list(names)
    texts: dict[str, str] = {}
    for name, text in sorted(explained, key=lambda pair: order.index(pair[0])):
        texts[name] = f"{texts[name]} {text}" if name in texts else text
    lines = [f"    {name}: {text}" for name, text in texts.items()]
    return "\n\n".join(filter(None, ["\n\n".join(kept), "\n".join(["Parameters:", *lines]), sections.strip()]))


def _taken_apart(paragraph: str, names: Collection[str]) -> tuple[str, list[tuple[str, str]]]:
    """The sentences of a paragraph that explain no parameter, and of each parameter its explanation."""
    starts = [found for found in EXPLAINED.finditer(paragraph) if all(name in names for name in _names_of(found[1]))]
    if not starts:
        return paragraph, []
    ends = [*(each.start() for each in starts[1:]), len(paragraph)]
    rest, explained = [paragraph[: starts[0].start()].strip()], []
    for found, end in zip(starts, ends, strict=True):
        text, *after = FOLLOWING.split(paragraph[found.end() : end].strip(), maxsplit=1)
        text = text.rstrip(" ;.")
        explained += [(name, f"{text[:1].upper()}{text[1:]}.") for name in _names_of(found[1])]
        rest += after
    return " ".join(filter(None, rest)), explained


def _names_of(text: str) -> list[str]:
    return [name.strip("*") for name in re.split(r", | and ", text)]
