"""Contrast of curves on light and dark pages, and dashes and markers that distinguish them without colour."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import workbench.live
from workbench.figures import CURVES
from workbench.figures.style import COLOURS

THEME = (Path(workbench.live.__file__).parent / "static" / "kit" / "theme.js").read_text(encoding="utf-8")
PAGES = {"light": ("#ffffff", "#212121"), "dark": ("#111111", "#ffffff")}
"""Paper and ink of JupyterLab's two themes."""
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
@pytest.mark.parametrize("colour", COLOURS)
def test_every_colour_has_contrast_on_the_page(colour, page):
    paper, ink = PAGES[page]
    # The page draws this one colour in its own ink.
    swallowed = re.findall(r'colour === "(#[0-9a-f]{6})" \? colours\.ink', THEME)
    assert swallowed == ["#000000"]
    assert contrast(ink if colour in swallowed else colour, paper) >= LEAST


def test_the_light_theme_is_the_default_of_the_script():
    found = dict(re.findall(r'(paper|ink): \["[a-z0-9-]+", "(#[0-9a-f]{6})"\]', THEME))
    assert (found["paper"], found["ink"]) == PAGES["light"]


def test_pairs_of_dash_and_marker_repeat_only_when_all_are_used():
    assert len({(style.dash, style.marker) for style in CURVES[:30]}) == 30
