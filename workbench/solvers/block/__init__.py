"""Conjugate gradient methods for many right-hand sides: A X = B with block vectors (N, s)."""

import sys

from workbench.registry import load_package

load_package(sys.modules[__name__])
