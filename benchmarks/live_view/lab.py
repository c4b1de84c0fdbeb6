"""The browser tests' way to start JupyterLab."""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path
from typing import Any


@functools.cache
def lab_tools() -> Any:
    """The module tests/browser/lab.py."""
    path = Path(__file__).parents[2] / "tests" / "browser" / "lab.py"
    spec = importlib.util.spec_from_file_location("workbench_lab", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
