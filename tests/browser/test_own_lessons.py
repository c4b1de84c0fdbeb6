"""The walk of docs/teaching.md in a class: a teacher's own lesson, two students, and what the teacher sees of them."""

from __future__ import annotations

import re

import pytest

from tests.browser import lab
from tests.extensions.lessons import walkthrough

pytestmark = pytest.mark.browser

TEACHER = r"for you alone: (\S+)"


def serve(folder, kept, port=None):
    """A server with the lesson of the walk and a teacher, whose list is in the folder `kept`."""
    folder.mkdir()
    options = (f"--PageServer.own_lessons={kept}", f"--PageServer.class_file={kept / 'class.json'}")
    return lab.voila_server(folder, *options, "--PageKernels.classroom=True", port=port)


def said(page, folder, pattern):
    """Wait until the terminal of a server says something; returns the first group."""
    log = folder / "server.log"
    return lab.until(page, lambda: re.search(pattern, log.read_text("utf-8")), f"no {pattern} is printed")[1]


@pytest.fixture
def person(chromium):
    """Opens the page of another person at an address, who may type a name."""
    made = []

    def open_page(url, name=""):
        context = lab.context(chromium)
        made.append(context)
        page = context.new_page()
        page.goto(url, wait_until="commit")
        if name:
            field = page.get_by_label("Your name or number")
            field.fill(name)
            field.press("Enter")
        return page

    yield open_page
    for context in made:
        context.close()


def answer(page, number, text, said):
    """Answer an exercise, and wait for the verdict."""
    exercise = page.locator(".wb-exercise").nth(number - 1)
    exercise.get_by_role("textbox").fill(text)
    exercise.get_by_role("textbox").press("Enter")
    exercise.locator("[role=status]", has_text=said).wait_for()


def cells(page):
    """Rows of the teacher's table, by the name of the student."""
    rows = page.locator(".wb-classexercises tbody tr").evaluate_all(
        "rows => rows.map((row) => [...row.cells].slice(1).map((cell) => cell.textContent))"
    )
    return {name: done for name, *done in rows}


def test_a_teacher_serves_a_lesson_and_sees_two_students_solve_it(tmp_path, person, shoot):
    """A server that is started twice, with four pages: half a minute."""
    kept = tmp_path / "kept"
    walkthrough.write(kept)
    with serve(tmp_path / "one", kept) as url:
        ada = person(f"{url}/")
        ada.get_by_role("link", name="Jacobi in one page").click()
        ada.locator(".wb-exercise").nth(3).wait_for()
        assert ada.url == f"{url}/lesson/own/first-lesson"
        # What students get holds neither code nor solution.
        assert not re.search("has_condition_number_nine|only scales", ada.content())
        name = ada.get_by_label("Your name or number")
        name.fill("<b>Ada</b>")
        name.press("Enter")
        other = person(f"{url}/lesson/own/first-lesson", "<b>Ada</b>")
        answer(ada, 1, "40", "Not yet: look at the two entries")
        answer(ada, 1, "45", "Right: 45° is the answer.")
        answer(other, 4, "-1", "Not yet: the matrix is not positive definite.")

        teacher = person(said(ada, tmp_path / "one", TEACHER))
        # Its address leads on by two steps.
        teacher.locator(".wb-classexercises tbody tr").first.wait_for()
        expected = {
            "<b>Ada</b>": ["✓ 2 tries", "opened", "opened", "opened"],
            "<b>Ada</b> (2)": ["opened", "opened", "opened", "1 try"],
        }
        lab.until(teacher, lambda: cells(teacher) == expected)
        # It fills while it is looked at.
        answer(other, 3, "3; 1", "Right: 3 1 is the answer.")
        lab.until(teacher, lambda: cells(teacher)["<b>Ada</b> (2)"][2] == "✓ 1 try")
        assert not teacher.locator(".wb-classexercises td b").count()
        teacher.get_by_role("button", name="Show on the projector").click()
        beamer = teacher.locator(".wb-beamer")
        beamer.get_by_text("1 of 2 have exercise 1").wait_for()
        assert "Ada" not in beamer.inner_text()
        code = beamer.locator("svg").get_attribute("aria-label")
        # The terminal names this machine localhost.
        assert re.fullmatch(r"QR code of http://(localhost|127.0.0.1):\d+/lesson/own/first-lesson", code)
        shoot("projector")
        beamer.get_by_role("button", name="Close").click()

        assert not ada.locator(".wb-solution").locator("visible=true").count()
        teacher.get_by_role("button", name="Show solution 1").click()
        for page in (ada, other):
            page.locator(".wb-solution", has_text="both entries of the diagonal are equal").wait_for()
        saved, path = lab.download(teacher, teacher.get_by_role("button", name="Save as CSV").click)
        assert (saved, len(path.read_text("utf-8-sig").splitlines())) == ("class.csv", 3)
        assert said(teacher, tmp_path / "one", rf"({walkthrough.SAID})\n") == walkthrough.SAID
    # A restart keeps the list and what is open; the browser keeps the student.
    with serve(tmp_path / "two", kept, int(url.rpartition(":")[2])):
        ada.goto(f"{url}/lesson/own/first-lesson")
        ada.locator(".wb-solution", has_text="both entries of the diagonal are equal").wait_for()
        again = person(said(ada, tmp_path / "two", TEACHER))
        again.locator(".wb-classexercises tbody tr").first.wait_for()
        lab.until(again, lambda: cells(again).get("<b>Ada</b>", [""])[0] == "✓ 2 tries")
        assert list(cells(again)) == list(expected)
        again.get_by_role("checkbox", name="choose <b>Ada</b> (2)").check()
        again.get_by_role("button", name="Remove").click()
        lab.until(again, lambda: list(cells(again)) == ["<b>Ada</b>"])
