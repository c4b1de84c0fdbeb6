"""The scripts that widgets carry: whole, small, and free of anything to fetch."""

from __future__ import annotations

import re

import pytest

from workbench.live._assets import STATIC, module, style_sheet

WIDGETS = sorted(path.name for path in STATIC.glob("*.js") if "export default" in path.read_text(encoding="utf-8"))
WORKERS = {
    "fieldworker.js": "class FieldPlot",
    "plotworker.js": "class Plot",
    "timelineworker.js": "class TimelinePlot",
}


@pytest.mark.parametrize("name", WORKERS)
def test_a_worker_is_joined_too_and_exports_nothing(name):
    text = module(name)
    assert WORKERS[name] in text
    assert not re.search(r"^(import|export) ", text, re.MULTILINE)


@pytest.mark.parametrize("name", WIDGETS)
def test_a_module_is_joined_from_its_parts(name):
    text = module(name)
    assert "import " not in re.sub(r"//.*", "", text)
    assert text.count("export default") == 1
    assert not re.search(r"^export (function|const|class)", text, re.MULTILINE)


@pytest.mark.parametrize("name", WIDGETS)
def test_a_module_is_small(name):
    assert len(module(name).encode()) < 50_000


def test_what_a_part_imports_is_there():
    texts = {path.name: path.read_text(encoding="utf-8") for path in STATIC.glob("*.js")}
    for name, text in texts.items():
        for wanted, source in re.findall(r'^import \{ (.*) \} from "\./(.*)";$', text, re.MULTILINE):
            given = re.findall(r"^export (?:function|const|class) (\w+)", texts[source], re.MULTILINE)
            assert set(wanted.split(", ")) <= set(given), f"{name} imports {wanted} from {source}"


def test_nothing_is_fetched_from_elsewhere():
    for path in STATIC.iterdir():
        assert not re.search(r"https?://|@import|url\(", path.read_text(encoding="utf-8")), path.name


def test_no_two_parts_use_one_name_twice():
    for name in (*WIDGETS, *WORKERS):
        found = re.findall(r"^(?:async )?(?:function|const|let|class) (\w+|\[[^\]]*\])", module(name), re.MULTILINE)
        names = [part for text in found for part in re.findall(r"\w+", text)]
        assert len(names) == len(set(names)), name


def test_colours_follow_the_theme():
    assert style_sheet().count("--jp-") > 10
