"""The page's part in a class, with a server that is not there."""

import csv

import pytest

from tests.live.conftest import page_says
from tests.waiting import LIMIT
from workbench.errors import MOST_UNKNOWNS, RUN_SECONDS, InputError
from workbench.extensions.classroom.page import class_bar as module
from workbench.extensions.classroom.page.class_bar import SEEN, ClassBar, LessonBar, in_words
from workbench.extensions.classroom.page.class_page import ClassExercises, ClassPage
from workbench.live import RunList
from workbench.live.app.keeper import packed
from workbench.live.runs.runs_page import open_bytes
from workbench.live.ui.run_list import FILE, SOLVE, SWEEP
from workbench.live.ui.share_bar import ONLY_HERE, ShareBar
from workbench.run import Run, Session, configure, run_through
from workbench.run.choices.share_link import to_link

OWN, OTHER = configure("poisson5", n=8), configure("poisson5", n=12)
FACTS = {"page": 3, "teacher": False, "collects": True, "runs_at_once": 0, "address": ""}


class Room:
    """The connection to a server."""

    def __init__(self, **facts):
        self.facts, self.acts, self.sent = FACTS | facts, {}, []

    def on(self, kind, act):
        self.acts[kind] = act

    def tell(self, kind, **facts):
        self.sent.append((kind, facts))

    def shorten(self, link):
        return "abc234" if len(link) < 8000 else ""


@pytest.fixture
def bar(opened):
    """A bar of a page with one configuration, which is a list of all that it has shown."""
    room, runs, shown = Room(), RunList(), [OWN]
    return opened(ClassBar(room, runs, lambda: shown[-1], shown.append)), room, runs, shown


def solved(runs, origin):
    """Make a run in this list, and wait until it has ended."""
    session = Session(OWN)
    runs.add(session, origin)
    session.wait(LIMIT)
    session.join(LIMIT)
    runs.notify()


def test_runs_that_were_made_here_are_sent_once_when_they_have_ended(bar, eventually, opened):
    made, room, runs, _ = bar
    record = run_through(Run(OWN)).record()
    runs.add(record, FILE)
    runs.add(record, SOLVE)
    for origin in (SOLVE, SWEEP):
        solved(runs, origin)
    assert made.wait(LIMIT)
    (sent,) = room.sent
    assert sent[0] == "run"

    teachers = Room()
    page = opened(ClassPage(teachers, lambda: to_link(OTHER)))
    teachers.acts["run"]({"where": "Page 3", "who": "Ada <b>", **sent[1]})
    teachers.acts["run"]({"where": "Page 4", "who": "Page 4", "file": "00"})
    eventually(lambda: page.page.status.text.startswith("A run of Page 4 is not shown: "))
    (run,) = page.runs.runs
    assert (run.origin, run.name) == ("Page 3", "Ada <b>: CG, Jacobi")


def test_no_name_of_a_run_keeps_the_others_off_the_teachers_page(bar):
    """Half of a surrogate pair, of which JSON has a form and UTF-8 none, so that no page can be sent it."""
    _, _, runs, _ = bar
    made = runs.add(run_through(Run(OWN)).record(), SOLVE)
    runs.rename(made, "half of \ud83d")
    (opened,) = open_bytes(RunList(), "a run of a page", packed(made))
    assert opened.name == "half of ?"


def test_a_run_that_is_too_large_is_not_sent(bar, monkeypatch):
    made, room, runs, _ = bar
    monkeypatch.setattr(module, "RUN_BYTES", 10)
    solved(runs, SOLVE)
    assert made.wait(LIMIT)
    assert room.sent == []
    assert made.said.startswith("Run 1 has more than ")


def test_a_problem_of_the_teacher_is_shown_and_ones_own_comes_back(bar):
    made, room, _, shown = bar
    room.acts["problem"]({"link": to_link(OTHER)})
    assert made.wait(LIMIT)
    assert (shown[-1], made.said, made.can_return) == (OTHER, "The teacher has sent this problem.", True)
    page_says(made, {"kind": "return"})
    assert made.wait(LIMIT)
    assert (shown[-1], made.said, made.can_return) == (OWN, "", False)
    room.acts["problem"]({"link": "cgw1.nothing"})
    assert made.wait(LIMIT)
    assert made.said.startswith("The problem that the teacher has sent cannot be opened: the link is ")
    page_says(made, {"kind": "name", "name": "Ada"})
    assert made.wait(LIMIT)
    assert room.sent == [("name", {"name": "Ada", "student": ""})]
    room.acts["refused"]({"sentence": "no"})
    assert made.said == "no"


def test_a_class_of_one_and_what_no_link_holds_are_said(opened):
    links = iter([to_link(OTHER)])

    def link():
        if (found := next(links, "")) == "":
            raise InputError("this problem has no link")
        return found

    room = Room()
    page = opened(ClassPage(room, link))
    page.send.click()
    assert page.status.text == "no other page is open; send the problem when there is one"
    room.acts["pages"]({"pages": 1})
    assert page.status.text == "1 page of students open."
    page.send.click()
    assert page.status.text == "Sent to 1 page."
    assert room.sent == [("collect", {}), ("problem", {"link": to_link(OTHER)})]
    page.send.click()
    assert page.status.text == "this problem has no link"


LESSONS = [["own/mine", "Mine", 0], ["waiting", "6. Waiting", 3]]
STUDENTS = [
    {"number": 1, "name": "Ada <b>", "done": {"waiting": {"1": [2, 1], "2": [3, 0]}}},
    {"number": 2, "name": "=1+1", "done": {"waiting": {"1": [0, 0]}, "own/mine": {"2": [1, 1]}}},
    {"number": 3, "name": "no name (3)", "done": {}},
]


@pytest.fixture
def table(opened):
    """The teacher's table of a class of three."""
    room = Room()
    made = opened(ClassExercises(room))
    tell(made, room, STUDENTS)
    return made, room


def tell(made, room, students, solutions=()):
    room.acts["students"]({"students": students, "lessons": LESSONS, "solutions": list(solutions)})
    assert made.wait(LIMIT)


def texts(made):
    return [[cell["text"] for cell in row] for row in made.table.rows]


def test_the_table_shows_the_lesson_that_most_have_opened_and_counts_its_readers(table):
    made, room = table
    assert (made.lesson.value, made.lesson.options) == ("waiting", (("Mine", "own/mine"), ("6. Waiting", "waiting")))
    assert texts(made) == [
        ["Ada <b>", "✓ 2 tries", "3 tries", "–"],
        ["=1+1", "opened", "–", "–"],
        ["no name (3)", "–", "–", "–"],
    ]
    assert [line["text"] for line in made.counts.lines] == [
        "1 of 2 have exercise 1", "0 of 2 have exercise 2", "0 of 2 have exercise 3",
    ]  # fmt: skip
    # Of a lesson of the teacher the number of exercises is what pages have shown.
    made.lesson.value = "own/mine"
    assert texts(made)[1] == ["=1+1", "–", "✓ 1 try"]
    tell(made, room, STUDENTS[:1])
    assert (made.lesson.value, texts(made)) == ("own/mine", [["Ada <b>"]])


def test_solutions_are_opened_and_hidden_for_all(table):
    made, room = table
    press = made.solutions.children[1]
    press.value = True
    shown = {"lesson": "waiting", "exercise": 2, "shown": True}
    assert room.sent == [("solution", shown)]
    # As the server says, from another page of the teacher's too.
    tell(made, room, STUDENTS, ["waiting:2", "waiting:3"])
    assert [each.value for each in made.solutions.children] == [False, True, True]
    made.solutions.children[1].value = False
    assert room.sent[1:] == [("solution", shown | {"shown": False})]


def test_a_student_is_removed_and_all_are_erased_by_a_second_press(table):
    made, room = table
    assert [fact["acts"] for fact in made.table.facts] == [["remove"]] * 3
    made.table.press("remove", [2])
    made.erase.click()
    assert made.status.text == "Press once more to erase all 3 students."
    assert room.sent == [("erase", {"student": 2})]
    # Whatever has come meanwhile, nothing is erased that was not counted.
    tell(made, room, STUDENTS)
    made.erase.click()
    made.erase.click()
    assert room.sent[1:] == [("erase", {"student": 0})]


def test_the_list_is_a_table_for_a_spreadsheet_without_formulas(table, monkeypatch):
    made, room = table
    saved = []
    monkeypatch.setattr(made.download, "offer", saved.append)
    made.save.click()
    rows = list(csv.reader(saved[0].content.decode("utf-8-sig").splitlines()))
    assert rows[0] == ["student", *(f"own/mine {n} {what}" for n in (1, 2) for what in ("tries", "solved")),
                       *(f"waiting {n} {what}" for n in (1, 2, 3) for what in ("tries", "solved"))]  # fmt: skip
    assert rows[1] == ["Ada <b>", "", "", "", "", "2", "1", "3", "0", "", ""]
    assert rows[2] == ["'=1+1", "", "", "1", "1", "0", "0", "", "", "", ""]
    tell(made, room, [])
    made.save.click()
    assert (len(saved), made.status.text) == (1, "There is no student to save yet.")


def test_the_code_leads_to_the_lesson_at_an_address_that_students_reach(table):
    pytest.importorskip("segno")
    made, room = table
    page_says(made.counts, {"kind": "page", "page": "javascript:alert(1)/"})
    assert made.counts.address == ""
    page_says(made.counts, {"kind": "page", "page": "http://localhost:8866/"})
    assert (made.counts.address, made.counts.note) == ("http://localhost:8866/lesson/waiting", ONLY_HERE)
    room.facts["address"] = "http://10.0.0.5:8866/"
    made.lesson.value = "own/mine"
    assert (made.counts.address, made.counts.note) == ("http://10.0.0.5:8866/lesson/own/mine", "")
    assert made.counts.svg.startswith("<svg")


def test_a_lesson_says_what_its_teacher_sees_and_what_is_refused(opened):
    room = Room()
    made = opened(LessonBar(room))
    assert (made.words, made.asks) == (SEEN, True)
    page_says(made, {"kind": "name", "name": "Ada", "student": "a" * 32})
    page_says(made, {"kind": "return"})
    assert room.sent == [("name", {"name": "Ada", "student": "a" * 32})]
    room.acts["refused"]({"sentence": "there is no such exercise"})
    assert made.said == "there is no such exercise"


def test_the_limits_are_said(monkeypatch):
    assert in_words(FACTS | {"collects": False}) == ""
    monkeypatch.setenv(RUN_SECONDS, "60")
    monkeypatch.setenv(MOST_UNKNOWNS, "1000000")
    assert in_words(FACTS | {"runs_at_once": 2}) == (
        "Page 3 of a class. The teacher sees runs that have ended. Limits: 2 runs at once on all pages, "
        "60\u202fs a run, 1\u202f000\u202f000 unknowns."
    )


@pytest.mark.parametrize(
    ("address", "page", "base", "note"),
    [
        ("", "http://localhost:8866/", "http://localhost:8866/", ONLY_HERE),
        ("http://10.0.0.5:8866/", "http://localhost:8866/", "http://10.0.0.5:8866/", ""),
        ("http://10.0.0.5:8866/", "https://class.example/cg/", "https://class.example/cg/", ""),
    ],
)
def test_a_short_address_is_one_that_students_reach(address, page, base, note, monkeypatch):
    pytest.importorskip("segno")
    bar = ShareBar(lambda: OWN, lambda _chosen: None)
    bar.room = Room(address=address)
    made = bar.short(page)
    assert (made["address"], made["note"]) == (f"{base}s/abc234", note)
    assert made["svg"].startswith("<svg")
    for wrong in ("", "javascript:alert(1)/", "http://a b/", f"http://{'x' * 300}/"):
        with pytest.raises(InputError, match="there are no short addresses of the page"):
            bar.short(wrong)
    monkeypatch.setattr(Room, "shorten", lambda _room, _link: "")
    with pytest.raises(InputError, match="too long for an address"):
        bar.short(page)
