"""A page of a lesson after its server has been started again: what it says, and what comes back."""

import contextlib

from tests.browser import lab
from tests.browser.lab import button, until


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
