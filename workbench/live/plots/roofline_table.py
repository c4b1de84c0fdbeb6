"""Kernels under a roof in words and numbers."""

from __future__ import annotations

import html

from workbench.analysis.roofline import RooflinePoint
from workbench.live.kit.html_table import Html, html_table
from workbench.machine.profile import Profile

HEADINGS = ("", "kernel", "calls", "time [ms]", "share", "GB/s", "of the limit", "flop/B", "Gflop/s")


def sentence(found: list[RooflinePoint], roof: Profile | None) -> str:
    """What the kernels do together."""
    seconds, moved = (sum(getattr(spot, what) for spot in found if spot.bytes) for what in ("seconds", "bytes"))
    rate = moved / seconds if seconds > 0 else 0.0
    told = f"{len(found)} kernels, together <b>{rate / 1e9:.3g} GB/s</b>"
    if roof:
        limit = roof.bandwidth
        told += (
            f", {rate / limit.value:.0%} of the {limit.value / 1e9:.3g} GB/s {limit.basis} on {html.escape(roof.title)}"
        )
        if any((spot.bandwidth or 0) > limit.value for spot in found):
            told += "; above the roof stands what the caches serve"
    return told + "."


def table(found: list[RooflinePoint], roof: Profile | None) -> str:
    """The numbers of every kernel as an HTML table."""
    rows = [_row(number, spot, roof) for number, spot in enumerate(found, 1)]
    # The view also appears on pages without the style sheet of the views.
    return html_table(HEADINGS, rows, numbers=range(2, len(HEADINGS)), classes="")


def _row(number: int, spot: RooflinePoint, roof: Profile | None) -> list[str]:
    limit = (roof.bandwidth.value, roof.flops.value if roof.flops else None) if roof else None
    share = spot.of_roof(*limit) if limit else None
    return [
        str(number),
        Html(f"<code>{html.escape(spot.kernel)}</code>"),
        f"{spot.calls:,}",
        f"{1e3 * spot.seconds:.3g}",
        f"{spot.share:.0%}",
        _known(spot.bandwidth, 1e9),
        "–" if share is None else f"{share:.0%}",
        _known(spot.intensity, 1),
        _known(spot.flop_rate, 1e9),
    ]


def _known(value: float | None, unit: float) -> str:
    return "–" if value is None else f"{value / unit:.3g}"
