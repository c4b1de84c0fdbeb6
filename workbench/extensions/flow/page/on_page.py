"""The view Flow of the page."""

from __future__ import annotations

from workbench.extensions.flow.page.flow_view import FlowView
from workbench.live.app.app import Workbench
from workbench.run import Configuration, configure
from workbench.sequences.systems import SystemSequence


def flow_view(page: Workbench) -> FlowView:
    """The sequence of the page played; rising bubbles where its problem is one system."""
    chosen = page.configuration
    if not is_sequence(chosen):
        chosen = configure("rising-bubbles", preconditioner="neumann:2", deflation="levelset:8")
    return FlowView(chosen, folder=page.folder, drawn=lambda: page.configuration.problem)


def is_sequence(configuration: Configuration) -> bool:
    """True if the problem is a sequence of systems."""
    return isinstance(configuration.problem, SystemSequence)
