"""Pages that `make app` serves: time from navigation to the first picture, and memory of their kernels."""

from __future__ import annotations

import contextlib
import os
import re
import statistics
import time
from pathlib import Path
from typing import Any

import psutil

from workbench.run import configure
from workbench.run.choices.share_link import to_link

SOLVED = configure("bubbles-2d", n=256, preconditioner="neumann:2", deflation="levelset:8")
KERNELS = re.compile(r"ipykernel_launcher|workbench\.extensions\.classroom\.server\.fork_server")
FIRST_PICTURE = """
window.firstPicture = null;
function look() {
  // A canvas says by data attributes what has been drawn on it.
  const drawn = [...document.querySelectorAll("canvas")].some((canvas) => Object.keys(canvas.dataset).length > 0);
  if (drawn) firstPicture = performance.now();
  else requestAnimationFrame(look);
}
look();
"""
DONE = ".wb-solving [role=status][data-state=done]"
WARM_UP_SECONDS = 60


def served_pages(lab: Any, browser: Any, folder: Path, count: int) -> dict[str, Any]:
    """Open so many pages one after another, each of another user, and make a run of 256 x 256 on each.

    first_picture_ms: one number a page. Memory is the proportional share (PSS), in MB, of all kernels and the process
    that they are forked from.
    """
    folder.mkdir()
    with lab.voila_server(folder) as url:
        _wait_for_imports()
        pages, first = [], []
        for _ in range(count):
            page = lab.context(browser).new_page()
            page.add_init_script(FIRST_PICTURE)
            page.goto(f"{url}/?p={to_link(SOLVED)}", wait_until="commit")
            page.wait_for_function("() => firstPicture !== null")
            first.append(page.evaluate("() => firstPicture"))
            pages.append(page)
        shown = _megabytes()
        for page in pages:
            _run(lab, page)
        used = _megabytes()
        for page in pages:
            page.context.close()
    return {
        "pages": count,
        "first_picture_ms": [round(ms) for ms in first],
        "first_picture_median_ms": round(statistics.median(first)),
        "memory_mb": {"shown": round(shown), "after_a_run": round(used)},
        "memory_mb_a_page": {"shown": round(shown / count), "after_a_run": round(used / count)},
        "load": os.getloadavg()[0],
    }


def _run(lab: Any, page: Any) -> None:
    """Solve on the page and wait for the end."""
    page.get_by_text("Solve", exact=True).first.click()
    lab.button(page, "Run").locator("visible=true").click()
    # Out of sight where the result says the same.
    page.locator(DONE).wait_for(state="attached")


def _processes() -> list[psutil.Process]:
    """The kernels of the server; one that ends meanwhile is none."""
    found = []
    for one in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if KERNELS.search(" ".join(one.cmdline())):
                found.append(one)
    return found


def _megabytes() -> float:
    return sum(process.memory_full_info().pss for process in _processes()) / 1e6


def _wait_for_imports() -> None:
    """The first page of a server would wait for them: until the process that forks kernels uses no more CPU time."""
    end, before = time.monotonic() + WARM_UP_SECONDS, -1.0
    while time.monotonic() < end:
        spent = sum(sum(process.cpu_times()[:2]) for process in _processes())
        if spent == before and spent > 0:
            return
        before = spent
        time.sleep(2)
