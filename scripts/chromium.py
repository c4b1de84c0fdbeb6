"""Print the path of a Chromium that starts, installing one where there is none; the browser tests drive it.

Looked for in this order: the PATH, Debian's package (as root or with passwordless sudo), Playwright's own build. Exits
with one sentence when none can be had, so that the browser tests are never skipped unseen.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator

# workbench/machine/advice.py looks for the same ones.
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
    """The browsers that the PATH holds."""
    yield from filter(None, map(shutil.which, NAMES))


def from_debian() -> Iterator[str]:
    """Debian's chromium, with one font, since pages without any are blank."""
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if not shutil.which("apt-get") or (root and not succeeds([*root, "true"])):
        return
    note("installing Debian's chromium")
    quiet = [*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    succeeds([*quiet, "update"])
    if succeeds([*quiet, "install", "-y", "--no-install-recommends", "chromium", "fonts-dejavu-core"]):
        yield from on_path()


def from_playwright() -> Iterator[str]:
    """Playwright's own build, downloaded into the user's cache folder unless it is there."""
    from playwright.sync_api import sync_playwright

    note("looking for Playwright's Chromium")
    if succeeds([sys.executable, "-m", "playwright", "install", "chromium"]):
        with sync_playwright() as playwright:
            yield playwright.chromium.executable_path


def starts(path: str) -> bool:
    """Whether the browser runs: Ubuntu's is a stub that needs snap, and Playwright's may lack system libraries."""
    return succeeds([path, "--version"])


def succeeds(command: list[str]) -> bool:
    """Run a command, its output going to stderr; False when it fails, is not there or takes over ten minutes."""
    try:
        return subprocess.run(command, stdout=sys.stderr, check=False, timeout=600).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def note(text: str) -> None:
    """Tell what is going on, beside the path that goes to stdout."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
