"""Live views in Jupyter: `explore()` shows everything, the views alone serve notebooks of one's own."""

from workbench.live.convergence import ConvergenceView
from workbench.live.explorer import Explorer, explore
from workbench.live.field import FieldView
from workbench.live.race import RaceView
from workbench.live.replay import Replay, open_run
from workbench.live.roofline import RooflineView
from workbench.live.save_bar import SaveBar
from workbench.live.schedules import Schedules
from workbench.live.spectrum import SpectrumView
from workbench.live.stepper import Stepper
from workbench.live.sweep import SweepView
from workbench.live.timeline import TimelineView

__all__ = [
    "ConvergenceView",
    "Explorer",
    "FieldView",
    "RaceView",
    "Replay",
    "RooflineView",
    "SaveBar",
    "Schedules",
    "SpectrumView",
    "Stepper",
    "SweepView",
    "TimelineView",
    "explore",
    "open_run",
]
