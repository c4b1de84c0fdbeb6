"""Plots on a page without a kernel: records, traces and scenes as HTML, drawn by the scripts of the views."""

from __future__ import annotations

import base64
import html
import itertools
import json
from pathlib import Path
from typing import Any

from workbench.errors import InputError
from workbench.files import write
from workbench.live.inspect.replay import reported
from workbench.live.plots.curve import Curve
from workbench.live.plots.timeline import MOST_EVENTS
from workbench.live.plots.timeline_messages import TimelineRun, TimelineRuns
from workbench.live.ui.assets import module, style_sheet
from workbench.live.ui.run_handle import RunHandle
from workbench.plots.scenes.convergence import convergence_scene
from workbench.plots.scenes.scene import Scene
from workbench.records import Record, Trace
from workbench.words.names import sentence_case

CHART, TIMELINE = "plots/chart.js", "plots/timeline.js"
LANES = 300
"""Pixels of the lanes of a timeline at most."""
THEMES = ("auto", "light", "dark")
_NUMBERS = itertools.count(1)

Shows = Scene | Trace | Record


def html_of(*shown: Shows, height: int = 0, assets: bool = True, group: str = "") -> str:
    """HTML in which these can be zoomed, hovered and hidden by their legends, to be put into any page.

    A record is drawn as its convergence, and as its timeline where it was traced; what is given together is linked, as
    in a notebook: an iteration that is pointed at in one is shown in the others. height: of plots, in pixels; 0 follows
    the window. assets: with scripts and style, 0.25 MB, which a page needs once, anywhere. group: the name of what is
    linked on the page, by default one of its own.
    The page decides between light and dark by `data-theme` of its root or `data-md-color-scheme` of its body; without
    these the system does. Nothing is fetched. Size: 4 bytes a number, 20 a kernel of a trace, as base64.

    Raises InputError for anything else.

    Examples:
        >>> import numpy as np
        >>> from workbench.live import html_of
        >>> from workbench.run import solve
        >>> "wb-offline-plot" in html_of(solve(np.diag([1.0, 2.0, 3.0]), np.ones(3)).record())
        True
    """
    group = group or f"plain {next(_NUMBERS)}"
    plots = [_plot(*piece, group=group, height=height) for one in shown for piece in _pieces(one)]
    return "\n".join([*plots, *([_assets()] if assets else [])])


def page_of(record: Record) -> str:
    """A whole page of HTML: a description of the run, its plots, and a menu of themes; see `html_of`.

    Examples:
        >>> import numpy as np
        >>> from workbench.live import page_of
        >>> from workbench.run import solve
        >>> page_of(solve(np.diag([1.0, 2.0, 3.0]), np.ones(3)).record()).startswith("<!doctype html>")
        True
    """
    name = RunHandle(record).title
    title, said = (html.escape(text) for text in (name, sentence_case(reported(record).removeprefix(f"{name}: "))))
    themes = "".join(f"<option>{theme}</option>" for theme in THEMES)
    return f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title></head>
<body class="wb-offline-page">
<header><h1>{title}</h1><label>theme <select class="wb-offline-theme">{themes}</select></label></header>
<p>{said}</p>
{html_of(record)}
</body>
</html>
"""


def save_page(record: Record, path: str | Path) -> Path:
    """Write `page_of` to a file, and return its path. Raises InputError where that cannot be written."""
    return write(Path(path), page_of(record))


def _pieces(shown: Shows) -> list[tuple[str, list[tuple[dict[str, Any], bytes]]]]:
    """The script of each plot and the messages that a view would send it."""
    if isinstance(shown, Record):
        scene = convergence_scene([shown], tolerance=Curve.of_record(0, "", 0, shown).line)
        return [*_pieces(scene), *(_pieces(shown.trace) if shown.trace is not None and shown.trace.count else [])]
    if isinstance(shown, Scene):
        return [(CHART, [shown.message()])]
    if isinstance(shown, Trace):
        return [(TIMELINE, _news(shown))]
    raise InputError(f"a plain page draws records, traces and scenes, and not a {type(shown).__name__}")


def _news(trace: Trace) -> list[tuple[dict[str, Any], bytes]]:
    watched = TimelineRuns([TimelineRun(trace=trace, state="done")])
    messages = []
    while (news := watched.news("", MOST_EVENTS)) is not None:
        message, data = news
        messages.append(({"reset": not messages, **message}, data))
    return messages


def _plot(script: str, messages: list[tuple[dict[str, Any], bytes]], *, group: str, height: int) -> str:
    traits: dict[str, Any] = {"group": group, "height": height}
    if script == TIMELINE:
        offered = {"run": "", "machine": "", "accelerator": "", "runs": [], "machines": [], "accelerators": []}
        traits |= {**offered, "pointed": 0, "height": height or LANES}
    sent = [
        ({"seq": number, **content}, base64.b64encode(data).decode())
        for number, (content, data) in enumerate(messages, 1)
    ]
    said = _json({"script": script, "traits": traits, "messages": sent})
    return f'<script type="application/json" class="wb-offline-plot">{said}</script>'


def _assets() -> str:
    scripts = _json({name: module(name) for name in (CHART, TIMELINE)})
    return "\n".join(
        (
            f"<style>{style_sheet()}</style>",
            f'<script type="application/json" class="wb-offline-scripts">{scripts}</script>',
            f'<script type="module">{module("inspect/plain.js")}</script>',
        )
    )


def _json(value: object) -> str:
    """A value as JSON that a script element may hold."""
    return json.dumps(value).replace("<", "\\u003c")
