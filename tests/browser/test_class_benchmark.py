"""The student in Chromium of the class benchmark goes through lessons on a real server."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from benchmarks.classroom import ANSWERS, RACING
from benchmarks.classroom.in_browser import BrowserStudent, browser
from tests.browser import lab
from tests.waiting import until

pytestmark = pytest.mark.browser


async def through(url, lesson, *, races):
    async with browser() as chromium:
        one = BrowserStudent(chromium, url, lesson)
        return await one.through(ANSWERS[lesson], races=races), one.errors


@pytest.mark.parametrize(("lesson", "races"), [(lesson, lesson == RACING) for lesson in ANSWERS])
def test_the_student_answers_all_and_leaves_no_kernel(lesson, races, app_url, app_folder):
    before = lab.kernels(app_folder)
    # This thread may have Playwright's loop of other tests.
    with ThreadPoolExecutor(1) as pool:
        seconds, errors = pool.submit(asyncio.run, through(app_url, lesson, races=races)).result()
    assert errors == []
    assert set(seconds) == {"open", "answers", "reload"} | ({"race"} if races else set())
    assert len(seconds["answers"]) == len(ANSWERS[lesson])
    assert all(one > 0 for one in (*seconds.pop("answers"), *seconds.values()))
    until(lambda: lab.kernels(app_folder) <= before)
