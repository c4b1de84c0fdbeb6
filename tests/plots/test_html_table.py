"""HTML tables: escaping, alignment, and rows with fewer cells than columns."""

import xml.etree.ElementTree as ET

import pytest

from workbench.plots.html_table import Html, html_table


def test_texts_are_escaped_and_html_is_not():
    table = html_table(("<a>",), [("x < y & z",), (Html("<b>3</b>"),)])
    root = ET.fromstring(table)
    assert root.findtext("thead/tr/th") == "<a>"
    assert [row.findtext("td") for row in root.iter("tr")][1:] == ["x < y & z", ""]
    assert root.findtext("tbody/tr/td/b") == "3"


def test_columns_of_numbers_are_aligned_to_the_right():
    marked = ET.fromstring(html_table(("name", "time"), [("p", "2")], numbers=[1]))
    assert [cell.get("class") for cell in marked.iter("td")] == [None, "wb-number"]
    plain = ET.fromstring(html_table(("name", "time"), [("p", "2")], numbers=[1], classes=""))
    assert plain.get("class") is None
    assert ["right" in cell.get("style") for cell in plain.iter("td")] == [False, True]


@pytest.mark.parametrize(
    ("cells", "spans"), [(("a",), ["3"]), (("a", "b"), [None, "2"]), (("a", "b", "c"), [None] * 3)]
)
def test_a_short_row_fills_the_columns(cells, spans):
    root = ET.fromstring(html_table(("1", "2", "3"), [tuple(cells)], numbers=[1]))
    assert [cell.get("colspan") for cell in root.iter("td")] == spans


def test_a_caption_comes_first():
    root = ET.fromstring(html_table(("1",), [], caption="a & b"))
    assert root[0].tag == "caption"
    assert root[0].text == "a & b"
