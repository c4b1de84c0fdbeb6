"""An extension of others on the page: its view, its preconditioner in Solve, and its document."""

from __future__ import annotations

import os
import zipfile

import pytest

from tests.browser import lab
from tests.browser.bench import solved
from tests.packaging import example_extension, wheels

pytestmark = pytest.mark.browser

VIEW = ".wb-pane-learn-damping"


@pytest.fixture(scope="module")
def extended_url(tmp_path_factory):
    """A server of pages, with the extension of how_to_extend.md on the path of its kernels."""
    folder = tmp_path_factory.mktemp("extension")
    installed = folder / "installed"
    with zipfile.ZipFile(wheels.built(example_extension.save(folder), folder)) as wheel:
        wheel.extractall(installed)
    with pytest.MonkeyPatch.context() as patch:
        path = [str(installed), *filter(None, [os.environ.get("PYTHONPATH")])]
        patch.setenv("PYTHONPATH", os.pathsep.join(path))
        with lab.voila_server(tmp_path_factory.mktemp("server")) as url:
            yield url


def plotted(page):
    """What the plot of the view is called where it is read out."""
    return page.evaluate("at => document.querySelector(at)?.getAttribute('aria-label') ?? ''", f"{VIEW} canvas")


def test_its_view_follows_its_preconditioner_which_solves(page, extended_url, shoot):
    page.goto(f"{extended_url}/?view=learn.damping")
    lab.until(page, lambda: "Choose Damped Jacobi" in plotted(page))
    lab.turn_to(page, "Solve")
    page.locator('.wb-solving [data-act="run"]').wait_for()
    lab.pick(page.locator(".wb-solving"), "preconditioner", "damped")
    assert page.locator('.wb-solving .wb-pick[data-value="damped"]').inner_text() == "Damped Jacobi"
    number = solved(page)
    row = page.locator(f'.wb-solving .wb-runlist tr[data-row="{number}"]')
    assert "2 damped Jacobi sweeps" in row.inner_text()
    page.get_by_role("tab", name="Learn", exact=True).click()
    page.locator(".wb-top").get_by_role("radio", name="Damping", exact=True).click()
    lab.until(page, lambda: "2 sweeps of weight 1.5" in plotted(page))
    shoot("damping")
