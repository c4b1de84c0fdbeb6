"""The site has a page for every block and mathematics that browsers set; a link that leads nowhere fails its build."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from scripts.site import blocks, docstrings, exercises, gallery, kept, notebooks, places
from scripts.site.__main__ import FIRST, INSIDE, LEARN, MEASURED, USE, built
from scripts.site.figures import SCHEMES, shown_twice
from scripts.site.hooks import typeset
from scripts.site.pictures import Drawn
from workbench.extensions.classroom.server.named_links import LINKS
from workbench.extensions.lessons import LESSONS, lesson
from workbench.plots import figures, scenes
from workbench.registry import blocks as registry
from workbench.run import configure
from workbench.run.choices.share_link import from_link, to_link
from workbench.settings import RUN, STOPPING

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
    monkeypatch.setattr(notebooks, "entry_of", lambda path: tmp_path)
    shown = {
        "kind": "picture",
        "file": "1-1",
        "alt": "residual against [iteration]: 1 to 2, Shift with the arrow keys moves it",
    }
    outputs = [[], [{"kind": "text", "text": "2\n"}, shown], [shown]]
    (tmp_path / "outputs.json").write_text(json.dumps(outputs), encoding="utf-8")
    for scheme in SCHEMES:
        (tmp_path / f"1-1.{scheme}.png").write_bytes(b"png")
    sources = [("markdown", "# One\n\nMore."), ("code", 'lesson = Lesson("without-pain")'), ("code", "a + 1")]
    sources += [("code", "lesson.check(1)"), ("markdown", "End.")]
    cells = [{"cell_type": kind, "source": [text]} for kind, text in sources]
    path = tmp_path / "one.ipynb"
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    made = notebooks.page(path, "notebooks/one.ipynb")
    order = [
        "# One",
        "lesson = Lesson",
        "a + 1",
        "```text\n2\n```",
        "![residual against (iteration): 1 to 2](one/1-1.light.png#only-light)",
        "one/1-1.dark.png#only-dark",
        '!!! question "Exercise 1"',
        "End.",
    ]
    places_of = [made.index(part) for part in order]
    assert places_of == sorted(places_of)
    # The question takes the place of the picture of its widgets.
    assert made.count("only-light") == 1
    assert (source / "notebooks" / "one" / "1-1.dark.png").read_bytes() == b"png"


def test_exercises_are_questions_in_words_with_what_may_be_answered():
    asked = {name: [exercises.question(each, 1) for each in lesson(name).exercises] for name in LESSONS}
    assert "The half axes are 3 and 1 long" in asked["without-pain"][0]
    assert "from 0.1 to 100" in asked["without-pain"][0]
    assert any("```text" in each for each in asked["waiting"])
    for name, each in ((name, each) for name, found in asked.items() for each in found):
        assert len(each.split("\n", 1)[1].strip()) > 60, name


def test_solutions_are_those_of_the_lessons_and_a_wrong_one_fails():
    shown = "\n".join(exercises.of_lesson(LESSONS["without-pain"]))
    for part in (
        "### Exercise 3",
        "Answer: **45**",
        "*Right: at 45°",
        "both coordinates play",
        "[Lesson 1](notebooks/lessons/1_",
    ):
        assert part in shown
    exercise = LESSONS["without-pain"].exercises[0]
    with pytest.raises(RuntimeError, match="the solution of exercise 1 is wrong: Not yet"):
        list(exercises.solution(exercise, 1, "3"))


def test_figures_come_on_a_light_and_a_dark_ground_with_words():
    scene = scenes.residual_gap_scene({"CG": ([1.0, 1e-8], [1.0, 1e-8])})
    shown = shown_twice(figures.draw(scene))
    assert re.findall(r'data-scheme="(\w+)"', shown) == list(SCHEMES)
    assert 'alt="residual against iteration. CG: ‖r‖: from 1' in shown
    light, dark = re.findall(r"base64,([^\"]+)", shown)
    assert light != dark


def test_parameters_in_a_docstring_become_a_list():
    docstring = (
        "A curve.\n\nx, y: its points. name: in the legend; by default none. Raises InputError for no points.\n\n"
    )
    docstring += "Cost: one pass. other: no parameter.\n\nExamples:\n    >>> 1\n    1"
    listed = docstrings.listed(docstring, ["x", "y", "name"])
    assert listed.split("\n\n") == [
        "A curve.",
        "Raises InputError for no points.",
        "Cost: one pass. other: no parameter.",
        "Parameters:\n    x: Its points.\n    y: Its points.\n    name: In the legend; by default none.",
        "Examples:\n    >>> 1\n    1",
    ]
    assert docstrings.listed("Only words: nothing else.", ["x"]) == "Only words: nothing else."


def test_settings_and_parameters_have_their_kind_default_and_bounds(source):
    blocks.settings()
    page = (source / "blocks" / "settings.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in page for name in (*RUN, *STOPPING))
    assert re.search(r"\| `rtol` \| [^`]+ \| number \| `1e-06` \| at least 0 \| Relative tolerance", page)
    assert re.search(r"\| `maxiter` \| [^|]+ \| whole number \| 10 N, at least 1000 \| at least 0 \| ", page)
    table = "\n".join(blocks.parameters(registry.lookup("preconditioner", "neumann").parameters(), "neumann"))
    assert "| whole number | `2` | between 1 and 16 |" in table


def test_the_gallery_leads_to_alive_pages_and_to_documents(source):
    shown = configure("two-layer", n=12, preconditioner="ic")
    gallery.page({("preconditioner", "ic"): Drawn("Words.", "144 eigenvalues", to_link(shown), "preconditioner-ic")})
    page = (source / "gallery.md").read_text(encoding="utf-8")
    assert all(link.title in page and link.address(gallery.SERVED) in page for link in LINKS)
    assert page.count("<svg") == len(LINKS)
    assert "](blocks/preconditioner/ic.md)" in page
    (opened,) = re.findall(r"\?p=(cgw1[^&]+)&view=solve", page.partition("## First levels")[2])
    assert from_link(opened) == shown


def test_what_is_kept_is_whole_or_not_there(tmp_path):
    entry = tmp_path / "cache" / "some"

    def killed():
        with kept.filled(entry) as folder:
            (folder / "half").touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        killed()
    assert not entry.exists()
    # Two runs at once: the first that ends is kept.
    with kept.filled(entry) as first, kept.filled(entry) as second:
        (first / "a").touch()
        (second / "b").touch()
    assert [path.name for path in entry.iterdir()] == ["b"]
    assert [path.name for path in entry.parent.iterdir()] == ["some"]


def test_entries_that_no_site_uses_are_removed_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "CACHE", tmp_path)
    monkeypatch.setattr(kept, "library", lambda: "1")
    entries = [kept.entry(name, tmp_path) for name in ("blocks", "recording", "notebooks/one", "notebooks/two")]
    left = [tmp_path / ".killed", tmp_path / "notebooks" / ".killed"]
    for folder in [*entries, *left]:
        folder.mkdir(parents=True)
        (folder / "made").touch()
    for folder in [*entries, *left, tmp_path / "notebooks"]:
        os.utime(folder, (0, 0))
    used = [kept.used(entry) for entry in (entries[0], entries[2])]
    kept.pruned()
    assert [folder.exists() for folder in entries] == [folder in used for folder in entries]
    assert not any(folder.exists() for folder in left)


def test_a_site_is_made_again_where_a_file_has_changed(tmp_path, monkeypatch):
    for name in ("SITE", "BUILD", "CACHE"):
        monkeypatch.setattr(kept, name, tmp_path / name)
    monkeypatch.setattr(kept, "ROOT", tmp_path)
    monkeypatch.setattr(kept, "library", lambda: "1")
    for name in (*kept.SOURCES, *kept.PROJECT):
        (tmp_path / name).mkdir(parents=True)
    document = tmp_path / "docs" / "one.md"
    document.write_text("a")
    with kept.alone():
        assert not kept.is_made()
        key = kept.begun()
        (tmp_path / "SITE").mkdir()
        (tmp_path / "SITE" / "index.html").touch()
        # Killed here, there would be no whole site.
        assert not kept.is_made()
        kept.ended(key)
        assert kept.is_made()
    document.write_text("b")
    assert not kept.is_made()


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
    assert {FIRST, *LEARN, *USE, *MEASURED, *INSIDE} == {path.name for path in folder.glob("*.md")}
    start = (Path(__file__).parents[2] / "scripts/site/index.md").read_text(encoding="utf-8")
    assert {"getting_started.md", "teaching.md"} <= set(re.findall(r"\]\((\w+\.md)\)", start))


def test_the_page_on_python_begins_with_a_sentence_and_its_comments_are_short():
    """A long comment behind a line of code is cut off by the page."""
    text = (Path(__file__).parents[2] / "docs/python.md").read_text(encoding="utf-8")
    title, sentence = text.split("\n\n")[:2]
    assert title == "# In Python"
    assert re.match(r"`solve` takes .*\.", sentence)
    comments = [line.partition("  #")[2] for line in text.splitlines() if "  #" in line]
    assert comments
    assert max(map(len, comments)) <= 60


def test_an_exercise_of_numbers_shows_the_line_of_its_field():
    assert "1 2 5 10 50 100 500 1000" in exercises.question(lesson("polynomials").exercises[1], 2)
