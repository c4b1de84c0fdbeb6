"""The simulated class: what a student sends, and what is counted of a server's processes."""

import asyncio
import os
import subprocess
import sys

import psutil

from benchmarks.classroom.processes import left_over, queued_seconds
from benchmarks.classroom.student import Student

EXERCISE = {
    "box": {"_dom_classes": ["wb-exercise"], "children": ["IPY_MODEL_text", "IPY_MODEL_line", "IPY_MODEL_verdict"]},
    "line": {"children": ["IPY_MODEL_field", "IPY_MODEL_press"]},
    "press": {"description": "Check"},
    "verdict": {"text": "", "tone": ""},
}


def sent(field, answer):
    """The state of a field that a student sends for an answer."""
    student, states = Student("http://127.0.0.1:1", "without-pain"), []
    student.widgets = {name: dict(state) for name, state in (EXERCISE | {"field": field}).items()}

    def send(_kind, content, _version="2.1.0"):
        states.append(content["data"].get("state"))
        student.widgets["verdict"] = {"text": "Right: it is.", "tone": "good"}

    student._send = send
    assert asyncio.run(student.answer(0, answer))[1] == "Right: it is."
    return states[0]


def test_a_student_types_an_answer_and_chooses_one_by_its_place():
    assert sent({"value": ""}, "9") == {"value": "9"}
    assert sent({"_options_labels": ["choose …", "jacobi", "ic"], "index": 0}, "ic") == {"index": 2}


def test_processes_that_have_ended_are_not_left_over():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as one:
        process = psutil.Process(one.pid)
        assert left_over([process]) == 1
        one.communicate()
    assert left_over([process]) == 0


def test_the_time_without_a_core_is_that_of_the_system():
    assert queued_seconds(os.getpid()) >= 0
