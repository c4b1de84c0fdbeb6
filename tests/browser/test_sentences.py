"""What a run bar says is seen, in every view that has one: its box has a size, and nothing clips or hides it. No view
shows the name of a block, a problem or a kernel in code."""

from __future__ import annotations

import re

import pytest

from tests.browser import lab
from tests.browser.bench import Bench, tick, unchanging
from workbench.run import configure
from workbench.run.choices.share_link import to_link

pytestmark = pytest.mark.browser

SEEN = """words => {
  const box = words.getBoundingClientRect();
  for (let at = words; at; at = at.parentElement) {
    const { visibility, opacity, display, clipPath } = getComputedStyle(at);
    if (visibility === "hidden" || opacity === "0" || display === "none" || clipPath !== "none") return false;
  }
  return box.width > 40 && box.height > 8 && box.left >= 0 && box.right <= innerWidth + 1;
}"""
"""Whether an element is seen by eyes."""
READ = """() => {
  const found = [];
  const walk = document.createTreeWalker(document.querySelector(".wb-workbench"), NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const at = walk.currentNode.parentElement;
    // What may be typed is said in code.
    if (at.closest("code, pre, .wb-ink, textarea, .wb-copied, .wb-docs, script, style")) continue;
    if (at.closest("[data-field=cluster], [data-field='preconditioner.solver']")) continue;
    if ((at.closest("select") ?? at).checkVisibility({ visibilityProperty: true })) found.push(walk.currentNode.data);
  }
  for (const canvas of document.querySelectorAll("canvas[data-title]")) {
    if (canvas.checkVisibility({ visibilityProperty: true })) found.push(canvas.dataset.title);
  }
  return found;
}"""
"""All texts of the page in front that eyes read, but for code and what is in a field to be typed in."""
IN_CODE = re.compile(
    r"\b[a-z][a-z0-9]*(-[a-z0-9]+)*:\d|\^-1|\^T|\^H|\b(alpha|beta|gamma|delta|omega)\b|\bA[12]\b|[a-z]\*[a-z]"
    r"|\b(two-layer|bubbles-[23]d|poisson\d+|poisson-[f23]d|pipecg\w*|hybrid[123]|block-cg|cgcg|levelset|mic|fsai)\b"
    r"|\b(mpcg\S*|pipe-pr-cg|block-ic|a-def2|inner-cg|rtol|maxiter|x0|of_\w+)\b|\d[eE][-+]?\d|\^\d|\|\||/uploads/|--\w"
)
"""Names in code: neumann:2, E^-1, alpha*p, A1, bubbles-3d; and numbers as code writes them."""
HYBRID = configure("bubbles-2d", n=32, preconditioner="jacobi", solver="hybrid3", device="opencl")
OF_MANY_PARTS = (
    configure("poisson5", n=24, rhs="rank4:4", preconditioner="ic", solver="block-cg"),
    configure("poisson-fd", n=32, preconditioner="schwarz:2x2,overlap=4", solver="mpcg"),
    configure(
        "bubbles-3d", n=12, preconditioner="block-ic", deflation="levelset:2", coarse="inner-cg", variant="a-def2"
    ),
    configure("bubbles-2d", n=32, preconditioner="mic", solver="pipecg-rr"),
)
"""Blocks with long names, pictures of block methods and of multipreconditioned CG, a cube."""
SOLVE, RACE, SWEEP, SUGGEST = ".wb-solving", ".wb-race:not(.wb-sweep)", ".wb-sweep", ".wb-suggest"
SMALL = configure("bubbles-2d", n=32, preconditioner="neumann:2", deflation="levelset:4")


@pytest.fixture(params=[1280, 640])
def width(request):
    return request.param


@pytest.fixture
def bench(page, app_url, width, shoot):
    """The workbench as a page of this width."""
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{app_url}/?p={to_link(SMALL)}")
    page.wait_for_selector(".wb-workbench .wb-rail")
    return Bench(page, lambda stage: shoot(f"sentences_{width}_{stage}"))


def says(bench, selector, text):
    """Wait until an element has this text and is seen."""
    found = bench.page.locator(selector, has_text=text).first
    bench.until(lambda: found.count() and found.evaluate(SEEN))


def press(bench, view, act):
    bench.page.locator(f'{view} .wb-runbar [data-act="{act}"]:enabled').click()


def test_the_answer_of_every_view_with_a_run_bar_is_seen(bench):
    for title, view, answer in (("Race", RACE, "ended"), ("Sweep", SWEEP, "runs done")):
        lab.turn_to(bench.page, title)
        press(bench, view, "run")
        says(bench, f"{view} .wb-runbar .wb-words[data-state=done]", answer)
        bench.shoot(title)
    lab.turn_to(bench.page, "Suggest")
    press(bench, SUGGEST, "run")
    press(bench, SUGGEST, "stop")
    says(bench, f"{SUGGEST} .wb-runbar .wb-words[data-state=done]", "stopped by the user")
    bench.shoot("suggest")
    lab.turn_to(bench.page, "Solve")
    press(bench, SOLVE, "run")
    says(bench, f"{SOLVE} .wb-result", "Converged in")


def test_choices_that_do_not_go_together_are_marked_and_mended_by_one_press(bench):
    lab.turn_to(bench.page, "Solve")
    press(bench, SOLVE, "run")
    says(bench, f"{SOLVE} .wb-result.wb-good", "Converged in")
    # What cannot run is grey with its reason, and cannot be chosen; what needs other choices says which.
    bench.field("precision").locator("select").select_option("mixed")
    bench.page.locator(f'{SOLVE} [data-field="solver"] .wb-pick').click()
    option = f"{SOLVE} .wb-option.wb-grey"
    says(bench, f'{option}[data-value="hybrid3"][aria-disabled] .wb-reason', "Hybrid pipelined CG 3 shares work")
    says(bench, f'{option}[data-value="pipecg"]:not([aria-disabled]) .wb-reason', "Only with precision: Double")
    bench.shoot("grey")
    bench.page.locator(f'{option}[data-value="pipecg"]').click()
    says(bench, f"{SOLVE} .wb-runbar .wb-words", "Precision mixed replaces r, which pipelined CG does not allow")
    says(bench, f'{SOLVE} [data-field="precision"].wb-invalid .wb-err', "precision mixed replaces r")
    bench.until(bench.page.locator(f'{SOLVE} .wb-runbar [data-act="run"]').is_disabled)
    # The result of the run before is still there, and is called that.
    before = "at => getComputedStyle(at, '::before').content"
    bench.until(lambda: "Earlier" in bench.page.locator(f"{SOLVE} .wb-result > div").evaluate(before))
    bench.shoot("conflict")
    bench.page.locator(f'{SOLVE} [data-act="correct"]').click()
    rhs = bench.field("rhs").locator("select")
    rhs.hover()
    bench.until(lambda: "Cannot run" in rhs.locator('option[value="ones"]:disabled').first.inner_text())
    press(bench, SOLVE, "run")
    says(bench, f"{SOLVE} .wb-result.wb-good", "Run 2")
    assert bench.page.locator(f'{SOLVE} [data-field="solver"] .wb-pick').get_attribute("data-value") == "pipecg"
    bench.until(lambda: bench.page.locator(f"{SOLVE} .wb-result > div").evaluate(before) == "none")


class Names:
    """Texts in code that views show, by view."""

    def __init__(self, bench):
        self.bench = bench
        self.found = {}

    def read(self, view):
        texts = unchanging(self.bench.page, lambda: self.bench.page.evaluate(READ), reads=3)
        self.bench.shoot(f"names_{view}")
        assert texts, view
        self.found |= {f"{view}: {text}": view for text in texts if IN_CODE.search(text)}


@pytest.mark.parametrize("width", [1280, pytest.param(640, marks=pytest.mark.slow)])
def test_no_view_shows_the_name_of_a_block_a_problem_or_a_kernel_in_code(bench):
    names = Names(bench)
    names.read("Build")
    lab.turn_to(bench.page, "Solve")
    tick(bench.page, bench.field("trace").locator("input"))
    bench.solve()
    bench.field("preconditioner").locator(".wb-pick").click()
    bench.page.locator(f'{SOLVE} [data-field="preconditioner"] .wb-option[data-value="jacobi"]').click()
    bench.solve()
    names.read("Solve")
    for title, view in (("Race", RACE), ("Sweep", SWEEP)):
        lab.turn_to(bench.page, title)
        press(bench, view, "run")
        bench.page.locator(f"{view} .wb-runbar .wb-words[data-state=done]").wait_for()
        names.read(title)
    lab.turn_to(bench.page, "Suggest")
    press(bench, SUGGEST, "run")
    bench.page.locator(f"{SUGGEST} tbody tr").first.wait_for()
    press(bench, SUGGEST, "stop")
    names.read("Suggest")
    bench.turn_to("Look inside", ".wb-inside")
    # The one with timings.
    menu = bench.page.locator(".wb-insidepage select").first
    menu.select_option(index=menu.locator("option").count() - 1)
    bench.page.locator(".wb-inside").get_by_text("The whole run by kernel").click()
    bench.page.locator(".wb-inside").get_by_text("Numbers of the kernels").click()
    for place in (".wb-timeline .wb-kernels tbody tr", ".widget-html .wb-kernels tbody tr"):
        bench.page.locator(f".wb-inside {place}").locator("visible=true").first.wait_for()
    names.read("Inspect")
    for title, shown in (
        ("Step", ".wb-steppage .wb-lines"), ("Schedules", ".wb-schedules .wb-entry"), ("Your method", ".wb-own-body"),
        ("Runs", ".wb-runspage tbody tr"),
    ):  # fmt: skip
        bench.turn_to(title, shown)
        names.read(title)
    assert not names.found, names.found


def test_nor_do_builders_many_methods_a_hybrid_run_and_a_run_that_is_opened(page, app_url, shoot):
    page.goto(f"{app_url}/?p={to_link(SMALL)}")
    page.wait_for_selector(".wb-workbench .wb-rail")
    bench = Bench(page, lambda stage: shoot(f"sentences_more_{stage}"))
    names = Names(bench)
    for kind in ("Poisson", "Matrix"):
        page.locator(".wb-kinds").get_by_text(kind).click()
        names.read(f"Build {kind}")
    bench.turn_to("Solve", f"{SOLVE} canvas")
    for configuration in (*OF_MANY_PARTS, HYBRID):
        bench.open_link(to_link(configuration))
        solver = f'{SOLVE} [data-field="solver"] .wb-pick[data-value="{configuration.solver.name}"]'
        page.locator(solver).wait_for()
        if not bench.field("trace").locator("input").is_checked():
            tick(page, bench.field("trace").locator("input"))
        bench.solve()
        names.read(configuration.solver.name)
        for press in page.locator(".wb-method .widget-toggle-button").locator("visible=true").all():
            press.click()
            names.read(f"{configuration.solver.name} {press.inner_text()}")
    bench.turn_to("Look inside", ".wb-inside")
    menu = page.locator(".wb-insidepage select").first
    for place in range(menu.locator("option").count()):
        menu.select_option(index=place)
        names.read(f"Inspect {place}")
    bench.turn_to("Open a run", ".wb-replay")
    names.read("Open a run")
    assert not names.found, names.found


@pytest.mark.parametrize("width", [1280])
def test_a_method_of_ones_own_has_its_name_in_its_race(bench):
    bench.turn_to("Your method", ".wb-own-body")
    bench.page.locator(".wb-own").get_by_role("button", name="Race", exact=True).click()
    bench.page.locator(".wb-own .wb-race .wb-words[data-state=done]").wait_for()
    bench.page.locator(".wb-own .wb-sorted tbody", has_text="2: Method my-cg").wait_for()
    names = Names(bench)
    names.read("Your method")
    assert not names.found, names.found
