"""A page whose server was started again, whose network was cut, or whose kernel has ended while it was being opened:
what it says, and what comes back."""

import contextlib
import json

import pytest

from tests.browser import lab
from tests.browser.forwarder import forwarding
from tests.browser.lab import button, until

pytestmark = pytest.mark.browser
CUT_OFF = "The connection to the kernel is lost"


def test_after_a_restart_a_lesson_says_so_once_and_brings_answers_back(chromium, tmp_path):
    page = lab.context(chromium).new_page()
    with contextlib.ExitStack() as servers:
        (tmp_path / "one").mkdir()
        url = servers.enter_context(lab.voila_server(tmp_path / "one"))
        page.goto(f"{url}/lesson/without-pain")
        first = page.locator(".wb-exercise").first
        first.locator("input").fill("9")
        first.get_by_role("button", name="Check").click()
        first.get_by_text("Right: from (9, 1)").wait_for()
        servers.close()
        gone = page.locator(".wb-gone")
        gone.get_by_text("The connection to the kernel is lost").wait_for()
        assert page.get_by_role("button", name="Reload").count() == 0
        (tmp_path / "two").mkdir()
        port = url.rpartition(":")[2]
        with lab.voila_server(tmp_path / "two", port=int(port)):
            gone.get_by_text("The kernel was restarted or has ended").wait_for()
            assert gone.count() == 1
            # Nothing can be pressed that does nothing.
            assert first.get_by_role("button", name="Check").evaluate("(at) => at.inert")
            assert not button(page, "Projector").evaluate("(at) => at.inert")
            button(page, "Reload").click()
            page.locator(".wb-exercise").first.get_by_text("Right: from (9, 1)").wait_for()
            assert page.locator(".wb-exercise input").first.input_value() == "9"
            until(page, lambda: page.locator(".wb-gone").count() == 0)


def test_a_network_that_is_cut_alone_is_told_and_all_comes_back_with_it(chromium, tmp_path):
    page = lab.context(chromium).new_page()
    with lab.voila_server(tmp_path) as url, forwarding(url) as network:
        page.goto(f"{network.address}/lesson/without-pain")
        first, second, third = (page.locator(".wb-exercise").nth(k) for k in range(3))
        first.locator("input").fill("9")
        first.get_by_role("button", name="Check").click()
        first.get_by_text("Right: from (9, 1)").wait_for()
        # Typed before, answered afterwards.
        third.locator("input").fill("45")
        network.stop()
        gone = page.locator(".wb-gone")
        gone.get_by_text(CUT_OFF).wait_for()
        assert page.get_by_role("button", name="Reload").count() == 0
        assert first.get_by_role("button", name="Check").evaluate("(at) => at.inert")
        network.go_on()
        until(page, lambda: gone.count() == 0)
        # The same kernel: what it knew, and what it is asked for now.
        first.get_by_text("Right: from (9, 1)").wait_for()
        first.get_by_text("solved at the 1st try").wait_for()
        for field, answer in ((second, "-2.5"), (third, "45")):
            field.locator("input").fill(answer)
            field.get_by_role("button", name="Check").click()
            field.get_by_text("Right:").wait_for()


def test_a_run_goes_on_while_the_network_is_cut_and_is_shown_afterwards(chromium, tmp_path):
    page = lab.context(chromium).new_page()
    with lab.voila_server(tmp_path) as url, forwarding(url) as network:
        page.goto(f"{network.address}/?view=solve.solve")
        press, result = button(page, "Run").locator("visible=true"), page.locator(".wb-result").locator("visible=true")
        press.click()
        network.stop()
        gone = page.locator(".wb-gone")
        gone.get_by_text(CUT_OFF).wait_for()
        network.go_on()
        until(page, lambda: gone.count() == 0)
        result.get_by_text("Run 1:").wait_for()
        press.click()
        result.get_by_text("Run 2:").wait_for()


def lesson(folder, *sources):
    """A folder with a teacher's notebook of these cells."""
    common = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    cells = [{"cell_type": "markdown", "id": "head", "metadata": {}, "source": "# Mine\n\n**Why?**"}]
    cells += [{**common, "id": f"c{place}", "source": source} for place, source in enumerate(sources)]
    made = folder / "own"
    made.mkdir()
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (made / "mine.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    return made


ASK = 'from workbench.live import ask\nask("1 + 1?", 2)'
DIE = """import os, signal
if os.path.exists("dies"):
    os.kill(os.getpid(), signal.SIGKILL)"""
WHILE_OPENED = "has ended while the page was being opened"


def test_a_page_whose_kernel_ends_while_it_is_opened_says_so_and_offers_reload(chromium, tmp_path):
    page = lab.context(chromium).new_page()
    own = lesson(tmp_path, ASK, DIE, ASK.replace("2", "3"))
    with lab.voila_server(tmp_path, f"--PageServer.own_lessons={own}") as url:
        (own / "dies").touch()
        page.goto(f"{url}/lesson/own/mine")
        page.get_by_role("alert").get_by_text(WHILE_OPENED).wait_for()
        assert page.locator("#wb-outline, #loading").count() == 0
        (own / "dies").unlink()
        button(page, "Reload").click()
        page.locator(".wb-exercise").nth(1).wait_for()
        assert page.get_by_text(WHILE_OPENED).count() == 0


def test_a_page_whose_kernel_ends_before_the_browser_has_connected_says_so(chromium, tmp_path):
    page = lab.context(chromium).new_page()
    with lab.voila_server(tmp_path) as url:
        # Not connected before the kernel is gone.
        page.route("**/channels*", lambda route: route.abort())
        ended = []

        def end(route):
            for each in lab.of_server(tmp_path):
                if each.pid in lab.kernels(tmp_path) and not ended:
                    each.kill()
                    ended.append(each.pid)
            route.continue_()

        # The script that starts widgets is asked for when all cells have run.
        page.route("**/voila.js*", end)
        page.goto(f"{url}/lesson/without-pain")
        page.get_by_role("alert").get_by_text(WHILE_OPENED).wait_for()
        page.unroute_all()
        button(page, "Reload").click()
        page.locator(".wb-exercise").first.wait_for()
