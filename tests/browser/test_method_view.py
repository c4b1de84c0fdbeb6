"""What block methods and multipreconditioned CG do, below the plot of Solve: in the app and in JupyterLab."""

from __future__ import annotations

import pytest

from tests.browser import lab
from tests.browser.bench import Bench, opened, run_to_the_end, until
from workbench.live.solve.form import EXAMPLES
from workbench.run import configure
from workbench.run.choices.share_link import to_link

pytestmark = pytest.mark.browser
PICTURES = {
    "Nine boxes, a direction from each": {
        "Directions": "directions",
        "Residual and boxes": "boxes",
        "Weights of terms": "weights",
        "Conditioning": "directions of blocks",
        "Time of parts": "time of parts",
    },
    "Eight right-hand sides of rank 4": {
        "Residuals of columns": "residuals of columns",
        "Against products": "products",
        "Map of columns": "columns",
        "Rank and pivots": "rank",
    },
}
"""The first plot of each picture, by the worked example."""


def choose(page, name):
    page.locator(".wb-method").get_by_role("button", name=name, exact=True).click()


def chart(page, name):
    return page.locator(f".wb-method canvas[data-name='{name}']")


def test_every_picture_of_a_run_in_solve(page, request, shoot):
    opened(page, request, "voila")
    bench = Bench(page, shoot)
    bench.turn_to("Solve", ".wb-solving canvas")
    assert set(PICTURES) < set(EXAMPLES)
    for example, pictures in PICTURES.items():
        page.locator(".wb-solving").get_by_label("Example", exact=True).select_option(example)
        bench.solve()
        for name, scene in pictures.items():
            choose(page, name)
            chart(page, scene).wait_for()
            chart(page, scene).scroll_into_view_if_needed()
            shoot(f"method_{name}")
    choose(page, "Residuals of columns")
    chart(page, "residuals of columns").hover()
    page.locator(".wb-method .wb-nearest", has_text="column ").wait_for()
    # A method with one direction has none of it.
    page.locator(".wb-solving").get_by_label("Example", exact=True).select_option("Poisson equation, one level")
    bench.solve()
    page.locator(".wb-method").wait_for(state="hidden")


def test_a_run_of_block_cg_has_its_pictures_in_the_app(page, app_url):
    """Block CG was in the menu of solvers, and a notebook alone showed what it does."""
    chosen = configure("bubbles-2d", n=32, rhs="random:4", preconditioner="neumann:2", solver="block-cg")
    page.goto(f"{app_url}/?p={to_link(chosen)}")
    page.wait_for_selector(".wb-workbench .wb-rail")
    run_to_the_end(page)
    page.locator(".wb-solving canvas[data-name='residuals of columns']").wait_for()


def test_right_hand_sides_are_chosen_by_family_and_number(page, request, shoot):
    opened(page, request, "voila")
    bench = Bench(page, shoot)
    bench.turn_to("Solve", ".wb-solving canvas")
    assert bench.field("columns").is_hidden()
    bench.field("rhs").locator("select").select_option(label="Columns of a moving source")
    bench.field("columns").wait_for()
    bench.fill("columns", "5")
    page.locator(".wb-runbar").get_by_role("button", name="Use Block CG").click()
    bench.solve()
    until(page, lambda: page.locator(".wb-method .wb-entry").count() == 5)
    shoot("method_sources")


HELD = """
import time
session = view.run()
session.pause()
for count in range(1, 5):
    session.step()
    while session.run is None or session.run.history.count < count or session.state.value != "paused":
        time.sleep(0.05)
"""


@pytest.mark.slow
def test_pictures_of_a_run_that_is_held(page, lab_url, lab_folder, shoot):
    first = "from workbench.live import explore\nview = explore('poisson-fd', n=300, solver='mpcg', "
    first += "preconditioner='schwarz:3x3,overlap=4')\nview"
    lab.open_cells(page, lab_url, lab_folder, "held_boxes.ipynb", first, HELD)
    lab.run_all(page)
    page.locator("[role=status]", has_text="paused, iteration 3").wait_for()
    for name, scene in (("Directions", "directions"), ("Weights of terms", "weights")):
        choose(page, name)
        page.locator(f".wb-method canvas[data-name='{scene}'][aria-label*='iteration 3']").wait_for()
        shoot(f"method_held_{scene}")
    page.get_by_role("button", name="Stop").click()
    page.locator(".wb-result").wait_for()
    chart(page, "weights").wait_for()
