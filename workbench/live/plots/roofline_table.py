"""Kernels under a roof in words and numbers."""

from __future__ import annotations

import html
from collections.abc import Mapping

from workbench.costs.roofline import RooflinePoint
from workbench.machines.profile import Profile
from workbench.plots.html_table import Html, html_table
from workbench.words.names import kernel_name
from workbench.words.numbers import MISSING, amount, count, duration, number, percent

CACHES = 20.0
"""Caches of a processor are faster than its memory, by less than this."""
HEADINGS = ("kernel", "calls", "time", "share", "bandwidth", "of roofline", "flop/B", "Gflop/s")


def sentence(found: list[RooflinePoint], roof: Profile | None) -> str:
    """The rate of all kernels together against the roof, in a sentence."""
    seconds, moved = (sum(getattr(spot, what) for spot in found if spot.bytes) for what in ("seconds", "bytes"))
    rate = moved / seconds if seconds > 0 else 0.0
    reported = f"{len(found)} {'kernel' if len(found) == 1 else 'kernels'}, together <b>{amount(rate)}/s</b>"
    if roof:
        limit = roof.bandwidth
        of = f"{amount(limit.value)}/s {limit.basis} on {html.escape(roof.title)}"
        reported += f", {percent(rate / limit.value)} of the {of}"
        most = max((spot.bandwidth or 0.0 for spot in found), default=0.0)
        if most > CACHES * limit.value and limit.basis == "measured":
            reported += "; kernels are far above it: other work may have slowed its measurement, so measure it again"
        elif most > limit.value:
            reported += "; kernels above the roofline are served by the caches"
    return reported + "."


def table(found: list[RooflinePoint], roof: Profile | None, looks: Mapping[str, str]) -> str:
    """The numbers of every kernel as an HTML table. looks: colours by kernel."""
    rows = [_row(spot, roof, looks[spot.kernel]) for spot in found]
    return html_table(HEADINGS, rows, numbers=range(1, len(HEADINGS)), classes="wb-kernels")


def _row(spot: RooflinePoint, roof: Profile | None, colour: str) -> list[str]:
    limit = (roof.bandwidth.value, roof.flops.value if roof.flops else None) if roof else None
    share = spot.of_roof(*limit) if limit else None
    named = f'<span title="{html.escape(spot.kernel)}">{html.escape(kernel_name(spot.kernel))}</span>'
    return [
        Html(f'<span class="wb-patch" style="background: {colour}"></span>{named}'),
        count(spot.calls),
        duration(spot.seconds),
        percent(spot.share),
        MISSING if spot.bandwidth is None else f"{amount(spot.bandwidth)}/s",
        MISSING if share is None else percent(share),
        number(spot.intensity),
        number(None if spot.flop_rate is None else spot.flop_rate / 1e9),
    ]
