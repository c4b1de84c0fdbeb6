"""Live views in Jupyter: `explore()` shows everything, the views alone serve other notebooks."""

from workbench.live.app.app import Workbench
from workbench.live.app.start import workbench
from workbench.live.build.bubble_builder import BubbleBuilder
from workbench.live.build.builder import Builder
from workbench.live.build.matrix_builder import MatrixBuilder
from workbench.live.build.poisson_builder import PoissonBuilder
from workbench.live.compare.race import RaceView
from workbench.live.compare.storage import StorageView
from workbench.live.compare.suggest import Suggest
from workbench.live.compare.sweep import SweepView
from workbench.live.field.field_view import FieldView
from workbench.live.field.volume_view import VolumeView
from workbench.live.flows.flow_view import FlowView, flow
from workbench.live.inspect.inside import InsideView
from workbench.live.inspect.plain import html_of, page_of
from workbench.live.inspect.replay import Replay, open_run
from workbench.live.papers.paper_view import PaperView
from workbench.live.plots.convergence import ConvergenceView
from workbench.live.plots.method_view import MethodView
from workbench.live.plots.roofline import RooflineView
from workbench.live.plots.spectrum import SpectrumView
from workbench.live.plots.timeline import TimelineView
from workbench.live.runs.runs_page import RunsPage
from workbench.live.solve.explorer import Explorer, explore
from workbench.live.teach.cluster_view import ClusterView
from workbench.live.teach.exercise import Lesson
from workbench.live.teach.geometry import Geometry2D
from workbench.live.teach.move_lines import MoveLines
from workbench.live.teach.own_method import OwnMethod
from workbench.live.teach.polynomial import PolynomialView
from workbench.live.teach.schedules import Schedules
from workbench.live.teach.step_view import StepView
from workbench.live.teach.stepper import Stepper
from workbench.live.transport import cells, late_messages
from workbench.live.ui.run_list import RunList
from workbench.live.ui.save_bar import SaveBar
from workbench.live.ui.share_bar import ShareBar
from workbench.live.ui.view import LiveWidget, View

__all__ = [
    "BubbleBuilder",
    "Builder",
    "ClusterView",
    "ConvergenceView",
    "Explorer",
    "FieldView",
    "FlowView",
    "Geometry2D",
    "InsideView",
    "Lesson",
    "MatrixBuilder",
    "MethodView",
    "MoveLines",
    "OwnMethod",
    "PaperView",
    "PoissonBuilder",
    "PolynomialView",
    "RaceView",
    "Replay",
    "RooflineView",
    "RunList",
    "RunsPage",
    "SaveBar",
    "Schedules",
    "ShareBar",
    "SpectrumView",
    "StepView",
    "Stepper",
    "StorageView",
    "Suggest",
    "SweepView",
    "TimelineView",
    "VolumeView",
    "Workbench",
    "explore",
    "flow",
    "html_of",
    "open_run",
    "page_of",
    "workbench",
]

late_messages.keep()
cells.watch(View, LiveWidget)
