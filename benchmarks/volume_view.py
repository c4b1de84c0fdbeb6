"""The 3D view of a run at 128^3: pictures per second and cost to a solve; see `live_view/volume.py`."""

from __future__ import annotations

from typing import Any

from benchmarks.live_view.volume import measured


def figures(*, quick: bool = False) -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    return measured(quick=quick)
