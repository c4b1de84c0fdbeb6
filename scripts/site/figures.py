"""Figures of Matplotlib on the site: each on a light and on a dark ground, with words that say what is seen."""

from __future__ import annotations

import base64
import html
import io

from matplotlib.figure import Figure

from workbench.plots.figures.style import NotebookFigure, on_dark

DPI = 160
SCHEMES = ("light", "dark")


def drawn_twice(figure: Figure, kind: str) -> dict[str, bytes]:
    """The figure as a file of some kind, such as "svg", for each colour scheme. The figure is dark afterwards."""
    found = {}
    for scheme in SCHEMES:
        if scheme == "dark":
            on_dark(figure)
        content = io.BytesIO()
        figure.savefig(content, format=kind, dpi=DPI)
        found[scheme] = content.getvalue()
    return found


def shown_twice(figure: NotebookFigure) -> str:
    """What a kernel of the site shows of a figure: a picture for each scheme, of which the page keeps the data."""
    alt = html.escape(figure.words, quote=True)
    pictures = (
        f'<img data-scheme="{scheme}" alt="{alt}" src="data:image/png;base64,{base64.b64encode(data).decode()}">'
        for scheme, data in drawn_twice(figure, "png").items()
    )
    return f"<div>{''.join(pictures)}</div>"
