"""Servers that answer everyone, whatever other clients do: a generator of visits against real ones, and a watcher.

WORKBENCH_VISITS_SECONDS=1800 lets the visits take half an hour for each server, and prints a line a minute.
"""

import os
import re
import time

import pytest

from tests.browser import lab
from tests.extensions.classroom.test_strangers import GROWTH, answers, notebooks, replies, server_of  # noqa: F401
from tests.extensions.classroom.visitors import Visitor, visits
from workbench.extensions.classroom.server.page_connection import MOST_UNREAD

SECONDS = float(os.environ.get("WORKBENCH_VISITS_SECONDS", "10"))
VISITORS = 5
SOON = 2.0 if SECONDS > 60 else 10.0
"""Seconds until each answer. A short test shares the cores with others."""
KEPT = 2 * MOST_UNREAD + GROWTH
"""Bytes by which a server may grow while two connections with slow readers are full."""


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    """The page of `make app`: its URL, its folder, and the kernel of a page."""
    folder = tmp_path_factory.mktemp("visited")
    with lab.voila_server(folder, "--PageKernels.most_pages=6", "--PageKernels.runs_at_once=1") as url:
        page = answers(url, "/lesson/without-pain")[1]
        yield url, folder, re.search(r'"kernelId":\s*"([0-9a-f-]+)"', page)[1]


class Watcher:
    """Asks for a page, and keeps the longest time until the answer, and the memory of the server."""

    def __init__(self, url, path, process):
        self.url, self.path, self.process = url, path, process
        self.waits, self.sizes, self.begun = [], [], time.monotonic()

    def __call__(self):
        begun = time.monotonic()
        assert answers(self.url, self.path)[0] == 200
        self.waits.append(time.monotonic() - begun)
        self.sizes.append(self.process.memory_info().rss)
        if SECONDS > 60 and len(self.waits) % 60 == 0:
            at = time.monotonic() - self.begun
            print(
                f"{at:.0f} s: longest answer {max(self.waits):.2f} s, server {self.sizes[-1] / 1e6:.0f} MB", flush=True
            )


@pytest.mark.slow
@pytest.mark.parametrize(("program", "path"), [("app", "/"), ("notebooks", "/api")])
def test_a_server_answers_within_seconds_whatever_its_visitors_do(program, path, request):
    url, folder, kernel = request.getfixturevalue(program)
    assert replies(url, kernel)
    watcher = Watcher(url, path, server_of(folder))
    seed = int(os.environ.get("WORKBENCH_VISITS_SEED", "1"))
    visitors = [Visitor(url, [kernel], program == "notebooks", 1000 * seed + one) for one in range(VISITORS)]
    watcher()
    done = visits(visitors, SECONDS, watcher)
    print(
        program,
        dict(done),
        f"longest answer {max(watcher.waits):.2f} s",
        f"server {watcher.sizes[0] / 1e6:.0f} to {watcher.sizes[-1] / 1e6:.0f} MB",
    )
    assert max(watcher.waits) < SOON
    assert max(watcher.sizes) < watcher.sizes[0] + KEPT
    assert replies(url, kernel)
