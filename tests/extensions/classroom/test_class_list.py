"""The list of a class: what is noted, bounded, forgotten and erased, and the file in which it outlives a server."""

import asyncio
import json
import stat
from pathlib import Path

import pytest

from tests.waiting import LIMIT
from workbench.errors import InputError
from workbench.extensions.classroom.server import class_file, class_list
from workbench.extensions.classroom.server.class_file import ClassFile
from workbench.extensions.classroom.server.class_list import DAYS, LONGEST_NAME, MOST_TRIES, ClassList

ADA, BOB, EVE = ("a" * 32, "b" * 32, "e" * 32)
LESSONS = {"waiting": 3, "own/mine": 0}


@pytest.fixture
def taught():
    return ClassList(LESSONS)


def done(taught):
    """Names and what they have done, in order."""
    return {row["name"]: row["done"] for row in taught.rows()}


def test_tries_and_right_answers_are_never_taken_back(taught):
    ada = taught.enter(ADA, "Ada")
    states = [(0, False, [0, 0]), (2, False, [2, 0]), (1, False, [2, 0]), (3, True, [3, 1]), (9, False, [3, 1])]
    for tries, solved, expected in states:
        taught.note(ada, "waiting", 2, tries, solved)
        assert done(taught) == {"Ada": {"waiting": {"2": expected}}}
    # A right answer takes at least one try.
    taught.note(ada, "waiting", 1, 0, True)
    assert done(taught)["Ada"]["waiting"]["1"] == [0, 0]


def test_students_with_one_name_and_without_any_are_told_apart(taught):
    for key, name in ((ADA, "Ada"), (BOB, " Ada "), (EVE, ""), ("0" * 32, "Ada (2)")):
        taught.enter(key, name)
    assert list(done(taught)) == ["Ada", "Ada (2)", "no name (3)", "Ada (2) (4)"]
    taught.enter(BOB, "<script>alert(1)</script>" + "x" * 99)
    assert list(done(taught))[1] == ("<script>alert(1)</script>" + "x" * 99)[:LONGEST_NAME]


def test_a_name_has_no_character_that_breaks_a_table(taught):
    taught.enter(ADA, "A\ud800d\u202ea \x00")
    taught.enter(BOB, "\u200b")
    assert list(done(taught)) == ["Ada", "no name (2)"]


@pytest.mark.parametrize(
    ("lesson", "exercise", "tries", "said"),
    [
        ("nothing", 1, 1, "there is no lesson 'nothing' on this server"),
        ("waiting", 4, 1, "lesson waiting has the exercises 1 to 3, and not 4"),
        ("waiting", 0, 1, "the exercises 1 to 3, and not 0"),
        ("own/mine", 41, 1, "the exercises 1 to 40, and not 41"),
        ("waiting", 1, -1, "0 to 1000 tries, and not -1"),
        ("waiting", 1, MOST_TRIES + 1, "and not 1001"),
    ],
)
def test_an_exercise_that_there_is_not_is_refused_in_a_sentence(lesson, exercise, tries, said, taught):
    ada = taught.enter(ADA, "Ada")
    with pytest.raises(InputError) as refused:
        taught.note(ada, lesson, exercise, tries, False)
    assert said in str(refused.value)
    assert done(taught) == {"Ada": {}}


@pytest.mark.parametrize("key", ["", "x" * 32, "a" * 31, "a" * 33, "A" * 32])
def test_a_key_is_one_of_a_browser(key, taught):
    with pytest.raises(InputError, match="no key of 32 hexadecimal digits"):
        taught.enter(key, "Ada")


def test_a_flood_of_students_ends_at_a_bound_and_takes_no_ones_place(taught, monkeypatch):
    monkeypatch.setattr(class_list, "MOST_STUDENTS", 60)
    ada = taught.enter(ADA, "Ada")
    tried = taught.enter(BOB, "")
    taught.note(tried, "waiting", 1, 1, False)
    for number in range(500):
        taught.enter(f"{number:032x}", "")
    assert len(taught.students) == 60
    assert {ada, tried} <= set(taught.students)
    for number in range(58):
        taught.enter(f"{number:032x}", f"student {number}")
    with pytest.raises(InputError, match="the list of this class is full with 60 students; ask your teacher"):
        taught.enter(EVE, "Eve")


def test_a_student_that_was_removed_stays_out_until_all_are_erased(taught):
    taught.enter(ADA, "Ada")
    taught.enter(BOB, "Bob")
    taught.erase(1)
    assert list(done(taught)) == ["Bob"]
    with pytest.raises(InputError, match="has taken you off the list of this class"):
        taught.enter(ADA, "Ada")
    taught.erase(0)
    assert done(taught) == {}
    taught.enter(ADA, "Ada")
    assert list(done(taught)) == ["Ada"]


def test_a_student_is_forgotten_after_the_days_that_are_documented(taught, monkeypatch):
    taught.enter(ADA, "Ada")
    now = class_list.time.time() + 86400 * DAYS + 1
    monkeypatch.setattr(class_list.time, "time", lambda: now)
    assert taught.written()["students"] == {}


def kept(path, exercises=LESSONS):
    """A list and its file."""
    made = ClassList(exercises)
    return made, ClassFile(made, path)


def filled(path):
    """Write a list with two students into a file, as a server does that ends."""

    async def fill():
        made, file = kept(path)
        ada = made.enter(ADA, "Ada")
        made.note(ada, "waiting", 2, 3, True)
        made.enter(BOB, "")
        made.open("own/mine", 2, shown=True)
        file.changed()
        file.close()

    asyncio.run(asyncio.wait_for(fill(), LIMIT))


def test_the_list_outlives_its_server_for_its_owner_alone_and_without_keys(tmp_path):
    path = tmp_path / "state" / "class.json"
    filled(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert ADA not in path.read_text(encoding="utf-8")
    made, file = kept(path)
    assert (file.said, made.opened) == ("", {("own/mine", 2)})
    assert done(made) == {"Ada": {"waiting": {"2": [3, 1]}}, "no name (2)": {}}
    # The same browser is the same student.
    made.enter(ADA, "Ada L.")
    assert list(done(made)) == ["Ada L.", "no name (2)"]
    file.close()


def test_changes_are_written_soon_and_together(tmp_path, monkeypatch):
    monkeypatch.setattr(class_file, "SOON", 0.01)
    path = tmp_path / "class.json"

    async def change():
        made, file = kept(path)
        made.enter(ADA, "Ada")
        for _ in range(1000):
            file.changed()
        while not path.exists():
            await asyncio.sleep(0.002)
        file.close()

    asyncio.run(asyncio.wait_for(change(), LIMIT))
    assert len(json.loads(path.read_text(encoding="utf-8"))["students"]) == 1


def test_a_second_server_does_not_write_into_the_file_of_the_first(tmp_path):
    path = tmp_path / "class.json"
    filled(path)
    first, own = kept(path)
    second, other = kept(path)
    assert "another server keeps its own in" in other.said
    assert "give this one another --PageServer.class_file" in other.said
    assert (len(first.students), len(second.students)) == (2, 0)
    other.changed()
    other.close()
    own.close()


def one_student(**changed):
    """A file with one student, as JSON, of whom something is changed."""
    student = {"number": 1, "name": "Ada", "changed": 9e9, "done": {"waiting": {"1": [1, 1]}}} | changed
    return json.dumps({"version": 1, "students": {"a" * 64: student}, "opened": []})


def test_a_name_of_a_file_is_shown_as_one_that_is_typed(tmp_path):
    path = tmp_path / "class.json"
    path.write_text(one_student(name="A\ud800da"), encoding="utf-8")
    made, file = kept(path)
    assert (file.said, list(done(made))) == ("", ["Ada"])
    file.close()


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{", "null", '{"version": 2}', '{"version": 1}', "[" * 100_000,
        '{"version": 1, "students": {"x": {}}, "opened": []}', '{"version": 1, "students": [], "opened": 5}',
        one_student(changed=10**400), one_student(done={"waiting": {"1000000000": [1, 1]}}), one_student(number=-1),
    ],
)  # fmt: skip
def test_a_damaged_file_is_put_aside_and_said(text, tmp_path):
    path = tmp_path / "class.json"
    path.write_text(text, encoding="utf-8")
    made, file = kept(path)
    assert file.said.startswith("The list of a class was damaged; it now is ")
    assert (tmp_path / "class.json.damaged").read_text(encoding="utf-8") == text
    assert done(made) == {}
    file.close()


def test_a_lesson_that_is_no_longer_there_has_no_open_solution(tmp_path):
    path = tmp_path / "class.json"
    filled(path)
    made, file = kept(path, {"waiting": 3})
    assert made.opened == set()
    file.close()


def test_what_is_no_file_stays_where_it_is_and_is_said(tmp_path, monkeypatch):
    folder, large = tmp_path / "teaching", tmp_path / "large.json"
    folder.mkdir()
    large.write_text(" " * 20, encoding="utf-8")
    monkeypatch.setattr(class_file, "LARGEST", 10)
    for path, said in ((folder, "is a folder"), (large, "has 20 bytes"), (Path("."), "has an empty name")):
        _, file = kept(path)
        assert file.said.startswith("The list of this class is kept until the server ends only: ")
        assert said in file.said
        # Another server may have the lock.
        assert kept(path)[1].said == file.said
        file.changed()
        file.close()
    assert folder.is_dir()
    assert large.stat().st_size == 20


def test_the_path_of_the_file_is_one_as_people_write_it(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    filled(Path("~/class.json"))
    assert (tmp_path / "class.json").is_file()
    monkeypatch.setenv("WORKBENCH_STATE", "~/state")
    assert class_file.state_folder() == tmp_path / "state"


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    _, file = kept(tmp_path / "file" / "class.json")
    assert file.said.startswith("The list of this class is kept until the server ends only: ")
