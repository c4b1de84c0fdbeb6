"""Pipelined CG on an accelerator and the cores together: a file for each schedule, and one that chooses."""

import sys

from workbench.registry import load_package

load_package(sys.modules[__name__])
