"""Where a lesson leads, as links that open the workbench on a problem and a view."""

from __future__ import annotations

import html
import os
import re

import ipywidgets as widgets

from workbench.extensions.lessons import Lesson
from workbench.extensions.lessons.next_step import NextStep
from workbench.live.ui.frontend import in_voila
from workbench.run.choices.share_link import to_python

HEADING = "Next steps in the workbench"


def next_steps(lesson: Lesson) -> widgets.HTML:
    """A list of the next steps of a lesson: links to the workbench of the same server, which open a new tab, since this
    page has answers and a kernel; in a notebook the calls that open it there."""
    made = _link if in_voila() else _call
    listed = "".join(f"<li>{made(each)}</li>" for each in lesson.next_steps)
    return (
        widgets.HTML(f"<h2>{HEADING}</h2><ul>{listed}</ul>")
        .add_class("jp-RenderedHTMLCommon")
        .add_class("wb-nextsteps")
    )


def _link(step: NextStep) -> str:
    # Relative, since a proxy may serve the pages below another address. A lesson lies two levels below the workbench.
    above = "../../" if os.environ.get("SCRIPT_NAME", "").endswith("/") else "../"
    address = html.escape(f"{above}{step.query}")
    return f'<a href="{address}" target="_blank" rel="noopener">{html.escape(step.words)}</a>'


def _call(step: NextStep) -> str:
    words = html.escape(step.words)
    if step.made is None:
        return words
    chosen = re.sub(r"\s+", " ", to_python(step.made()).partition("configuration = ")[2])
    call = f"workbench({chosen.replace('( ', '(').replace(', )', ')').strip()})"
    return f"{words} <code>{html.escape(call)}</code>"
