"""Figures as SVG in the page, whose named parts show their name under the pointer."""

from __future__ import annotations

import html
import io
import re

from matplotlib.figure import Figure

from workbench.live._watching import PAINTING

_PROLOGUE = re.compile(r"^.*?(?=<svg)", re.DOTALL)
_NAMED = re.compile(r'<g id="(column \d+)">')


def svg_with_tooltips(figure: Figure) -> str:
    """The figure as an SVG element as wide as its place, with a tooltip on every artist whose gid is `column j`."""
    written = io.StringIO()
    with PAINTING:
        figure.savefig(written, format="svg")
    text = _PROLOGUE.sub("", written.getvalue(), count=1)
    text = _NAMED.sub(lambda found: f"<g><title>{html.escape(found[1])}</title>", text)
    # As wide as its place; the height follows from the viewBox.
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r'\1 width="100%"', text, count=1)
    return re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
