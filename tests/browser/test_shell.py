"""The frame of the page: rail, keys, help, tour, glossary, themes, and that every view fits every width."""

from __future__ import annotations

import time

import pytest

from tests.browser import lab
from tests.browser.bench import opened, unchanging, until
from tests.browser.conftest import KeptPage, keep
from tests.waiting import LIMIT

pytestmark = pytest.mark.browser

BUILT = ".wb-building canvas.wb-canvas[data-bubbles]"
WIDE = """() => [...document.querySelectorAll('html, body, #rendered_cells')]
  .filter((at) => at.scrollWidth > at.clientWidth + 1).map((at) => [at.tagName, at.scrollWidth, at.clientWidth])"""
LISTENS = ".wb-workbench[data-shell]"
"""The page once it hears keys."""
OUT_OF_SIGHT = """() => [...document.querySelectorAll('.wb-workbench :is(button, input, select, canvas)')]
  .filter((at) => at.checkVisibility() && !at.closest('.wb-sorted, .widget-html, [popover], .wb-legend.wb-aside'))
  .filter((at) => {
    const box = at.getBoundingClientRect();
    if (box.left < -1 || box.right > innerWidth + 1) return true;
    for (let above = at.parentElement; above?.closest(".wb-pane"); above = above.parentElement) {
      if (getComputedStyle(above).overflowX === "visible") continue;
      const edge = above.getBoundingClientRect();
      if (box.left < edge.left - 1 || box.right > edge.right + 1) return true;
    }
    return false;
  })
  .map((at) => at.outerHTML.slice(0, 90))"""
OVERLAPS = """() => {
  const all = [...document.querySelectorAll('.wb-workbench :is(button, input, select)')]
    .filter((at) => at.checkVisibility() && !at.closest('[popover], .wb-rail, .wb-runbar, .wb-legend.wb-aside'));
  const boxes = all.map((at) => [at, at.getBoundingClientRect()]).filter(([, box]) => box.width > 2 && box.height > 2);
  const found = [];
  for (const [i, [one, a]] of boxes.entries()) for (const [other, b] of boxes.slice(i + 1)) {
    if (one.contains(other) || other.contains(one)) continue;
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 2 && high > 2) found.push([one.outerHTML.slice(0, 60), other.outerHTML.slice(0, 60)]);
  }
  return found;
}"""
CUT = """() => [...document.querySelectorAll(".wb-workbench :is([role=tab], [role=radio])")]
  .filter((at) => at.checkVisibility()).filter((at) => {
    const words = document.createRange();
    words.selectNodeContents(at);
    const [text, box] = [words.getBoundingClientRect(), at.getBoundingClientRect()];
    return text.left < box.left - 1 || text.right > box.right + 1;
  }).map((at) => `${at.textContent}: ${at.getBoundingClientRect().width}`)"""
"""Titles that are wider than what they stand on, with the width of that."""
LAYOUT = """() => [...document.querySelectorAll(".wb-workbench *")].filter((at) => at.checkVisibility())
  .map((at) => { const box = at.getBoundingClientRect(); return box.width + box.height; }).join()"""
TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"
"""A new size of the page is laid out and painted."""
SAME_NAMES = """() => {
  const names = [...document.querySelectorAll(".wb-workbench [id]")].map((at) => at.id);
  return names.filter((name, place) => names.indexOf(name) !== place);
}"""
LEFT_EMPTY = """() => {
  const drawing = document.querySelector(".wb-drawing"), right = (at) => at.getBoundingClientRect().right;
  return right(drawing) - Math.max(...[...drawing.children].map(right));
}"""
WIDTHS = {"lab": (640, 800), "voila": (640, 800, 1280, 1920)}
GROUND_OF_JUPYTER = """() => {
  const at = document.createElement("i");
  at.style.background = "var(--jp-layout-color0)";
  document.body.append(at);
  const found = getComputedStyle(at).backgroundColor;
  at.remove();
  return found;
}"""
GROUND = "() => getComputedStyle(document.querySelector('.wb-workbench')).backgroundColor"


def opened_by(chromium, url, **options):
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, **options)
    context.set_default_timeout(1000 * LIMIT)
    page = context.new_page()
    page.goto(f"{url}/{lab.WORKBENCH}")
    page.wait_for_selector(BUILT)
    return page


def until_none(page, script, title):
    """Wait until a script finds nothing; canvases follow a new width after a while."""
    end = time.monotonic() + LIMIT
    while found := page.evaluate(script):
        assert time.monotonic() < end, f"{title}: {found}"
        page.wait_for_timeout(100)


def in_front(page):
    return page.locator(".wb-workbench").get_attribute("data-view")


def listening(page, url):
    page.goto(f"{url}/{lab.WORKBENCH}")
    page.wait_for_selector(BUILT)
    page.wait_for_selector(LISTENS)
    return page


@pytest.fixture
def app(page, app_url):
    return listening(page, app_url)


@pytest.fixture(scope="module")
def used(chromium, app_url, request):
    """A page for one test after another, each of which leaves it without a dialog and without a run."""
    with KeptPage(chromium) as kept, kept.lent(request.node) as page:
        yield listening(page, app_url)


def turn_to_solve(page):
    """By its key, which is text where something is typed."""
    page.evaluate("() => document.activeElement?.blur()")
    page.keyboard.press("2")


def test_run_is_reached_within_ten_stops(used):
    turn_to_solve(used)
    used.wait_for_function("() => document.querySelector('.wb-solving [data-act=run]')?.checkVisibility()")
    used.evaluate("() => document.activeElement?.blur()")
    stops = 0
    while used.evaluate("() => document.activeElement?.dataset.act") != "run":
        used.keyboard.press("Tab")
        stops += 1
        assert stops <= 10


def test_a_choice_is_found_by_searching_and_says_what_it_is(used):
    turn_to_solve(used)
    field = used.locator('[data-field="preconditioner"]')
    field.locator(".wb-pick").click()
    used.keyboard.type("incomplete chol")
    until(used, lambda: field.locator(".wb-option").count() == 4)
    keep(used, "menu")
    used.keyboard.press("ArrowDown")
    used.keyboard.press("ArrowUp")
    used.keyboard.press("ArrowUp")
    field.locator(".wb-option.wb-active").wait_for()
    used.keyboard.press("Enter")
    # Formula, cost and source are in the menu and in help, and not on the page at rest.
    until(used, lambda: "Meijerink" in field.locator(".wb-pick").get_attribute("title"))
    assert "Meijerink" not in field.inner_text()
    field.locator(".wb-more").click()
    used.locator("dialog.wb-helppanel[open]", has_text="Name in code").wait_for()
    used.locator("dialog.wb-helppanel[open]", has_text="Meijerink").wait_for()
    used.keyboard.press("Escape")
    # What speaks against choices comes a moment after the menu has opened: rows have other heights, below a press too.
    field.locator(".wb-pick").click()
    field.locator(".wb-reason").first.wait_for()
    name = field.locator('.wb-option[data-value="jacobi"] .wb-name')
    name.evaluate("name => name.scrollIntoView({ block: 'nearest' })")
    box = unchanging(used, name.bounding_box)
    used.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    used.mouse.down()
    field.locator(".wb-menu").evaluate("menu => menu.refresh()")
    name.evaluate("name => { name.parentElement.style.marginTop = '80px'; }")
    used.mouse.up()
    field.locator('.wb-pick[data-value="jacobi"]').wait_for()


def test_a_worked_example_is_loaded_undone_and_named_in_the_header(used):
    turn_to_solve(used)
    used.get_by_label("Example").select_option("50 random bubbles")
    used.locator(".wb-chip", has_text="50 random bubbles in a square").wait_for()
    used.locator(".wb-top").get_by_role("button", name="Undo").click()
    used.locator(".wb-chip", has_text="4 bubbles in a square").wait_for()


def test_the_density_ratio_goes_the_same_way_for_every_problem(used):
    turn_to_solve(used)
    used.locator(".wb-solving .wb-advanced").evaluate("details => { details.open = true; }")
    ratio = used.locator('[data-field="problem.density_ratio"] input')
    until(used, lambda: ratio.input_value() == "0.001")
    used.get_by_label("Example").select_option("Two layers, as in the paper")
    used.locator('.wb-solving [data-field="problem"] .wb-pick[data-value="two-layer"]').wait_for()
    assert ratio.input_value() == "0.001"


def test_a_term_under_the_pointer_has_its_sentence(used):
    turn_to_solve(used)
    used.locator('[data-field="rtol"] label').hover(position={"x": 20, "y": 8})
    used.locator(".wb-term:popover-open", has_text="relative residual at which a run stops").wait_for()
    keep(used, "glossary")


def test_the_ring_of_a_plot_that_has_the_focus_is_inside_of_what_cuts_it_off(used):
    turn_to_solve(used)
    canvas = used.locator(".wb-solving .wb-convergence canvas.wb-canvas")
    canvas.focus()
    used.keyboard.press("ArrowRight")
    assert canvas.evaluate("at => getComputedStyle(at).outlineOffset") == "-2px"
    assert canvas.evaluate("at => getComputedStyle(at).outlineStyle") == "solid"


def test_what_one_view_says_is_not_said_in_another(used):
    """Notes of one tab stayed under the others."""
    turn_to_solve(used)
    used.locator('[data-field="problem.n"] input').fill("2")
    used.keyboard.press("Enter")
    used.locator("[role=status]", has_text="got 2").wait_for()
    used.locator("h1").click()
    for key, view in (("1", "build"), ("6", "learn")):
        used.keyboard.press(key)
        used.wait_for_function("view => document.querySelector('.wb-workbench').dataset.view === view", arg=view)
        said = used.locator(":is([role=status], [role=alert])").locator("visible=true").all_inner_texts()
        assert not [text for text in said if "Cells per side" in text]


def test_keys_turn_to_views_run_and_stop_and_are_text_while_typing(app, shoot):
    for key, view in (
        ("2", "solve"),
        ("3", "compare"),
        ("4", "flow"),
        ("5", "inspect"),
        ("6", "learn"),
        ("1", "build"),
        ("2", "solve"),
    ):
        app.keyboard.press(key)
        app.wait_for_function("view => document.querySelector('.wb-workbench').dataset.view === view", arg=view)
    app.wait_for_selector(".wb-solving [data-act=run]:enabled")
    app.keyboard.press("r")
    # The line is for screen readers once the result is above the plot.
    app.locator(".wb-solving [role=status]", has_text="Run 1: Converged in ").wait_for(state="attached")
    until(app, lambda: app.locator(".wb-solving .wb-runlist tbody tr").count() == 1)
    # A digit typed in a field is text.
    cells = app.locator('.wb-solving:not(.wb-flow) [data-field="problem.n"] input')
    cells.fill("")
    cells.press_sequentially("32")
    assert in_front(app) == "solve"
    assert cells.input_value() == "32"
    cells.press("Enter")
    app.locator(".wb-chip", has_text="32² = 1024 unknowns").wait_for()
    app.locator("h1").click()
    app.keyboard.press("/")
    app.locator(".wb-menu:popover-open .wb-search").wait_for()
    app.keyboard.press("Escape")
    app.keyboard.press("?")
    app.locator("dialog.wb-helppanel[open]", has_text="Keys").wait_for()
    shoot("help")
    app.get_by_role("button", name="The CG family").click()
    app.locator(".wb-docs h1", has_text="The CG family").wait_for()
    app.keyboard.press("Escape")


def test_the_tour_is_walked_by_keys_and_left_by_escape(app, shoot):
    app.keyboard.press("?")
    app.get_by_role("button", name="Start the tour").click()
    card = app.locator(".wb-tour")
    card.get_by_text("1 of").wait_for()
    app.keyboard.press("ArrowRight")
    card.get_by_text("2 of").wait_for()
    until(app, lambda: in_front(app) == "solve")
    assert not app.locator(".wb-solving .wb-runlist tbody tr").count()
    # What the next steps point at is not empty.
    app.keyboard.press("ArrowRight")
    app.locator(".wb-solving .wb-runlist tbody tr").first.wait_for()
    app.keyboard.press("ArrowRight")
    card.get_by_text("Watch it converge").wait_for()
    app.wait_for_selector(".wb-solving .wb-convergence canvas[data-count]:not([data-count='0'])")
    around = "at => { const { x, y, width, height } = at.getBoundingClientRect(); return [x, y, width, height]; }"
    plot = app.locator(".wb-solving .wb-convergence").first
    # The result comes above the plot, which moves.
    app.locator(".wb-solving .wb-result", has_text="Converged").wait_for()
    until(app, lambda: app.locator(".wb-toured").evaluate(around) == plot.evaluate(around))
    shoot("tour")
    # To the end: a timeline with kernels.
    for title in ("Compare methods", "Solve at every time step", "Compare with papers", "Look inside a run"):
        app.keyboard.press("ArrowRight")
        card.get_by_text(title).wait_for()
    timeline = app.locator(".wb-page-inspect .wb-timeline").first
    timeline.locator("canvas").first.wait_for()
    until(app, lambda: app.locator(".wb-toured").evaluate(around) == timeline.evaluate(around))
    timeline.locator("table tbody tr").first.wait_for(state="attached")
    app.keyboard.press("Escape")
    card.wait_for(state="detached")
    assert not app.locator(".wb-toured").count()


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.slow), "dark"])
def test_the_served_page_has_the_theme_of_the_system(chromium, app_url, scheme):
    """It was fixed to light."""
    page = opened_by(chromium, app_url, color_scheme=scheme)
    assert page.locator("html").get_attribute("data-wb-theme") == scheme
    assert page.evaluate(GROUND) == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 22, 26)"}[scheme]
    # A theme chosen here stays when the page is loaded again.
    page.get_by_role("button", name="Theme").click()
    page.wait_for_function("() => document.documentElement.dataset.wbTheme === 'light'")
    page.get_by_role("button", name="Light").click()
    page.wait_for_function("() => document.documentElement.dataset.wbTheme === 'dark'")
    page.reload()
    page.wait_for_selector(BUILT)
    assert page.locator("html").get_attribute("data-wb-theme") == "dark"
    page.context.close()


@pytest.mark.parametrize("place", ["lab", "voila"])
def test_nothing_is_cut_off_or_covered_at_any_width(page, request, place):
    """At 800 px Pause covered the axis' menu; at 640 px Run was below a form of 26 fields."""
    narrow, *wider = [{"width": width, "height": 900} for width in WIDTHS[place]]
    page.set_viewport_size(narrow)
    opened(page, request, place)
    for title in ("Build", "Solve", "Race", "Sweep", "Storage", "Look inside", "Step", "Papers", "Runs"):
        lab.turn_to(page, title)
        if title == "Papers":
            # A table with menus and sliders, modelled alone.
            page.locator('[data-item="hybrid-pipecg.fig4"]').click()
            page.locator(".wb-paper canvas[data-name=fig4]").wait_for()
        unchanging(page, lambda: page.evaluate(LAYOUT), reads=3)
        for size in (narrow, *wider, narrow):
            page.set_viewport_size(size)
            page.evaluate(TWO_FRAMES)
            # Titles of tabs were cut.
            for script in (WIDE, OUT_OF_SIGHT, OVERLAPS, CUT):
                until_none(page, script, f"{title} at {size}")
    if place == "voila":
        # On a wide screen Build left a part of its width empty.
        lab.turn_to(page, "Build")
        page.set_viewport_size({"width": 1920, "height": 1080})
        until(page, lambda: page.evaluate(LEFT_EMPTY) < 24)
    lab.turn_to(page, "Solve")
    run = page.locator(".wb-solving [data-act=run]")
    page.locator(".wb-solving .wb-advanced summary").click()
    for size in (narrow, *wider):
        page.set_viewport_size(size)
        page.locator(".wb-solving .wb-advanced").scroll_into_view_if_needed()
        assert run.is_visible()
        # In a notebook the bar scrolls away with the cell, but it comes before the form.
        if place == "voila":
            until(page, lambda: 0 <= run.bounding_box()["y"] < 250)
        else:
            form = page.locator(".wb-solving .wb-form").first
            until(page, lambda form=form: run.bounding_box()["y"] < form.bounding_box()["y"])


def test_jupyterlabs_theme_is_followed_and_two_workbenches_have_a_view_in_front_each(page, lab_url, lab_folder):
    """Both had the same name, so that each hid what the other had in front."""
    code = "from workbench.live import workbench\ndisplay(workbench(n=64), workbench(n=32))"
    lab.open_cells(page, lab_url, lab_folder, "shell.ipynb", code)
    lab.run_all(page)
    benches = page.locator(".wb-workbench")
    for place in range(2):
        benches.nth(place).locator(BUILT).wait_for()
    benches.nth(0).get_by_role("tab", name="Solve", exact=True).click()
    benches.nth(0).locator(".wb-solving").wait_for()
    assert benches.nth(1).locator(".wb-building").is_visible()
    assert page.evaluate(SAME_NAMES) == []
    assert page.locator("html").get_attribute("data-wb-by") == "jupyter"
    change = "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })"
    page.evaluate(change, "JupyterLab Dark")
    page.wait_for_function("() => document.documentElement.dataset.wbTheme === 'dark'")
    until(page, lambda: page.evaluate(GROUND) == page.evaluate(GROUND_OF_JUPYTER))
    # JupyterLab takes away what it shows during a change a while later, and fails if a second one came meanwhile.
    page.wait_for_selector("#jupyterlab-splash", state="detached")
    page.evaluate(change, "JupyterLab Light")
    page.wait_for_function("() => document.documentElement.dataset.wbTheme === 'light'")
