"""Servers that answer everyone, whatever other clients do: a generator of visits against real ones, and a watcher.

WORKBENCH_VISITS_SECONDS=1800 lets the visits take half an hour for each server, prints a line a minute, and looks at
times too. Seconds for which the server was ready and other processes had the cores are not its own, and are left out.
"""

import os
import re
import time
from statistics import median

import pytest

from benchmarks.classroom.processes import queued_seconds
from tests.browser import lab
from tests.extensions.classroom.test_strangers import GROWTH, answers, notebooks, replies, server_of  # noqa: F401
from tests.extensions.classroom.visitors import Visitor, visits
from workbench.extensions.classroom.server.page_connection import MOST_UNREAD

SECONDS = float(os.environ.get("WORKBENCH_VISITS_SECONDS", "4"))
VISITORS = 5
LONG = SECONDS > 60
"""True where times are looked at: a short test shares the cores with others."""
SOON = 2.0
"""Seconds until each answer of a long test, without those for which the server had no core."""
KEPT = VISITORS * (MOST_UNREAD + GROWTH)
"""Bytes by which a server may grow: each visitor may be a slow reader."""
WARM = 900
"""Seconds of a long test after which the memory of the server is flat."""
FLAT = 1.02
"""Memory of the last third of a longer one, over that of the second; medians, since readers come and go."""


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    """The page of `make app`: its URL, its folder, and the kernel of a page."""
    folder = tmp_path_factory.mktemp("visited")
    with lab.voila_server(folder, "--PageKernels.most_pages=6") as url:
        page = answers(url, "/lesson/without-pain")[1]
        yield url, folder, re.search(r'"kernelId":\s*"([0-9a-f-]+)"', page)[1]


class Watcher:
    """Asks for a page, and keeps the times until answers, those of the server alone, and the memory of the server."""

    def __init__(self, url, path, process):
        self.url, self.path, self.process = url, path, process
        self.waits, self.own, self.sizes, self.begun = [], [], [], time.monotonic()

    def __call__(self):
        begun, queued = time.monotonic(), queued_seconds(self.process.pid)
        assert answers(self.url, self.path)[0] == 200
        self.waits.append(time.monotonic() - begun)
        self.own.append(self.waits[-1] - (queued_seconds(self.process.pid) - queued))
        self.sizes.append(self.process.memory_info().rss)
        if LONG and len(self.waits) % 60 == 0:
            at = time.monotonic() - self.begun
            print(f"{at:.0f} s: {self}", flush=True)

    def __str__(self):
        sizes = " to ".join(f"{self.sizes[at] / 1e6:.0f}" for at in (0, -1))
        longest = f"longest answer {max(self.waits):.2f} s, {max(self.own):.2f} s of it with a core"
        return f"{longest}, server {sizes} MB, at most {max(self.sizes) / 1e6:.0f}"


@pytest.mark.parametrize(("program", "path"), [("app", "/"), pytest.param("notebooks", "/api", marks=pytest.mark.slow)])
def test_a_server_answers_within_seconds_whatever_its_visitors_do(program, path, request):
    url, folder, kernel = request.getfixturevalue(program)
    assert replies(url, kernel)
    watcher = Watcher(url, path, server_of(folder))
    seed = int(os.environ.get("WORKBENCH_VISITS_SEED", "1"))
    visitors = [Visitor(url, [kernel], program == "notebooks", 1000 * seed + one) for one in range(VISITORS)]
    watcher()
    done = visits(visitors, SECONDS, watcher)
    print(program, dict(done), watcher)
    if LONG:
        assert max(watcher.own) < SOON
    if SECONDS > WARM:
        third = len(watcher.sizes) // 3
        assert median(watcher.sizes[2 * third :]) < FLAT * median(watcher.sizes[third : 2 * third])
    assert max(watcher.sizes) < watcher.sizes[0] + KEPT
    assert replies(url, kernel)
