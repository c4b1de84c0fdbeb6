"""The browser tests' way to start JupyterLab and Chromium."""

from __future__ import annotations

import functools
import importlib.util
import shutil
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


def chromium_path(playwrights_own: str) -> str:
    """The Chromium of the browser tests, or else Playwright's. Raises SystemExit where it is not there."""
    path = lab_tools().browser_path() or playwrights_own
    if shutil.which(path) is None:
        raise SystemExit(
            f"this benchmark needs Chromium, and {path} is no program: install chromium, or name one in "
            "WORKBENCH_CHROMIUM"
        )
    return path
