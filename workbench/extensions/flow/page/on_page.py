"""The view Flow of the page and of notebooks, and the flows that it offers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.extensions.flow.page.flow_form import FORTY, SUGGESTED
from workbench.extensions.flow.page.flow_view import FlowView
from workbench.live.app.app import Workbench
from workbench.problems import Problem
from workbench.run import Configuration, configure
from workbench.sequences.systems import SystemSequence


def flow_view(page: Workbench) -> FlowView:
    """The sequence of the page played; forty rising bubbles where its problem is one system."""
    chosen = page.configuration
    if not is_sequence(chosen):
        chosen = configure("rising-bubbles", FORTY, **SUGGESTED)
    return FlowView(chosen, folder=page.folder, drawn=lambda: page.configuration.problem)


def is_sequence(configuration: Configuration) -> bool:
    """True if the problem is a sequence of systems."""
    return isinstance(configuration.problem, SystemSequence)


def flow(
    problem: str | Problem | Configuration = "rising-bubbles",
    second: dict[str, Any] | None = None,
    folder: str | Path | None = None,
    **choices: Any,
) -> FlowView:
    """The view of a sequence with the choices of `configure`: flow("rising-bubbles", n=64, preconditioner="mg").

    problem: also the path of a record, .seq.npz. second: settings of the other method, by default Jacobi. Raises
    InputError for unknown names, and for a problem that is one system.

    Examples:
        >>> from workbench.live import flow
        >>> view = flow(n=16)
        >>> view.close()
    """
    if isinstance(problem, Configuration):
        return FlowView(problem, second, folder)
    suggested = SUGGESTED if problem == "rising-bubbles" else {}
    return FlowView(configure(problem, **{**suggested, **choices}), second, folder)
