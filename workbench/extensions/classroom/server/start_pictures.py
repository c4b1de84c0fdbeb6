"""Pictures of the start page as SVG: a race that moves, and a small picture for each link, from recorded numbers.

The numbers are those of `scripts.record_start`; colours and motion are in `site.css`.
"""

from __future__ import annotations

import dataclasses
import functools
import html
import math
from collections.abc import Sequence
from pathlib import Path

from workbench.errors import InputError
from workbench.files.codec import read_json
from workbench.records.typed import read
from workbench.words.numbers import duration, tick

FILE = Path(__file__).parent / "data" / "start.json"
WIDE, HIGH = 84, 84
"""A small picture, in units of its view."""
RACE_WIDE, RACE_HIGH, LEFT, BOTTOM, TOP = 640, 270, 44, 28, 8
HIGHEST, LOWEST = 4, -7
"""Powers of ten at the ends of the residuals of the race."""
LEVELS = range(HIGHEST, LOWEST, -2)
"""Those with a line."""
LATEST = 1.6
"""The race is drawn to this many times the end of its third method; a slower one runs out of the picture."""
MOVING = 80
"""Percent of a turn in which the race moves; then it rests."""
NUMBERS = {"line": 2, "circle": 3, "box": 4, "bar": 1}
"""Numbers in a row of a mark; those of cells are any."""


@dataclasses.dataclass(frozen=True)
class Mark:
    """A part of a small picture, in shares of its side, upwards. kind: "line" of points (x, y), "circle" (x, y,
    radius), "box" (left, bottom, right, top), "bar" (length), or "cells", rows of values from 0 to 1, from the bottom,
    None for a gap. style: the colour, 0 for a pale one."""

    kind: str
    at: list[list[float | None]]
    style: int


@dataclasses.dataclass(frozen=True)
class Picture:
    """The picture of a link, by its title."""

    title: str
    marks: list[Mark]


@dataclasses.dataclass(frozen=True)
class Contestant:
    """A method of the race: relative residuals over seconds with setup."""

    name: str
    seconds: list[float]
    residuals: list[float]


@dataclasses.dataclass(frozen=True)
class StartData:
    """The recorded numbers. problem: of the race, in words. date: in ISO format."""

    date: str
    machine: str
    problem: str
    race: list[Contestant]
    pictures: list[Picture]


@functools.cache
def start_data() -> StartData | None:
    """The recorded numbers; None where they cannot be read, and the page has no pictures."""
    try:
        found = read(StartData, read_json(FILE.read_bytes()), "recorded numbers")
    except (OSError, InputError):
        return None
    marks = (mark for each in found.pictures for mark in each.marks)
    return found if all(map(_can_race, found.race)) and all(map(_can_draw, marks)) else None


def _can_race(method: Contestant) -> bool:
    """True for a curve with an end, whose residuals have a logarithm."""
    seconds, residuals = method.seconds, method.residuals
    ends = len(seconds) == len(residuals) > 0 and seconds[-1] > 0
    return ends and all(map(math.isfinite, seconds)) and all(0 < value < math.inf for value in residuals)


def _can_draw(mark: Mark) -> bool:
    """True for a mark of a known kind whose rows have its numbers."""
    lengths = {len(row) for row in mark.at}
    fits = 0 not in lengths if mark.kind == "cells" else lengths == {NUMBERS.get(mark.kind)}
    return bool(lengths) and fits and all(math.isfinite(value or 0.0) for row in mark.at for value in row)


def picture_of(title: str) -> str:
    """The small picture of a link; empty without one."""
    stored = start_data()
    marks = next((each.marks for each in stored.pictures if each.title == title), []) if stored else []
    parts = "".join(_drawn(mark) for mark in marks)
    view = f'viewBox="-2 -2 {WIDE + 4} {HIGH + 4}"'
    return f'<svg class="site-picture" {view} aria-hidden="true">{parts}</svg>' if parts else ""


def _drawn(mark: Mark) -> str:
    style = f'class="site-{mark.kind} site-s{mark.style}"'
    if mark.kind == "cells":
        return _cells(mark.at, style)
    at = [[value or 0.0 for value in row] for row in mark.at]
    if mark.kind == "line":
        return f'<polyline {style} points="{" ".join(f"{_x(x)},{_y(y)}" for x, y in at)}"/>'
    if mark.kind == "circle":
        return "".join(f'<circle {style} cx="{_x(x)}" cy="{_y(y)}" r="{_x(radius)}"/>' for x, y, radius in at)
    if mark.kind == "box":
        return "".join(
            f'<rect {style} x="{_x(left)}" y="{_y(top)}" width="{_x(right - left)}" height="{_x(top - bottom)}"/>'
            for left, bottom, right, top in at
        )
    step = HIGH / len(at)
    bars = (
        f'<rect {style} y="{k * step + 3:.1f}" width="{_x(row[0])}" height="{step - 6:.1f}"/>'
        for k, row in enumerate(at)
    )
    return "".join(bars)


def _cells(rows: Sequence[Sequence[float | None]], style: str) -> str:
    """Cells whose opacity is their value. Neighbours of the same tenth in a row are one rectangle."""
    wide, high = WIDE / len(rows[0]), HIGH / len(rows)
    parts = []
    for k, row in enumerate(reversed(rows)):
        tenths = [None if value is None else round(10 * value) for value in row]
        begin = 0
        for end in range(1, len(row) + 1):
            if end < len(row) and tenths[end] == tenths[begin]:
                continue
            if tenths[begin]:
                at = f'x="{begin * wide:.1f}" y="{k * high:.1f}" width="{(end - begin) * wide:.1f}" height="{high:.1f}"'
                parts.append(f'<rect {at} opacity="{(tenths[begin] or 0) / 10:g}"/>')
            begin = end
    return f"<g {style}>{''.join(parts)}</g>"


def _x(share: float) -> str:
    return f"{share * WIDE:.1f}"


def _y(share: float) -> str:
    return f"{(1 - share) * HIGH:.1f}"


def race_picture() -> str:
    """The recorded race: curves that grow as they did, slowed down, and below it the methods with their times, the
    fastest first. Empty without the numbers."""
    stored = start_data()
    if stored is None or not stored.race:
        return ""
    race = sorted(stored.race, key=lambda each: each.seconds[-1])
    latest = min(LATEST * race[min(2, len(race) - 1)].seconds[-1], 1.05 * race[-1].seconds[-1])
    across = (RACE_WIDE - LEFT) / latest
    lines, names, rules = [], [], []
    for k, each in enumerate(race, 1):
        points = [(LEFT + across * at, _down(value)) for at, value in zip(each.seconds, each.residuals, strict=True)]
        lines.append(
            f'<polyline class="site-line site-s{k}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'
        )
        lines.append(f'<circle class="site-end site-s{k}" cx="{points[-1][0]:.1f}" cy="{points[-1][1]:.1f}" r="4"/>')
        done = min(MOVING, MOVING * each.seconds[-1] / latest)
        rules.append(
            f"@keyframes site-done{k} {{ 0%, {done:.1f}% {{ opacity: .3 }} {done + 1:.1f}%, 100% {{ opacity: 1 }} }}"
        )
        moving = f'style="animation-name: site-done{k}"'
        time = html.escape(duration(each.seconds[-1], 2))
        names.append(f'<li><i class="site-s{k}"></i>{html.escape(each.name)} <b {moving}>{time}</b></li>')
    grid = "".join(_level(10.0**power) for power in LEVELS)
    box = f'x="{LEFT}" y="0" width="{RACE_WIDE - LEFT}" height="{RACE_HIGH - BOTTOM}"'
    words = f"relative residual over time with setup, to {duration(latest, 2)}"
    title = f'<text x="{RACE_WIDE}" y="{RACE_HIGH - 8}" text-anchor="end">{words}</text>'
    drawn = f'<rect class="site-frame" {box}/>{"".join(lines)}'
    about = f"Relative residual of four methods over time; the fastest is {race[0].name}."
    return (
        f'<style>{"".join(rules)}</style><svg class="site-race" viewBox="0 0 {RACE_WIDE} {RACE_HIGH}" role="img" '
        f'aria-label="{html.escape(about)}"><clipPath id="site-box"><rect {box}/></clipPath>{grid}{title}'
        f'<g clip-path="url(#site-box)"><g class="site-moving">{drawn}</g></g></svg>'
        f'<ol class="site-names">{"".join(names)}</ol>'
        f'<span class="site-made">{html.escape(stored.problem)}, recorded on {html.escape(stored.machine)}</span>'
    )


def _level(residual: float) -> str:
    """A line of the grid with its number."""
    y, words = _down(residual), tick(residual, powers=True)
    text = f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{words}</text>'
    return f'<path class="site-grid" d="M{LEFT} {y:.1f}H{RACE_WIDE}"/>{text}'


def _down(residual: float) -> float:
    """The height of a residual in the picture of the race."""
    share = (HIGHEST - math.log10(residual)) / (HIGHEST - LOWEST)
    return TOP + min(1.0, max(0.0, share)) * (RACE_HIGH - TOP - BOTTOM - 6)
