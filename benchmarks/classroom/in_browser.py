"""A student in a real browser: reads a lesson to its end, answers, races, loads the page again and leaves."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING

from benchmarks.classroom.student import PATIENCE
from benchmarks.live_view.lab import chromium_path, lab_tools

if TYPE_CHECKING:
    from playwright.async_api import Browser, Error, Locator, Page

EXERCISE = ".wb-exercise"
SCREEN, PAUSE = 700, 250
"""Pixels that the student reads on, and milliseconds until the next ones."""
VERDICT = """([at, before]) => at.matches(".wb-good, .wb-bad") && at.innerText !== before"""
"""True once a line of an exercise says another verdict than before."""
TO_THE_END = "() => document.scrollingElement.scrollHeight - innerHeight - scrollY"
Seconds = dict[str, float | list[float]]
"""Of each act by its name; of answers one for each."""


@contextlib.asynccontextmanager
async def browser() -> AsyncGenerator[Browser]:
    """The Chromium of the browser tests, until the block ends."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        path = chromium_path(playwright.chromium.executable_path)
        chromium = await playwright.chromium.launch(executable_path=path, args=lab_tools().BROWSER_ARGS)
        try:
            yield chromium
        finally:
            await chromium.close()


class BrowserStudent:
    """One page of a lesson, used with mouse and keyboard. errors: what scripts of the page have thrown, but for what
    libraries throw where a page is left while it loads."""

    def __init__(self, chromium: Browser, url: str, lesson: str) -> None:
        self._chromium, self._address = chromium, f"{url}/lesson/{lesson}"
        self.errors: list[str] = []

    async def through(self, answers: Sequence[tuple[int, str]], *, races: bool) -> Seconds:
        """Go through the lesson at the student's own pace; returns the seconds that each act took.

        answers: number of an exercise, from 0, and what is answered. open and reload: until the last of these exercises
        can be answered.
        """
        page = await self._chromium.new_page(viewport=lab_tools().VIEWPORT)
        page.set_default_timeout(1000 * PATIENCE)
        page.on("pageerror", self._note)
        last = max(number for number, _ in answers)
        try:
            begun = time.monotonic()
            await page.goto(self._address, wait_until="commit")
            found: Seconds = {"open": await _ready(page, last, begun)}
            await _read(page)
            found["answers"] = [await _answer(page, number, answer) for number, answer in answers]
            if races:
                found["race"] = await _race(page)
            begun = time.monotonic()
            await page.reload(wait_until="commit")
            return found | {"reload": await _ready(page, last, begun)}
        finally:
            with contextlib.suppress(Exception):
                # A page that is left ends its kernel; one that Playwright closes is given no time to.
                await page.goto("about:blank")
                await page.close()

    def _note(self, error: Error) -> None:
        if not any(words in str(error) for words in lab_tools().OF_OTHERS):
            self.errors.append(f"a page's script: {error}")


async def _ready(page: Page, last: int, begun: float) -> float:
    await page.locator(EXERCISE).nth(last).wait_for()
    return _since(begun)


async def _read(page: Page) -> None:
    """Scroll through the page, so that all its pictures are drawn. Raises TimeoutError where it has no end."""
    async with asyncio.timeout(PATIENCE):
        while await page.evaluate(TO_THE_END) > 1:
            await page.mouse.wheel(0, SCREEN)
            await page.wait_for_timeout(PAUSE)


async def _answer(page: Page, number: int, answer: str) -> float:
    """Seconds from the press until the verdict."""
    exercise = page.locator(EXERCISE).nth(number)
    said = await exercise.locator("[role=status]").element_handle()
    before = await exercise.locator("[role=status]").inner_text()
    await _fill(exercise, answer)
    begun = time.monotonic()
    await exercise.get_by_role("button", name="Check").click()
    await page.wait_for_function(VERDICT, arg=[said, before])
    return _since(begun)


async def _fill(exercise: Locator, answer: str) -> None:
    menu = exercise.locator("select")
    if await menu.count():
        await menu.select_option(answer)
    else:
        await exercise.locator("input").fill(answer)


async def _race(page: Page) -> float:
    bar = page.locator(".wb-runbar").first
    begun = time.monotonic()
    await bar.locator('[data-act="run"]').click()
    await bar.locator("[data-state=done]").wait_for()
    return _since(begun)


def _since(begun: float) -> float:
    return round(time.monotonic() - begun, 3)
