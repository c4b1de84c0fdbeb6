"""The view Schedules of the page."""

from __future__ import annotations

from workbench.extensions.models.page.schedules import Schedules
from workbench.live import Workbench


def schedules_view(_page: Workbench) -> Schedules:
    """The schedules, which share nothing with the rest of the page."""
    return Schedules()
