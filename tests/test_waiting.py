"""Waiting for what is not there yet."""

from types import SimpleNamespace

import pytest

from tests import waiting
from tests.waiting import until

MISSING = {
    "row": (lambda: [][0], IndexError),
    "key": (lambda: {}["a"], KeyError),
    "attribute": (lambda: SimpleNamespace().text, AttributeError),
    "next": (lambda: next(iter([])), StopIteration),
}


@pytest.mark.parametrize(("read", "error"), MISSING.values(), ids=MISSING)
def test_what_is_missing_is_not_there_yet(read, error, monkeypatch):
    calls = []

    def late():
        calls.append(read)
        return "found" if len(calls) == 3 else read()

    assert until(late) == "found"
    monkeypatch.setattr(waiting, "LIMIT", 0.0)
    with pytest.raises(AssertionError, match=error.__name__) as raised:
        until(read)
    assert isinstance(raised.value.__cause__, error)


def test_what_is_wrong_is_raised_at_once():
    with pytest.raises(ValueError, match="wrong"):
        until(lambda: int("wrong"))


def test_what_never_becomes_true_fails(monkeypatch):
    monkeypatch.setattr(waiting, "LIMIT", 0.0)
    with pytest.raises(AssertionError, match="did not happen in time"):
        until(lambda: False)
