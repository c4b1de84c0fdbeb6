"""Extensions of others on the page: what they declare is there, and what fails of it stops nothing else."""

import sys
import types
from importlib import metadata

import ipywidgets as widgets
import pytest

from tests.live.conftest import page_says
from tests.waiting import LIMIT
from workbench import live
from workbench.cli import main, pages
from workbench.errors import InputError
from workbench.live import ExtensionView, workbench
from workbench.live.app import glossary
from workbench.live.ui import assets
from workbench.registry import extensions as registry
from workbench.registry.extensions import Extension, PageView
from workbench.run import configure
from workbench.sequences.systems import SystemSequence

OWN = configure("poisson5", n=8)
MODULE = "page_additions"


class Greeting(ExtensionView):
    """Shows a problem of its own, and items by name."""

    def __init__(self, page):
        self.page, self.item, self.taken, self.renewed = page, "", [], 0
        self.box = widgets.VBox([widgets.Label("Hello")])

    @property
    def problem_shown(self):
        return OWN.problem

    @property
    def at(self):
        return self.item

    def open_at(self, at):
        self.item = at

    def take_method(self, configuration):
        self.taken.append(configuration)

    def renew(self):
        self.renewed += 1


def fails(*_arguments):
    raise RuntimeError("a wheel came off")


@pytest.fixture
def install(monkeypatch, tmp_path):
    """Install an extension of these declarations; of several the later ones come behind."""
    parts = types.ModuleType(MODULE)
    parts.__file__ = str(tmp_path / "__init__.py")
    parts.Greeting, parts.fails = Greeting, fails
    parts.label, parts.nothing = lambda _page: widgets.Label("above all views"), lambda _page: None
    parts.text, parts.yes, parts.no = lambda _page: "a text", lambda *_: True, lambda *_: False
    monkeypatch.setitem(sys.modules, MODULE, parts)
    monkeypatch.setattr(registry, "_broken", {})
    found = []

    class Entry:
        value, dist = "of a test", None

        def __init__(self, extension):
            self.name, self.load = extension.name, lambda: extension

    def add(name="greetings", **declared):
        found.append(Entry(Extension(name=name, title="Greetings", package=MODULE, install="greetings", **declared)))
        monkeypatch.setattr(metadata, "entry_points", lambda group: found if group == registry.GROUP else [])
        for cached in (registry.extensions, assets.roots, assets.style_sheet, glossary.page):
            cached.cache_clear()

    yield add
    monkeypatch.undo()
    for cached in (registry.extensions, assets.roots, assets.style_sheet, glossary.page):
        cached.cache_clear()


@pytest.fixture
def bench(tmp_path, opened):
    return lambda: opened(workbench("two-layer", n=16, folder=tmp_path))


def view(title, make="Greeting", **declared):
    return PageView(title=title, make=f"{MODULE}:{make}", **declared)


def rail(made):
    return {each["key"]: [part["title"] for part in each["parts"]] for each in made.frame.shell.views}


def test_a_former_address_of_a_view_leads_to_it(install, bench):
    install(views=(view("Hello", place="inspect", formerly=("compare.hello",)),))
    made = bench()
    made.turn_to_place("compare.hello")
    assert made.frame.shell.shown == "inspect.hello"
    made.turn_to_place("compare.storage")
    assert made.frame.shell.shown == "inspect.storage"
    assert "Storage" not in rail(made)["compare"]


def test_views_are_in_the_rail_behind_ours_and_in_places_of_their_own(install, bench):
    install(views=(view("More", place="solve"), view("Hello", place="greetings", place_title="Greetings")))
    made = bench()
    assert rail(made)["solve"] == ["Solve", "More"]
    assert list(rail(made))[-1] == "greetings"
    assert made.frame.shell.views[-1]["title"] == "Greetings"
    assert "greetings.hello" in made.frame.places
    assert registry.broken() == {}


def test_a_view_names_its_problem_and_its_item_and_takes_what_is_suggested(install, bench, eventually):
    install(views=(view("Hello", place="flow", flush=True, takes=f"{MODULE}:yes"),))
    made = bench()
    made.turn_to_place("flow.hello:first")
    shown = made.view("Hello")
    assert shown.at == "first"
    assert shown.page is made
    assert made._place == "flow.hello:first"
    eventually(lambda: made.frame.shell.problem["name"] == OWN.problem.label.split(",")[0])
    assert not made.frame.shell.can_undo
    made.turn_to("Solve")
    eventually(lambda: made.frame.shell.problem["name"] == "Two layers")
    made.turn_to("Hello")
    eventually(lambda: shown.renewed >= 1)
    made.view("Suggest").on_take(OWN)
    assert shown.taken == [OWN]
    assert made.frame.in_front.view is shown


def test_sequences_that_are_suggested_are_played_and_systems_are_solved(bench):
    made = bench()
    sequence = configure("rising-bubbles", n=16, preconditioner="mg")
    made.view("Suggest").on_take(sequence)
    assert isinstance(made.view("Flow").sequence.problem, SystemSequence)
    assert made.frame.shell.shown == "flow.flow"
    made.view("Suggest").on_take(OWN)
    assert made.frame.shell.shown == "solve.solve"


def test_a_view_that_fails_says_so_on_its_page_alone(install, bench, eventually):
    install(
        views=(
            view("Fails", place="learn", make="fails"),
            view("Absent", place="learn", make="absent"),
            view("Text", place="learn", make="text"),
        )
    )
    made = bench()
    for title, words in (
        ("Fails", "a wheel came off"),
        ("Absent", f"extension greetings is broken: {MODULE} has no absent; install greetings anew"),
        ("Text", "returns a str, not a view"),
    ):
        made.turn_to_place(f"learn.{title.lower()}:item")
        eventually(lambda title=title, words=words: words in made.pages[title].message.value)
    made.turn_to("Solve")
    made.explorer.run().wait(LIMIT)


def test_what_fails_while_the_page_is_made_is_left_out(install, bench):
    install(
        views=(
            view("Unsure", place="learn", offered=f"{MODULE}:fails"),
            view("Not now", place="learn", offered=f"{MODULE}:no"),
            view("Now", place="learn", offered=f"{MODULE}:yes"),
        ),
        bars=(f"{MODULE}:fails", f"{MODULE}:nothing", f"{MODULE}:text", f"{MODULE}:label"),
    )
    install("others", views=(view("Now", place="runs"), view("Nowhere", place="nowhere")))
    made = bench()
    assert rail(made)["learn"] == ["Step", "Your method", "Schedules", "Now"]
    assert [bar.value for bar in made.bars] == ["above all views"]
    assert registry.broken() == {
        "greetings": f"extension greetings is broken: calling {MODULE}:fails failed by a RuntimeError: a wheel came "
        "off",
        "others": "extension others is broken: its view Now: the title of a page has letters or digits, and no other "
        "page has it; got 'Now'",
    }


def test_widgets_are_offered_next_to_ours(install):
    install(widgets={"Greeting": MODULE, "FlowView": MODULE, "absent": MODULE})
    assert {"Greeting", "FlowView", "Lesson", "explore"} <= set(dir(live))
    try:
        assert live.Greeting is Greeting
    finally:
        vars(live).pop("Greeting", None)
    # Ours come first.
    assert live.FlowView.__module__ == "workbench.extensions.flow.page.flow_view"
    with pytest.raises(InputError, match="extension greetings is broken: page_additions has no absent"):
        _ = live.absent
    with pytest.raises(AttributeError, match="no attribute 'Gretting'"):
        _ = live.Gretting


def test_modules_and_style_sheets_are_in_the_tree_unless_the_name_of_their_folder_is_taken(install, tmp_path):
    for root in ("ours", "theirs", "late"):
        folder = tmp_path / root / ("plots" if root == "theirs" else "greetings")
        folder.mkdir(parents=True)
        (folder / "hello.js").write_text(f'import {{ element }} from "../ui/page.js";\nexport default {{ {root} }};\n')
        (folder / "style.css").write_text(f".wb-{root} {{ color: var(--wb-ink); }}\n")
    install(static="ours")
    install("others", static="theirs")
    install("third", static="late")
    install("fourth", static="nowhere")
    text = assets.joined("greetings/hello.js")
    assert "function element(" in text
    assert "{ ours }" in text
    assert assets.style_sheet().endswith(".wb-ours { color: var(--wb-ink); }\n")
    assert registry.broken() == {
        "others": "extension others is broken: the workbench has a folder plots too; give its own another name",
        "third": "extension third is broken: the extension greetings has a folder greetings too; give its own another "
        "name",
        "fourth": f"extension fourth is broken: {tmp_path / 'nowhere'} is no folder",
    }


def test_documents_are_pages_of_the_help(install, bench, tmp_path, monkeypatch):
    (tmp_path / "hello.md").write_text("# Saying hello\n")
    install(documents={"Saying hello": "hello.md", "Lost": "lost.md"})
    shell, sent = bench().frame.shell, []
    assert shell.pages[-2:] == [["greetings/hello.md", "Saying hello"], ["greetings/lost.md", "Lost"]]
    monkeypatch.setattr(shell, "send", sent.append)
    for name in ("greetings/hello.md", "greetings/lost.md", "greetings/../secret"):
        page_says(shell, {"kind": "docs", "page": name})
    assert (sent[0]["title"], sent[0]["html"]) == ("Saying hello", "<h1>Saying hello</h1>\n")
    assert "its document lost.md cannot be read" in sent[1]["text"]
    assert "there is no page 'greetings/../secret'" in sent[2]["text"]


def test_without_a_server_of_pages_the_command_says_what_to_install(monkeypatch, capsys):
    rest = {name: each for name, each in registry.ours().items() if name != "classroom"}
    monkeypatch.setattr(registry, "ours", lambda: rest)
    assert main(["app"]) == 2
    assert "`workbench app` has no server of the page: no extension offers page_server; install cg-workbench" in (
        capsys.readouterr().err
    )
    started = []
    monkeypatch.setattr(pages, "_become", lambda *arguments: started.append(arguments))
    main(["lab"])
    assert not [option for _, options in started for option in options if option.startswith(pages.CONNECTION)]
