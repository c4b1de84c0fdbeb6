"""Saved runs as plots that are alive without a kernel, where a page asks for them."""

from __future__ import annotations

import dataclasses
import re

from workbench.live import html_of
from workbench.plots.scenes import PointsOf, convergence_scene
from workbench.run import Run, configure, run_through

PLACE = re.compile(r"<!-- saved runs: (\w+) -->")
SETTINGS = {"n": 96, "preconditioner": "neumann:2"}
SPACES = {"one level": "none", "stripes": "stripes", "blocks split by phase": "levelset:8"}


def placed(text: str) -> str:
    """The HTML of a page with the plots that it asks for; the first brings the scripts."""
    first = True

    def put(found: re.Match[str]) -> str:
        nonlocal first
        made, first = PLOTS[found[1]](first), False
        return made

    return PLACE.sub(put, text)


def race(assets: bool) -> str:
    """Residuals of three second levels."""
    records = [
        run_through(Run(configure("bubbles-2d", **SETTINGS, deflation=space))).record() for space in SPACES.values()
    ]
    scene = convergence_scene(records, list(SPACES), tolerance=1e-6)
    # Rings of several runs would have an entry of the legend each.
    curves = [layer for layer in scene.layers if not isinstance(layer, PointsOf)]
    return html_of(dataclasses.replace(scene, layers=curves), assets=assets)


def traced(assets: bool) -> str:
    """A run with its kernels."""
    run = Run(configure("bubbles-2d", **SETTINGS, deflation="levelset:8"), trace=True)
    return html_of(run_through(run).record(), assets=assets)


PLOTS = {"race": race, "traced": traced}
