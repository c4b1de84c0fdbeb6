"""The list of a class: who has opened, tried and solved which exercise, and which solutions the teacher has opened.

A student is a browser that has chosen a random key, with a name or none. Neither keys nor answers are kept here: a key
as its SHA-256, of an answer its tries. The list bounds itself, and forgets a student `DAYS` after the last change.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
import time
from collections.abc import Iterator, Mapping

from workbench.errors import InputError, quoted

MOST_STUDENTS = 300
"""Students in the list. For one more, the oldest goes that has neither a name nor a try."""
DAYS = 30
"""Days for which a student stays in the list after the last change."""
LONGEST_NAME = 40
MOST_EXERCISES = 40
"""Exercises of a lesson whose number is not known yet."""
MOST_TRIES = 1000
KEY = re.compile(r"[0-9a-f]{32}")
"""Keys that browsers choose."""
LAST = 2**53
"""Seconds since 1970 from which on a time is none."""
KEPT = re.compile(r"[0-9a-f]{64}")
"""Digests of them."""


@dataclasses.dataclass
class Student:
    """number: in the order of arrival. changed: in seconds since 1970. done: the number of tries, and True if one was
    right, by lesson and exercise."""

    number: int
    name: str
    changed: float
    done: dict[tuple[str, int], tuple[int, bool]]


class ClassList:
    """exercises: the number of exercises of each lesson, 0 where it is not known yet."""

    def __init__(self, exercises: Mapping[str, int]) -> None:
        self.exercises = dict(exercises)
        self.students: dict[str, Student] = {}
        """By the digests of their keys."""
        self.opened: set[tuple[str, int]] = set()
        """Lessons and exercises whose solutions students see."""
        self._arrived = 0
        self._removed: set[str] = set()
        """Digests of students that the teacher has removed since the server started."""

    def enter(self, key: str, name: str) -> str:
        """Let a student in, or give it another name. Returns the digest of its key. Raises InputError, also for a
        student that the teacher has removed, and where the list is full."""
        if not KEY.fullmatch(key):
            raise InputError("the page sent no key of 32 hexadecimal digits; load it again")
        digest = hashlib.sha256(key.encode()).hexdigest()
        if digest in self._removed:
            raise InputError("the teacher has taken you off the list of this class; nothing of this page is counted")
        student = self.students.get(digest)
        if student is None:
            self._make_room()
            self._arrived += 1
            student = self.students[digest] = Student(self._arrived, "", time.time(), {})
        student.name = name_of(name)
        student.changed = time.time()
        return digest

    def check(self, lesson: str, exercise: int) -> None:
        """Raise InputError unless there is such an exercise."""
        if lesson not in self.exercises:
            raise InputError(f"there is no lesson {quoted(lesson)} on this server")
        most = self.exercises[lesson] or MOST_EXERCISES
        if not 1 <= exercise <= most:
            raise InputError(f"lesson {lesson} has the exercises 1 to {most}, and not {exercise}")

    def note(self, digest: str, lesson: str, exercise: int, tries: int, solved: bool) -> None:
        """Note the state of an exercise of a student who has entered; 0 tries: it was opened. Neither tries nor a right
        answer are ever taken back. Raises InputError as `check`, and for a number of tries out of bounds."""
        self.check(lesson, exercise)
        if not 0 <= tries <= MOST_TRIES:
            raise InputError(f"an exercise has 0 to {MOST_TRIES} tries, and not {tries}")
        student = self.students[digest]
        before, was_solved = student.done.get((lesson, exercise), (0, False))
        # After a right answer nothing counts.
        known = (before, True) if was_solved else (max(before, tries), solved and tries > 0)
        if (lesson, exercise) not in student.done or known != (before, was_solved):
            student.done[lesson, exercise] = known
            student.changed = time.time()

    def erase(self, number: int) -> None:
        """Forget a student, whose pages are not counted any more; 0: forget all, whose pages begin anew."""
        if number == 0:
            self.students.clear()
            self._removed.clear()
            self._arrived = 0
        for digest, student in list(self.students.items()):
            if student.number == number:
                del self.students[digest]
                self._removed.add(digest)

    def open(self, lesson: str, exercise: int, *, shown: bool) -> None:
        """Show the solution of an exercise to students, or hide it. Raises InputError as `check`."""
        self.check(lesson, exercise)
        (self.opened.add if shown else self.opened.discard)((lesson, exercise))

    def rows(self) -> list[dict[str, object]]:
        """All students as they are shown, by arrival, each with a name that no other one has."""
        taken: set[str] = set()
        rows: list[dict[str, object]] = []
        for student in sorted(self.students.values(), key=lambda each: each.number):
            name = student.name or f"no name ({student.number})"
            while name in taken:
                name = f"{name} ({student.number})"
            taken.add(name)
            rows.append({"number": student.number, "name": name, "done": _nested(student)})
        return rows

    def written(self) -> dict[str, object]:
        """The list as JSON, without those whose time is over."""
        self._forget_old()
        students = {
            digest: {**dataclasses.asdict(each), "done": _nested(each)} for digest, each in self.students.items()
        }
        return {"version": 1, "students": students, "opened": sorted(map(list, self.opened))}

    def read(self, kept: object) -> None:
        """Take over what `written` has returned. Raises LookupError, TypeError, ValueError or AttributeError for
        anything else."""
        if not isinstance(kept, dict) or kept["version"] != 1:
            raise ValueError("it is no list of this version")
        students = dict(_students(kept["students"]))
        opened = {(_text(lesson), _whole(exercise)) for lesson, exercise in kept["opened"]}
        self.students, self.opened = students, {each for each in opened if self._exists(*each)}
        self._arrived = max((each.number for each in students.values()), default=0)
        self._forget_old()

    def _exists(self, lesson: str, exercise: int) -> bool:
        try:
            self.check(lesson, exercise)
        except InputError:
            return False
        return True

    def _forget_old(self) -> None:
        oldest = time.time() - 86400 * DAYS
        self.students = {digest: each for digest, each in self.students.items() if each.changed >= oldest}

    def _make_room(self) -> None:
        self._forget_old()
        if len(self.students) < MOST_STUDENTS:
            return
        for digest, each in self.students.items():
            if not each.name and not any(tries for tries, _ in each.done.values()):
                del self.students[digest]
                return
        raise InputError(f"the list of this class is full with {MOST_STUDENTS} students; ask your teacher")


def name_of(typed: str) -> str:
    """A name as it is shown: on one line, without characters that cannot be shown or that turn others around."""
    return "".join(mark for mark in " ".join(typed.split()) if mark.isprintable()).strip()[:LONGEST_NAME]


def _nested(student: Student) -> dict[str, dict[str, list[int]]]:
    """Tries, and 1 for a right answer, by lesson and by the number of the exercise as text."""
    found: dict[str, dict[str, list[int]]] = {}
    for (lesson, exercise), (tries, solved) in sorted(student.done.items()):
        found.setdefault(lesson, {})[str(exercise)] = [tries, int(solved)]
    return found


def _students(kept: dict[str, dict[str, object]]) -> Iterator[tuple[str, Student]]:
    """The students of a file, at most `MOST_STUDENTS`."""
    for digest, each in list(kept.items())[:MOST_STUDENTS]:
        if not KEPT.fullmatch(digest):
            raise ValueError("a student has no digest")
        done: dict[tuple[str, int], tuple[int, bool]] = {}
        by_lesson = each["done"]
        if not isinstance(by_lesson, dict):
            raise TypeError("the exercises of a student are no object")
        for lesson, exercises in by_lesson.items():
            for exercise, (tries, solved) in exercises.items():
                if not 1 <= int(exercise) <= MOST_EXERCISES:
                    raise ValueError("there is no such exercise")
                done[_text(lesson), int(exercise)] = min(_whole(tries), MOST_TRIES), bool(_whole(solved))
        changed = each["changed"]
        if not isinstance(changed, int | float) or changed > LAST:
            raise TypeError("a time is a number of seconds")
        yield digest, Student(_whole(each["number"]), name_of(_text(each["name"])), float(changed), done)


def _whole(value: object) -> int:
    if not isinstance(value, int) or value < 0:
        raise TypeError("a whole number is expected")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is expected")
    return value
