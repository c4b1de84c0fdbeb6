"""The start page and the pages of lessons: what leads where."""

import dataclasses
import json
import logging
import re
import signal
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine
from tornado.web import RedirectHandler

from workbench.extensions.classroom.server import site
from workbench.extensions.classroom.server.page_server import TRIAL_SECONDS, tried
from workbench.extensions.classroom.server.site import (
    LessonPage,
    OwnLessonPage,
    StartPage,
    exercises_in,
    lesson_head,
    prepare_page,
    site_rules,
    start_page,
    written,
)
from workbench.extensions.lessons import LESSONS
from workbench.extensions.lessons.folder import OwnLesson
from workbench.extensions.papers import papers


@pytest.fixture
def folder(tmp_path):
    """A folder of two lessons, and a file that is none."""
    for name in ("3_rounding.ipynb", "1_without_pain.ipynb", "9_other.ipynb"):
        (tmp_path / "lessons" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "lessons" / name).write_text("{}", encoding="utf-8")
    return tmp_path


def asked(uri):
    start = RequestStartLine("GET", uri, "HTTP/1.1")
    return HTTPServerRequest(start_line=start, headers=HTTPHeaders({"Host": "localhost"}))


@pytest.mark.parametrize("base", ["/", "/class/"])
def test_an_address_without_a_query_is_the_start_page_and_a_lesson_has_its_own(folder, base):
    rules = site_rules(base, folder / "lessons", str(folder), {"notebook_path": "app/workbench.ipynb"})

    def found(path):
        return next((rule for rule in rules if rule.matcher.match(asked(f"{base}{path}")) is not None), None)

    assert found("").target is StartPage
    for other in ("?p=cgw1.x", "?view=build.build", "s/k7m2pd", "teacher", "lesson/polynomials", "lesson/rounding/x"):
        assert found(other) is None, other
    for path in ("lesson/rounding", "lesson/rounding/"):
        assert found(path).target is LessonPage
        assert found(path).target_kwargs["notebook_path"] == "lessons/3_rounding.ipynb"
    # A text of another lesson names the file.
    for path in ("lesson/3_rounding.ipynb", "lesson/without-pain/3_rounding.ipynb"):
        assert found(path).target is RedirectHandler
        assert found(path).target_kwargs["url"] == f"{base}lesson/rounding"
    assert found("lesson/9_other.ipynb") is None


def test_the_start_page_lists_the_lessons_that_are_written_and_all_papers(folder):
    names = list(written(folder / "lessons"))
    assert names == ["without-pain", "rounding"]
    text = start_page("/class/", [LESSONS[name] for name in names])
    assert [lesson.question in text for lesson in LESSONS.values()] == [name in names for name in LESSONS]
    addresses = re.findall(r'href="(?!data:)([^"]*)"', text)
    assert all(address.startswith("/class/") for address in addresses)
    for paper in papers().values():
        assert f"/class/?view=papers.papers%3A{paper.name}" in addresses
        assert paper.title in text
    # One of the papers has an earlier version, which is another paper.
    assert sum("papers.papers" in address for address in addresses) == len(papers()) + 1


def test_a_lesson_leads_to_those_before_and_after_it():
    names = ["without-pain", "rounding", "waiting"]
    heads = [re.findall(r'href="/lesson/([^"]*)"', lesson_head("/", LESSONS[name], names)) for name in names]
    assert heads == [["rounding"], ["without-pain", "waiting"], ["rounding"]]


def test_behind_a_proxy_links_have_the_base_of_the_browser(folder):
    rules = site_rules("/class/", folder / "lessons", str(folder), {}, "/")
    start, *lessons = rules
    assert start.matcher.match(asked("/")) is not None
    assert lessons[0].matcher.match(asked("/class/lesson/rounding")) is None
    addresses = re.findall(r'<a[^>]* href="([^"]*)"', start.target_kwargs["made"](()))
    assert all(address.startswith("/class/") for address in addresses)


OWN = OwnLesson("mine", Path("mine.ipynb"), "Mine <b>", "Why?", (2, 4))


def test_lessons_of_the_teacher_are_on_the_start_page_and_have_addresses(folder):
    text = start_page("/class/", [], [OWN, dataclasses.replace(OWN, name="bad", mistake="bad.ipynb, cell 3: no")])
    assert "Lessons of this class" in text
    assert 'href="/class/lesson/own/mine"><b>Mine &lt;b&gt;</b><span>Why?</span>' in text
    assert 'href="/class/lesson/own/bad"><b>Mine &lt;b&gt;</b><span>bad.ipynb, cell 3: no</span>' in text
    rules = site_rules("/class/", folder / "lessons", str(folder), {}, own=str(folder))
    found = {path: rule.target for path in ("mine", "mine/", "Mine", "../x", "a/b") for rule in rules
             if rule.matcher.match(asked(f"/class/lesson/own/{path}")) is not None}  # fmt: skip
    assert found == {"mine": OwnLessonPage, "mine/": OwnLessonPage}


def test_exercises_are_counted_and_the_teachers_lessons_come_first(folder):
    cell = {"cell_type": "code", "source": ["lesson.check(1)\n", "lesson.check(2)"]}
    (folder / "lessons" / "3_rounding.ipynb").write_text(json.dumps({"cells": [cell]}), encoding="utf-8")
    counts, titles = exercises_in(written(folder / "lessons"), [OWN])
    assert counts == {"own/mine": 0, "without-pain": 0, "rounding": 2}
    assert list(titles.values()) == ["Mine <b>", "1. CG without pain", "3. Rounding"]


def test_a_notebook_of_the_teacher_begins_in_its_folder_with_its_name_and_its_cells(folder):
    handler = Own()
    notebook = new_notebook(cells=[new_code_cell("x = 1")])
    prepare_page(handler, notebook=notebook)
    bar, begin, own = [cell.source for cell in notebook.cells]
    assert bar.endswith("lesson_bar()")
    assert begin.endswith(f"begin('own/mine', {str(Path.cwd())!r}, 'mine.ipynb', [2, 4])")
    assert (own, notebook.metadata["above"]) == ("x = 1", "the head")


def test_a_link_of_a_text_to_a_lesson_has_its_address_on_the_page(folder):
    rules = site_rules("/class/", folder / "lessons", str(folder), {})
    links = next(rule.target_kwargs["links"] for rule in rules if rule.target is LessonPage)
    handler = Own()
    handler.links = links
    text = "[lesson 3](3_rounding.ipynb), [another](9_other.ipynb), [a file](data.csv)"
    notebook = new_notebook(cells=[new_markdown_cell(text), new_code_cell("'[x](3_rounding.ipynb)'")])
    prepare_page(handler, notebook=notebook)
    changed, code = [cell.source for cell in notebook.cells[2:]]
    assert changed == "[lesson 3](/class/lesson/rounding), [another](9_other.ipynb), [a file](data.csv)"
    assert code == "'[x](3_rounding.ipynb)'"


def test_the_sheet_of_a_printed_lesson_says_each_thing_once():
    text = (Path(site.__file__).parent / "sheet.css").read_text(encoding="utf-8")
    named = re.findall(r"^ *(body\.site-lesson [^{]+) {", text, re.MULTILINE)
    assert len(named) > 10
    assert len(named) == len(set(named))


class Own(OwnLessonPage):
    """A page that no request asks for."""

    lesson = OWN
    above = "the head"
    xsrf_token = b""

    def __init__(self):
        pass


def test_readers_of_own_lessons_leave_no_logger():
    def loggers():
        Own().contents_manager.get("", content=False)
        return len(logging.root.manager.loggerDict)

    assert loggers() == loggers()


def test_a_notebook_that_says_nothing_has_taken_too_long_or_has_ended_its_process():
    assert tried("a.ipynb", "a.ipynb: 4 exercises\n", 0) == "a.ipynb: 4 exercises"
    assert tried("a.ipynb", "", -signal.SIGALRM) == f"a.ipynb: its cells do not end in {TRIAL_SECONDS} s"
    assert tried("a.ipynb", "", 3) == "a.ipynb: its cells end their process, with status 3"


def test_a_base_is_text_of_an_attribute():
    text = start_page('/a"b&c/', []) + lesson_head('/a"b&c/', LESSONS["rounding"], ["without-pain", "rounding"])
    assert 'a"b' not in text
    assert 'href="/a&quot;b&amp;c/?view=build.build"' in text
