"""The text that is compiled is that of the function that Python would call."""

from __future__ import annotations

import functools
import importlib
import sys

import numpy as np
import pytest

from workbench.compiler.kinds import KernelError
from workbench.compiler.source import source_of
from workbench.jit import compiled
from workbench.jit.compiled import kernel
from workbench.jit.threads import launch


def wrapped(function):
    @functools.wraps(function)
    def twice(x):
        return 2 * function(x)

    return twice


@wrapped
def one(x):
    return x


def made_with(number):
    def reader(taken, out):
        out[0] = number

    return reader


def test_variables_of_the_function_around_are_read():
    for number in (3.0, 5.0):
        out = np.zeros(1)
        launch(1, kernel()(made_with(number)), out)
        assert out[0] == number


@pytest.mark.parametrize(
    ("function", "sentence"),
    [(one, "is wrapped by a decorator"), (lambda x: x, "is no longer where it was in its file, or is no `def`")],
)
def test_functions_whose_text_is_another_one_are_refused(function, sentence):
    with pytest.raises(KernelError, match=sentence):
        source_of(function)


def test_a_function_that_has_moved_in_its_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "moved.py").write_text("def first(x):\n    return 1\n")
    try:
        first = importlib.import_module("moved").first
        (tmp_path / "moved.py").write_text("def other(x):\n    return 2\n\n\ndef first(x):\n    return 1\n")
        with pytest.raises(KernelError, match="is no longer where it was"):
            source_of(first)
    finally:
        sys.modules.pop("moved", None)


def plus_one(x):
    return x + 1


def plus_two(x):
    return x + 2


def calls(x):
    return plus_one(x) - plus_two(x)


def test_exchanged_names_are_another_key(monkeypatch):
    before = compiled.dependencies_of(calls)
    one_, two = plus_one, plus_two
    monkeypatch.setitem(globals(), "plus_one", two)
    monkeypatch.setitem(globals(), "plus_two", one_)
    assert compiled.dependencies_of(calls) != before
