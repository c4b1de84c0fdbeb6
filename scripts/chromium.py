"""Print the path of a Chromium that starts; install one if there is none. The browser tests drive it.

Searched in this order: the PATH, Debian's package (as root or with passwordless sudo), Playwright's own build. Exits
with one sentence if there is none, so that browser tests are never skipped silently.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator

# As in workbench/machines/advice.py.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def main() -> None:
    """Print the first Chromium that starts, or exit with a sentence."""
    sources: tuple[Callable[[], Iterator[str]], ...] = (on_path, from_debian, from_playwright)
    for source in sources:
        for path in source():
            if starts(path):
                print(path)
                return
    sys.exit(
        "the browser tests need Chromium and none could be found or installed; "
        "put chromium on the PATH, or run: .venv/bin/python -m playwright install --with-deps chromium"
    )


def on_path() -> Iterator[str]:
    """The browsers on the PATH."""
    yield from filter(None, map(shutil.which, NAMES))


def from_debian() -> Iterator[str]:
    """Debian's chromium, with one font: without any, pages are blank."""
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if not shutil.which("apt-get") or (root and not succeeds([*root, "true"])):
        return
    note("installing Debian's chromium")
    quiet = [*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    succeeds([*quiet, "update"])
    if succeeds([*quiet, "install", "-y", "--no-install-recommends", "chromium", "fonts-dejavu-core"]):
        yield from on_path()


def from_playwright() -> Iterator[str]:
    """Playwright's own build, downloaded into the user's cache folder unless present."""
    from playwright.sync_api import sync_playwright

    note("looking for Playwright's Chromium")
    if succeeds([sys.executable, "-m", "playwright", "install", "chromium"]):
        with sync_playwright() as playwright:
            yield playwright.chromium.executable_path


def starts(path: str) -> bool:
    """Whether the browser runs: Ubuntu's is a stub that needs snap, and Playwright's may lack system libraries."""
    return succeeds([path, "--version"])


def succeeds(command: list[str]) -> bool:
    """Run a command, its output going to stderr; False if it fails, is missing or takes over ten minutes."""
    try:
        return subprocess.run(command, stdout=sys.stderr, check=False, timeout=600).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def note(text: str) -> None:
    """Print progress on stderr; stdout is for the path."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
