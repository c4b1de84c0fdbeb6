"""The grammar of numbers: whatever C, Fortran or Python prints is read back exactly, and anything else is refused."""

from __future__ import annotations

import io
import math
import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from workbench.errors import InputError
from workbench.files.market import REAL, read_market
from workbench.files.unpacking import Unpacked

finite = st.floats(allow_nan=False, allow_infinity=False)


def fortran(value: float, plus: bool, mark: str) -> str:
    """As ES25.16E3 or D25.17 print, with SP or without, and with the mark E or D."""
    mantissa, exponent = f"{value:.16E}".split("E")
    sign = "+" if plus and not mantissa.startswith("-") else ""
    return f"{sign}{mantissa}{mark}{int(exponent):+04d}"


def short(value: float) -> str:
    """Without a digit before the dot, or after it, where there is none to write."""
    text = repr(value)
    text = re.sub(r"\.0(?=e|$)", ".", text)
    return re.sub(r"^(-?)0\.(?=\d)", r"\1.", text)


styles = st.sampled_from(
    [
        repr,
        short,
        lambda value: f"{value:.17g}",
        lambda value: f"{value:+.17e}",
        lambda value: f"{value:.16E}",
        lambda value: f"{value:024.16e}",
        lambda value: fortran(value, True, "E"),
        lambda value: fortran(value, False, "D"),
        lambda value: fortran(value, True, "d"),
    ]
)
gaps = st.sampled_from([" ", "  ", "\t", " \t "])
ends = st.sampled_from(["\n", "\r\n", " \n", "\n\n", "\n \t\n"])


def read(text: str, rows: int, columns: int = 1, form: str = "array", field: str = "real") -> np.ndarray:
    sizes = f"{rows} {columns}" if form == "array" else f"{rows} {columns} {rows}"
    content = f"%%MatrixMarket matrix {form} {field} general\n{sizes}\n{text}".encode("latin-1")
    stored = read_market(Unpacked(io.BytesIO(content), len(content), []), lambda header: None)
    return stored if form == "array" else stored.toarray()


@settings(max_examples=150)
@given(values=st.lists(st.tuples(finite, styles, ends, gaps), min_size=1, max_size=8))
def test_numbers_of_every_style_are_read_back_exactly(values):
    expected = np.array([[value] for value, *_ in values])
    text = "".join(style(value) + end for value, style, end, _ in values)
    np.testing.assert_array_equal(read(text, len(values)), expected)
    text = "".join(
        f"{gap}+{row}{gap}1{gap}{style(value)}{end}" for row, (value, style, end, gap) in enumerate(values, 1)
    )
    np.testing.assert_array_equal(read(text, len(values), form="coordinate"), expected)


@given(values=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=5), plus=st.booleans())
@example(values=[2**53 + 1], plus=False)
def test_integers_are_read_back_exactly_or_refused_where_double_precision_does_not_hold_them(values, plus):
    text = "".join(f"{value:{'+' if plus else ''}d}\n" for value in values)
    if all(int(float(value)) == value for value in values):
        assert read(text, len(values), field="integer")[:, 0].tolist() == values
    else:
        with pytest.raises(InputError, match="declare real in line 1"):
            read(text, len(values), field="integer")


def nearly(draw: st.DrawFn) -> str:
    """A number with one character changed, added or left out."""
    text = list(draw(styles)(draw(finite)))
    place = draw(st.integers(0, len(text) - 1))
    text[place : place + draw(st.integers(0, 1))] = draw(st.text("+-.,eEdDqxX_0123456789'abnif\x00\xff", max_size=1))
    return "".join(text)


junk = st.one_of(st.text("+-.eEdD019", min_size=1, max_size=6), st.composite(nearly)())


@settings(max_examples=400)
@given(word=junk, before=st.integers(0, 3), after=st.integers(0, 2))
@example(word="1e+.5", before=0, after=0)
@example(word="+.e5", before=1, after=1)
@example(word="1.5+102", before=0, after=0)
@example(word=".", before=0, after=2)
@example(word="0x1p3", before=2, after=0)
@example(word="-1D400", before=2, after=0)
@example(word="1_000", before=2, after=0)
def test_a_word_is_read_as_python_does_or_refused_with_its_line(word, before, after):
    text = "1.5\n" * before + f"{word}\n" + "2.5\n" * after
    value = float(word.lower().replace("d", "e")) if REAL.fullmatch(word.encode("latin-1")) else math.inf
    if math.isfinite(value):
        found = read(text, before + 1 + after)[before, 0]
        assert found == value
    else:
        with pytest.raises(InputError) as caught:
            read(text, before + 1 + after)
        assert str(caught.value).startswith(f"line {before + 3}: ") or not word
        assert "finite number" in str(caught.value) or not word
        assert repr(word.encode("latin-1").decode("ascii", "replace"))[1:-1] in str(caught.value)


@settings(max_examples=200)
@given(words=st.lists(st.sampled_from(["1", "+1", "2", "3", "0", "1.0", "-1", "1e0", "x", "1.5", ".5"]), max_size=5))
def test_a_line_is_an_entry_or_refused_with_its_number(words):
    indices = [int(word) if re.fullmatch(r"[+-]?\d+", word) else 0 for word in words[:2]]
    good = len(words) == 3 and all(1 <= index <= 2 for index in indices) and words[2] != "x"
    text = f"2 1 4\n{' '.join(words)}\n"
    if good and indices != [2, 1]:
        found = read(text, 2, 2, form="coordinate")
        assert found[indices[0] - 1, indices[1] - 1] == float(words[2])
    elif words and not good:
        with pytest.raises(InputError, match=r"^line 4"):
            read(text, 2, 2, form="coordinate")
