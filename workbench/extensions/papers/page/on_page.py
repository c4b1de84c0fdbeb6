"""The view Papers of the page."""

from __future__ import annotations

from workbench.extensions.papers.page.papers_page import PapersPage
from workbench.live.app.app import RUNS, Workbench


def papers_page(page: Workbench) -> PapersPage:
    """The papers; their runs are in the list of the page."""
    return PapersPage(page.runs, lambda _numbers: page.turn_to(RUNS), page.folder)
