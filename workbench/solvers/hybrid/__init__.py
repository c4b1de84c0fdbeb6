"""Pipelined CG on an accelerator and the CPU cores together: one file per schedule, and a selector."""

import sys

from workbench.registry import load_package

load_package(sys.modules[__name__])
