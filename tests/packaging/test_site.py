"""The site has a page for every block and mathematics that browsers set; a link that leads nowhere fails its build."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from scripts.site import blocks, notebooks, places
from scripts.site.__main__ import INSIDE, MEASURED, USE, built
from scripts.site.hooks import typeset
from workbench.registry import blocks as registry

PAGES = ["index.md", "detail.md"]
DETAIL = "# Detail\n\n## A part\n"


@pytest.fixture
def source(tmp_path, monkeypatch):
    folder = tmp_path / "source"
    monkeypatch.setattr(places, "SOURCE", folder)
    monkeypatch.setattr(places, "ROOT", tmp_path)
    return folder


def test_every_registered_block_has_a_page_with_what_it_declares(source):
    listed = [page for _, pages in blocks.pages({}) for page in pages]
    overview = (source / "blocks" / "index.md").read_text(encoding="utf-8")
    known = [(kind, cls) for kind in registry.kinds() for cls in registry.registered(kind).values()]
    # Other tests of this process have kinds and blocks of their own.
    known = [(kind, cls) for kind, cls in known if cls.__module__.startswith("workbench.")]
    assert len(known) > 60
    for kind, cls in known:
        page = (source / "blocks" / kind / f"{cls.name}.md").read_text(encoding="utf-8")
        assert f"blocks/{kind}/{cls.name}.md" in listed
        assert f"({kind}/{cls.name}.md)" in overview
        assert all(f"| `{declared.name}` |" in page for declared in cls.parameters())
    # Three vector updates, two reductions, four vectors: Hestenes and Stiefel's method with Jacobi.
    assert "| 1 | 1 | 3 | 2 |" in (source / "blocks" / "solver" / "cg.md").read_text(encoding="utf-8")


def test_a_site_is_whole_and_fetches_nothing(source, tmp_path):
    places.put("index.md", "# Start\n\nWith $r^{-1}$ and M^-1: [there](detail.md#a-part)\n")
    places.put("detail.md", DETAIL)
    built(source, tmp_path / "site", PAGES)
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "<math" in page
    assert "and M⁻¹:" in page
    assert 'href="detail.html#a-part"' in page
    # By which search works from a disk.
    assert (tmp_path / "site" / "search" / "search_index.js").exists()
    files = [path for kind in ("html", "js", "css") for path in (tmp_path / "site").rglob(f"*.{kind}")]
    texts = [path.read_text(encoding="utf-8") for path in files]
    assert not any(re.search(r"unpkg\.com|googleapis\.com|gstatic\.com|src=[\"']?https?:", text) for text in texts)


def test_links_that_lead_nowhere_fail_the_build(source, tmp_path):
    links = "[a page](missing.md) [a part](detail.md#another-part) [of the checkout](../data/blocks.toml)"
    places.put("index.md", f"# Start\n\n{links}\n")
    places.put("detail.md", DETAIL)
    with pytest.raises(SystemExit, match="3 warnings"):
        built(source, tmp_path / "site", PAGES)


def test_links_of_the_checkout_lead_to_pages_of_the_site(source, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "some.toml").touch()
    text = (
        "[a](docs/lines.md#b) [c](CHANGELOG.md) [d](data/some.toml) [e](gone.py) `[f](docs/lines.md)` ![](docs/g.png)"
    )
    assert places.relinked(text, "README.md") == (
        "[a](lines.md#b) [c](CHANGELOG.md) d [e](gone.py) `[f](docs/lines.md)` ![](g.png)"
    )
    assert (
        places.relinked("[a](../docs/family.md) [b](05_x.ipynb)", "notebooks/03_y.ipynb")
        == "[a](../family.md) [b](05_x.md)"
    )


def test_a_notebook_is_shown_with_what_its_cells_put_out(source, tmp_path, monkeypatch):
    monkeypatch.setattr(notebooks, "SOURCE", source)
    monkeypatch.setattr(notebooks, "_kept", lambda path: tmp_path)
    outputs = [[], [{"kind": "text", "text": "2\n"}, {"kind": "picture", "file": "1-1"}]]
    (tmp_path / "outputs.json").write_text(json.dumps(outputs), encoding="utf-8")
    for scheme in ("light", "dark"):
        (tmp_path / f"1-1.{scheme}.png").write_bytes(b"png")
    sources = [("markdown", "# One\n\nMore."), ("code", "a = 1"), ("code", "a + 1"), ("markdown", "End.")]
    cells = [{"cell_type": kind, "source": [text]} for kind, text in sources]
    path = tmp_path / "one.ipynb"
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    made = notebooks.page(path, "notebooks/one.ipynb")
    order = [
        "# One",
        "a = 1",
        "a + 1",
        "```text\n2\n```",
        "one/1-1.light.png#only-light",
        "one/1-1.dark.png#only-dark",
        "End.",
    ]
    places_of = [made.index(part) for part in order]
    assert places_of == sorted(places_of)
    assert (source / "notebooks" / "one" / "1-1.dark.png").read_bytes() == b"png"


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        ("P = I − AZE⁻¹Zᵀ", "P=I−AZE−1ZT"),
        ("min max |1 − z p(z)|", "minmax|1−zp(z)|"),
        ("xⱼ₊₁ < ρ(xⱼ + α M⁻¹ rⱼ)", "xj+1<ρ(xj+αM−1rj)"),
    ],
)
def test_formulas_are_mathml(formula, shown):
    made = ElementTree.fromstring(blocks.mathml(formula))
    assert made.tag == "math"
    assert "".join(made.itertext()) == shown


def test_code_is_not_typeset():
    assert typeset("<p>M^-1 <code>x0^2</code> x0 &lt;= 1e-6</p>") == "<p>M⁻¹ <code>x0^2</code> x₀ ≤ 10⁻⁶</p>"


def test_pages_of_the_site_are_those_of_docs():
    folder = Path(__file__).parents[2] / "docs"
    assert {*USE, *MEASURED, *INSIDE} == {path.name for path in folder.glob("*.md")}
