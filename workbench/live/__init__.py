"""Live views in Jupyter: `explore()` shows everything, the views alone serve notebooks of one's own."""

from workbench.live import _late_messages
from workbench.live.app import Workbench, workbench
from workbench.live.block_view import BlockView
from workbench.live.builder import BubbleBuilder
from workbench.live.building import Builder
from workbench.live.convergence import ConvergenceView
from workbench.live.explorer import Explorer, explore
from workbench.live.field import FieldView
from workbench.live.inside import InsideView
from workbench.live.matrix_builder import MatrixBuilder
from workbench.live.mpcg_view import MPCGView
from workbench.live.own import OwnMethod
from workbench.live.poisson_builder import PoissonBuilder
from workbench.live.race import RaceView
from workbench.live.replay import Replay, open_run
from workbench.live.roofline import RooflineView
from workbench.live.save_bar import SaveBar
from workbench.live.schedules import Schedules
from workbench.live.share_bar import ShareBar
from workbench.live.spectrum import SpectrumView
from workbench.live.stepper import Stepper
from workbench.live.steps import StepView
from workbench.live.sweep import SweepView
from workbench.live.timeline import TimelineView
from workbench.live.volume import VolumeView

__all__ = [
    "BlockView",
    "BubbleBuilder",
    "Builder",
    "ConvergenceView",
    "Explorer",
    "FieldView",
    "InsideView",
    "MPCGView",
    "MatrixBuilder",
    "OwnMethod",
    "PoissonBuilder",
    "RaceView",
    "Replay",
    "RooflineView",
    "SaveBar",
    "Schedules",
    "ShareBar",
    "SpectrumView",
    "StepView",
    "Stepper",
    "SweepView",
    "TimelineView",
    "VolumeView",
    "Workbench",
    "explore",
    "open_run",
    "workbench",
]

_late_messages.keep()
