"""Kernels under a roof in words and numbers."""

from __future__ import annotations

import html
from collections.abc import Mapping

from workbench.analysis.roofline import RooflinePoint
from workbench.live.ui.html_table import Html, html_table
from workbench.machine.profile import Profile
from workbench.naming import kernel_name
from workbench.number_text import count, percent
from workbench.scenes.style import COLOURS

HEADINGS = ("", "kernel", "calls", "time [ms]", "share", "GB/s", "% of roofline", "flop/B", "Gflop/s")


def sentence(found: list[RooflinePoint], roof: Profile | None) -> str:
    """What the kernels do together."""
    seconds, moved = (sum(getattr(spot, what) for spot in found if spot.bytes) for what in ("seconds", "bytes"))
    rate = moved / seconds if seconds > 0 else 0.0
    reported = f"{len(found)} kernels, together <b>{rate / 1e9:.3g} GB/s</b>"
    if roof:
        limit = roof.bandwidth
        of = f"{limit.value / 1e9:.3g} GB/s {limit.basis} on {html.escape(roof.title)}"
        reported += f", {percent(rate / limit.value)} of the {of}"
        if any((spot.bandwidth or 0) > limit.value for spot in found):
            reported += "; kernels above the roofline are served by the caches"
    return reported + "."


def table(found: list[RooflinePoint], roof: Profile | None, looks: Mapping[str, tuple[str, int]]) -> str:
    """The numbers of every kernel as an HTML table. looks: colour and hatch by kernel."""
    rows = [_row(spot, roof, looks[spot.kernel]) for spot in found]
    # The view also appears on pages without the style sheet of the views.
    return html_table(HEADINGS, rows, numbers=range(2, len(HEADINGS)), classes="")


def _row(spot: RooflinePoint, roof: Profile | None, look: tuple[str, int]) -> list[str]:
    limit = (roof.bandwidth.value, roof.flops.value if roof.flops else None) if roof else None
    share = spot.of_roof(*limit) if limit else None
    return [
        Html(patch(look)),
        Html(f'<span title="{html.escape(spot.kernel)}">{html.escape(kernel_name(spot.kernel))}</span>'),
        count(spot.calls),
        f"{1e3 * spot.seconds:.3g}",
        percent(spot.share),
        _known(spot.bandwidth, 1e9),
        "–" if share is None else percent(share),
        _known(spot.intensity, 1),
        _known(spot.flop_rate, 1e9),
    ]


def patch(look: tuple[str, int]) -> str:
    """A square of that look, as HTML. The page's own colours go before those of print."""
    colour, hatch = look
    own = f"var(--wb-s{COLOURS.index(colour) + 1}, {colour})"
    ground = f"repeating-linear-gradient(45deg, {own} 0 3px, transparent 3px 5px)" if hatch else own
    return (
        f'<span class="wb-patch" style="background: {ground}; display: inline-block; width: 14px; height: 10px"></span>'
    )


def _known(value: float | None, unit: float) -> str:
    return "–" if value is None else f"{value / unit:.3g}"
