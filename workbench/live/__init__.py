"""Live views in Jupyter: `explore()` shows everything, the views alone serve other notebooks.

Widgets of extensions are here too, each imported at its first use.
"""

from typing import Any

from workbench.live.app import extension_widgets
from workbench.live.app.app import Workbench
from workbench.live.app.start import workbench
from workbench.live.builders.bubble_builder import BubbleBuilder
from workbench.live.builders.builder import Builder
from workbench.live.builders.matrix_builder import MatrixBuilder
from workbench.live.builders.poisson_builder import PoissonBuilder
from workbench.live.compare.race import RaceView
from workbench.live.compare.suggest import Suggest
from workbench.live.compare.sweep import SweepView
from workbench.live.field.field_view import FieldView
from workbench.live.field.volume_view import VolumeView
from workbench.live.inspect.inside import InsideView
from workbench.live.inspect.plain import html_of, page_of
from workbench.live.inspect.replay import Replay, open_run
from workbench.live.plots.convergence import ConvergenceView
from workbench.live.plots.method_view import MethodView
from workbench.live.plots.roofline import RooflineView
from workbench.live.plots.spectrum import SpectrumView
from workbench.live.plots.timeline import TimelineView
from workbench.live.runs.runs_page import RunsPage
from workbench.live.solve.explorer import Explorer, explore
from workbench.live.stepping.own_method import OwnMethod
from workbench.live.stepping.step_view import StepView
from workbench.live.stepping.stepper import Stepper
from workbench.live.transport import cells, late_messages
from workbench.live.ui.extension_view import ExtensionView
from workbench.live.ui.run_list import RunList
from workbench.live.ui.save_bar import SaveBar
from workbench.live.ui.share_bar import ShareBar
from workbench.live.ui.view import LiveWidget, View
from workbench.registry.extensions import ours

__all__ = [
    "BubbleBuilder",
    "Builder",
    "ConvergenceView",
    "Explorer",
    "ExtensionView",
    "FieldView",
    "InsideView",
    "MatrixBuilder",
    "MethodView",
    "OwnMethod",
    "PoissonBuilder",
    "RaceView",
    "Replay",
    "RooflineView",
    "RunList",
    "RunsPage",
    "SaveBar",
    "ShareBar",
    "SpectrumView",
    "StepView",
    "Stepper",
    "Suggest",
    "SweepView",
    "TimelineView",
    "VolumeView",
    "Workbench",
    "explore",
    "html_of",
    "open_run",
    "page_of",
    "workbench",
]
__all__ += extension_widgets.names(ours)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    found = globals()[name] = extension_widgets.widget(name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *extension_widgets.names()})


late_messages.keep()
cells.watch(View, LiveWidget)
