"""Contrast of curves on light and dark pages, and dashes and markers that distinguish them without colour."""

import re
from pathlib import Path

import pytest

import workbench.live
from workbench.plots.scenes.style import COLOURS, CURVES

THEME = (Path(workbench.live.__file__).parent / "static" / "ui" / "theme.js").read_text(encoding="utf-8")
PAGES = {"light": ("#ffffff", "#1b1d22"), "dark": ("#14161a", "#e9eaed")}
"""Paper and ink of the two themes."""
SERIES = re.findall(r'\["(#[0-9a-f]{6})", "(#[0-9a-f]{6})"\]', THEME)
"""Of each series, on a light and on a dark ground."""
LEAST = 3.0
"""WCAG 2.2, success criterion 1.4.11, for graphics that are required to understand the content."""


def luminance(colour):
    """Relative luminance as in WCAG 2.2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_that_of_the_standard():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("place", range(len(COLOURS)))
def test_every_colour_has_contrast_on_the_page(place, page):
    light, dark = SERIES[place]
    assert contrast(light if page == "light" else dark, PAGES[page][0]) >= LEAST


def test_the_page_has_the_colours_of_print_in_their_order():
    assert tuple(light for light, _ in SERIES) == COLOURS


def test_the_grounds_are_those_of_the_script():
    tokens = {
        name: pair for name, *pair in re.findall(r'(paper|ink|soft): .*"(#[0-9a-f]{6})", "(#[0-9a-f]{6})"', THEME)
    }
    assert {name: tuple(pair) for name, pair in tokens.items() if name != "soft"} == {
        "paper": (PAGES["light"][0], PAGES["dark"][0]),
        "ink": (PAGES["light"][1], PAGES["dark"][1]),
    }
    assert contrast(tokens["soft"][0], PAGES["light"][0]) >= 4.5
    assert contrast(tokens["soft"][1], PAGES["dark"][0]) >= 4.5


def test_dash_and_marker_tell_eight_runs_apart_without_colour():
    assert len({style.dash for style in CURVES[:8]}) == len({style.marker for style in CURVES[:8]}) == 8
