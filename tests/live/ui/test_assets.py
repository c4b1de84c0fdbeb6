"""The scripts that widgets carry: whole, small, and free of anything to fetch."""

import re
from pathlib import Path

import pytest

import workbench.live
from workbench.live.ui.assets import imports, joined, module, roots, sheets, source, style_sheet
from workbench.plots.figures.style import STOPS

FILES = {
    path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
    for root in roots()
    for path in root.rglob("*.js")
}
WIDGETS = sorted(name for name, text in FILES.items() if "export default" in text)
OTHERS = {
    "field/fieldworker.js": "class FieldPlot",
    "inspect/plain.js": "function modelOf(",
}
PLOTS = ("plots/convergence.js", "plots/chart.js", "plots/handles.js")
MOST_BYTES = {
    "field/volume.js": 66_500,
    "plots/timeline.js": 67_500,
    "builders/builder.js": 54_500,
    **dict.fromkeys(PLOTS, 88_500),
    "plots/handles.js": 97_000,
}
"""The 3D view carries shaders and the film of a run, and no library; a plot holds its worker's script as well."""
ROOMS = (
    *("transport", "ui", "plots", "field", "builders", "solve", "compare", "inspect", "stepping", "runs", "app"),
    *("lessons", "papers", "flows", "classroom"),
)
"""From the lowest to the highest, as the contract of import-linter in pyproject.toml has it for Python."""


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_widget_is_joined_too_and_exports_nothing(name):
    text = module(name)
    assert OTHERS[name] in text
    assert not re.search(r"^(import|export) ", text, re.MULTILINE)


@pytest.mark.parametrize("name", WIDGETS)
def test_a_module_is_joined_from_its_parts(name):
    text = module(name)
    assert "import " not in re.sub(r"//.*", "", text)
    assert text.count("export default") == 1
    assert not re.search(r"^export (function|const|class)", text, re.MULTILINE)


@pytest.mark.parametrize("name", WIDGETS)
def test_a_module_is_small(name):
    assert len(module(name).encode()) < MOST_BYTES.get(name, 50_000)


@pytest.mark.parametrize("name", PLOTS)
def test_a_plot_holds_the_script_of_its_worker(name):
    text = module(name)
    (drawing,) = re.findall(r"^Drawing: (\w+),$", text, re.MULTILINE)
    assert f"class {drawing} extends Plot" in text
    assert "function drawForPage(" in text
    # The worker's script is what stands before it.
    assert re.search(r"export default[^;]*;\s*$", text)


def test_what_a_part_imports_is_there():
    for name, text in FILES.items():
        statements = re.findall(r'^import \{ (.*) \} from "(.*)";$', text, re.MULTILINE)
        assert len(statements) == len(re.findall(r"^import ", text, re.MULTILINE)), f"{name} imports in another form"
        for (wanted, _), target in zip(statements, imports(name), strict=True):
            given = re.findall(r"^export (?:function|const|class) (\w+)", FILES[target], re.MULTILINE)
            assert set(wanted.split(", ")) <= set(given), f"{name} imports {wanted} from {target}"


def test_modules_import_from_their_own_folder_and_lower_ones():
    for name in FILES:
        for wanted in imports(name):
            own, other = name.split("/")[0], wanted.split("/")[0]
            assert ROOMS.index(other) <= ROOMS.index(own), f"{name} imports {wanted}"


def test_every_module_is_part_of_a_widget():
    def reached(name: str) -> set[str]:
        return {name}.union(*(reached(wanted) for wanted in imports(name)))

    assert set().union(*(reached(name) for name in (*WIDGETS, *OTHERS))) == set(FILES)


def test_nothing_is_fetched_from_elsewhere():
    for path in (path for root in roots() for path in root.rglob("*.*")):
        assert not re.search(r"https?://|@import|url\(", path.read_text(encoding="utf-8")), path.name


def test_no_two_modules_of_a_text_define_one_name_twice():
    for name in (*WIDGETS, *OTHERS):
        found = re.findall(r"^(?:async )?(?:function|const|let|class) (\w+|\[[^\]]*\])", joined(name), re.MULTILINE)
        names = [part for text in found for part in re.findall(r"\w+", text)]
        assert len(names) == len(set(names)), f"{name}: {sorted({twice for twice in names if names.count(twice) > 1})}"


def test_every_style_sheet_is_joined():
    found = {path.relative_to(root).as_posix() for root in roots() for path in root.rglob("*.css")}
    assert found == {f"{name}.css" for name in sheets()}


@pytest.mark.parametrize(
    ("place", "written"),
    [("wb-runspage", "runs/runs_page"), ("wb-race", "compare/race_files")],
)
def test_a_button_that_opens_files_shows_its_own_words(place, written):
    """ipywidgets writes the number of files behind them."""
    text = (Path(workbench.live.__file__).parent / f"{written}.py").read_text(encoding="utf-8")
    description = re.search(r'FileUpload\([^)]*description="([^"]+)"', text)
    assert description
    assert f'.{place} .widget-upload::after {{ content: "{description[1]}"; }}' in source("ui/controls.css")


@pytest.mark.parametrize("sheet", [sheet for sheet in sheets() if sheet != "ui/tokens"])
def test_colours_are_named_by_the_tokens_alone(sheet):
    text = source(f"{sheet}.css")
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b(?![^{]*\{)|rgba?\(|hsla?\(", text) == []


@pytest.mark.parametrize("sheet", ["ui/style", "ui/controls", "solve/style", "app/style"])
def test_sizes_and_durations_are_named_by_the_tokens_alone(sheet):
    """But for the steps of container queries, which cannot read a variable."""
    text = source(f"{sheet}.css")
    found = re.findall(r"[\d.]+(?:px|ms|rem)\b", re.sub(r"@container[^{]*\{|/\*.*?\*/", "", text, flags=re.DOTALL))
    assert found == []


def test_every_token_that_is_used_is_defined():
    text = style_sheet()
    defined = set(re.findall(r"(--wb-[\w-]+):", text))
    # Set on an element by a module.
    by_modules = {"--wb-abreast", "--wb-share", "--wb-curve", "--wb-widest", "--wb-wide", "--wb-from", "--wb-letters"}
    assert set(re.findall(r"var\((--wb-[\w-]+)", text)) - defined - by_modules == set()


@pytest.mark.parametrize("name", STOPS)
def test_saved_figures_have_the_maps_of_the_page(name):
    written = re.search(rf'^  {name}: "([^"]+)"', FILES["ui/maps.js"], re.MULTILINE)
    assert written is not None
    assert [f"#{stop}" for stop in written[1].split()] == list(STOPS[name])
