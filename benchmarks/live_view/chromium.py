"""Chromium as a separate process, driven through its debugger, which is detached during measurements.

The debugger receives every message to the page with a copy of its bytes as text. For pictures that costs more than
drawing them, and no user's page has that cost.
"""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.live_view.lab import chromium_path

WINDOW = "1280,943"
"""The window, of which the page has 1280 x 800."""
START_SECONDS = 60


class Chromium:
    """The browser's one `page`, as Playwright hands it. pid: of its first process."""

    def __init__(self, playwright: Any, address: str, pid: int) -> None:
        self._playwright, self._address, self.pid = playwright, address, pid
        self._connect()

    @contextlib.contextmanager
    def let_go(self) -> Iterator[None]:
        """Detach the debugger inside; the page continues by itself."""
        self._connection.close()
        try:
            yield
        finally:
            self._connect()

    def renew(self) -> None:
        """Close the page and open another one in its place."""
        last, self.page = self.page, self.page.context.new_page()
        last.close()

    def _connect(self) -> None:
        self._connection = self._playwright.chromium.connect_over_cdp(self._address)
        self.page = self._connection.contexts[0].pages[0]


@contextlib.contextmanager
def chromium(lab: Any, folder: Path, args: Sequence[str] = ()) -> Iterator[Chromium]:
    """Start the browser that the browser tests use; its profile lies in `folder`, and it ends with the block.

    args: instead of those that the tests give it.
    """
    from playwright.sync_api import sync_playwright

    profile = folder / "chromium"
    with sync_playwright() as playwright, (folder / "chromium.log").open("wb") as log:
        path = chromium_path(playwright.chromium.executable_path)
        options = [f"--user-data-dir={profile}", f"--window-size={WINDOW}", "--remote-debugging-port=0"]
        command = [path, "--headless", *options, *(args or lab.BROWSER_ARGS), "about:blank"]
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            yield Chromium(playwright, _address(profile, process, folder / "chromium.log"), process.pid)
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _address(profile: Path, process: subprocess.Popen[bytes], log: Path) -> str:
    """The address of the debugger, which the browser writes to a file when it is ready."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError, IndexError):
            port = (profile / "DevToolsActivePort").read_text(encoding="utf-8").splitlines()[0]
            return f"http://127.0.0.1:{port}"
        time.sleep(0.1)
    raise RuntimeError(f"Chromium did not start:\n{log.read_text(encoding='utf-8', errors='replace')[-2000:]}")
