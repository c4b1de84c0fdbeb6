"""`kernel_text.fill`: names such as `$body` in a kernel text are replaced, alone on a line or within one."""

from __future__ import annotations

import pytest

from workbench.devices.kernels import kernel_text


@pytest.fixture
def text(monkeypatch):
    """Sets the kernel text that every name is read as."""

    def put(words):
        monkeypatch.setattr(kernel_text, "read", lambda _: words)

    return put


def test_a_name_alone_on_its_line_stands_for_lines_with_its_indentation(text):
    text("{\n    $body\n}\n")
    assert kernel_text.fill("any", body="a;\n    b;\n") == "{\n    a;\n        b;\n}\n"


def test_a_line_that_is_left_empty_is_no_line(text):
    text("{\n    $body\n}\n")
    assert kernel_text.fill("any", body="") == "{\n}\n"


def test_a_name_within_a_line_is_replaced_as_it_is(text):
    text("x[$i + ${i}0];\n")
    assert kernel_text.fill("any", i=7) == "x[7 + 70];\n"


@pytest.mark.parametrize("words", ["a[$forgotten];\n", "    $forgotten\n"])
def test_a_forgotten_value_is_an_error(text, words):
    text(words)
    with pytest.raises(KeyError, match="forgotten"):
        kernel_text.fill("any")


def test_pieces_for_dot_products_may_be_left_out():
    assert set(kernel_text.dots("x[i]", wanted=False).values()) == {""}
    assert "W_DOT(x[i], v)" in kernel_text.dots("x[i]")["dots_add"]
