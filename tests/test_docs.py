"""The documentation does what it says."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

from scripts import devices_table, family_table, ranks_table
from tests.packaging import example_extension
from workbench import devices
from workbench.cli import main
from workbench.costs.solver_costs import solver_costs
from workbench.errors import InputError
from workbench.extensions.classroom.page.class_bar import RUN_BYTES
from workbench.extensions.classroom.server import PageKernels, class_list, classroom, kernels
from workbench.extensions.classroom.server.page_connection import MOST_UNREAD
from workbench.extensions.lessons import folder
from workbench.extensions.lessons.page import kept_answer
from workbench.live.app import keeper
from workbench.live.builders import matrix_form

ROOT = Path(__file__).parents[1]


EXAMPLES = {
    "problems/rotated_diffusion": """
from workbench.cli import main
assert main(["solve", "rotated", "--n", "16", "--deflation", "blocks:4"]) == 0
""",
    "preconditioners/richardson": """
from workbench.cli import main
assert main(["solve", "two-layer", "--n", "16", "--preconditioner", "richardson:0.25"]) == 0
""",
    "solvers/line_search_cg": """
from workbench.cli import main
assert main(["solve", "two-layer", "--n", "16", "--solver", "line-search-cg"]) == 0
""",
    "live/plots/step_lengths": """
from workbench.live.plots.step_lengths import StepsView
from workbench.run import Run, configure, run_through
result = run_through(Run(configure("two-layer", n=16)))
view = StepsView(result)
assert view.chart.scene.layers[0].y.size == result.iterations
print(view.chart.scene.spoken)
""",
    "live/plots/bound_view": """
from workbench.live.plots.bound_view import BoundView
view = BoundView()
(curve,) = view.chart.scene.layers
assert curve.y.size == 51 and view.form.box.schema["advanced"] == ["iterations"]
view.form.set("condition", "1e4")
assert view.form.state.condition == 1e4 and view.chart.scene.layers[0].y[-1] > curve.y[-1]
view.form.set("condition", "0.5")
assert view.form.box.state["wrong"]["condition"].startswith("Condition number must be between 1 and ")
view.form.undo()
assert view.form.state.condition == 1e4
view.form.undo()
assert view.form.state.condition == 100.0
""",
    "extensions/papers/two_level_claim": """
from workbench.extensions.papers.reproduction import target_of_item
from workbench.extensions.papers.two_level_claim import CLAIM
made = target_of_item(CLAIM).made(32, lambda _: None)
assert [(row["n"], row["printed"]) for row in made.rows] == [(32, 4), (32, 4)]
assert all(row["ours"] > 0 for row in made.rows) and len(CLAIM.printed()) == 1
""",
}
"""What is run with each file of how_to_add.md."""
PROGRAM = """
import importlib, json, sys
used = json.loads(sys.argv[1])
# All folders before the first solve, which finds the blocks in the files that are there.
for package, folder, _ in used:
    importlib.import_module(package).__path__.append(folder)
for _, _, use in used:
    exec(use)
"""


EXTENDED = """
from workbench.cli import main
assert main(["solve", "two-layer", "--n", "16", "--preconditioner", "damped:3"]) == 0
assert main(["damping", "--help"]) == 0
from workbench.live import DampingView
print(DampingView().chart.scene.spoken)
"""
"""The use of the extension of how_to_extend.md, in one process, whose imports take longer than all of it."""


def examples():
    """The files that how_to_add.md says to save."""
    text = (ROOT / "docs" / "how_to_add.md").read_text(encoding="utf-8")
    return dict(re.findall(r"`workbench/([\w/]+)\.py`:\n\n```python\n(.*?)```", text, re.DOTALL))


def test_the_files_in_how_to_add_work(tmp_path):
    assert set(examples()) == set(EXAMPLES)
    used = []
    for name, use in EXAMPLES.items():
        package, _, file = f"workbench/{name}".rpartition("/")
        folder = tmp_path / package.rpartition("/")[2]
        folder.mkdir(exist_ok=True)
        (folder / f"{file}.py").write_text(examples()[name], encoding="utf-8")
        used.append((package.replace("/", "."), str(folder), use))
    command = [sys.executable, "-c", PROGRAM, json.dumps(used)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    for said in ("problem +rotated", "preconditioner +richardson", "solver +line-search-cg", r"\d+ steps, from"):
        assert len(re.findall(f"^{said}", done.stdout, re.MULTILINE)) == 1, done.stdout


def test_the_files_in_how_to_extend_work(tmp_path):
    folder = example_extension.save(tmp_path)
    entries = tomllib.loads((folder / "pyproject.toml").read_text())["project"]["entry-points"]
    (folder / "damped-1.0.dist-info").mkdir()
    lines = [f"[{group}]\n{name} = {place}\n" for group, named in entries.items() for name, place in named.items()]
    (folder / "damped-1.0.dist-info" / "entry_points.txt").write_text("".join(lines))
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"}
    done = subprocess.run([sys.executable, "-c", EXTENDED], capture_output=True, text=True, cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("2 sweeps of weight 1.5: ")


def test_the_entry_in_how_to_add_has_what_the_others_have():
    text = (ROOT / "docs" / "how_to_add.md").read_text(encoding="utf-8")
    (entry,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    listed = tomllib.loads((ROOT / "data" / "blocks.toml").read_text(encoding="utf-8"))["preconditioner"]
    new = tomllib.loads(entry)["preconditioner"]["richardson"]
    assert set(new) == set(listed["jacobi"]) - {"cost", "source"}
    assert new["group"] in {known["group"] for known in listed.values()}


def test_links_between_documents_are_valid():
    for document in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


def test_the_tests_that_security_names_exist():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    _, _, table = text.partition("## Which test holds what")
    file, checked = "", 0
    for path, name in re.findall(r"`([\w/]+\.py)?(?:::(\w+))?`", table):
        file = path or file
        place = ROOT / "tests" / re.sub(r"^classroom/", "extensions/classroom/", file)
        assert f"def {name}" in place.read_text(encoding="utf-8"), (file, name)
        checked += 1
    assert checked > 30


def test_the_limits_that_security_names_are_those_of_the_code():
    table = (
        (ROOT / "SECURITY.md")
        .read_text(encoding="utf-8")
        .partition("## Limits of `make app`")[2]
        .partition("\n\nIf")[0]
    )
    default = dict(line.strip("| ").split(" | ")[:2] for line in table.strip().splitlines()[2:])
    pages = {name: trait.default() for name, trait in PageKernels.class_traits(config=True).items()}
    mib = 1 << 20
    of_code = {
        "memory of all pages together": f"{pages['all_memory']} of the machine's",
        "short addresses": f"{classroom.MOST_SHORT}, {classroom.SHORT_DAYS} days",
        # Two digits a byte.
        "runs that a class sends": f"{RUN_BYTES // mib} MB each, {classroom.ALL_RUNS // 2 // mib} MB together",
        "students in the list": f"{class_list.MOST_STUDENTS}, {class_list.DAYS} days",
        "notebooks of a teacher": f"{folder.MOST}, {folder.LARGEST // mib} MiB each",
        "messages that a page does not read": f"{MOST_UNREAD // mib} MiB and one message",
        "messages for a page that is away": f"{kernels.MOST_OFFLINE // mib} MiB",
        "pages at once": str(pages["most_pages"]),
        "a page that has lost": f"ended after {kernels.AWAY // 60} min, in a class {kernels.AWAY_IN_CLASS // 60} min",
        "an answer of a lesson": f"{kept_answer.LONGEST:,} characters, {kept_answer.DAYS} days".replace(",", " ", 1),
        "runs that a page keeps": f"{keeper.RUN_BYTES // mib} MB each, {keeper.ALL_BYTES // mib} MB together",
        "an uploaded matrix": f"{matrix_form.MOST_UPLOAD // mib} MiB",
        "all uploaded matrices": f"{matrix_form.MOST_STORED // mib // 1024} GiB",
        "all matrices downloaded": f"{pages['downloaded_mb']} MB",
    }
    for beginning, said in of_code.items():
        (row,) = (each for each in default if each.startswith(beginning))
        assert default[row].startswith(said), row
    assert [pages[name] for name in ("kernel_memory", "run_seconds", "most_unknowns", "clusters")] == [
        "",
        "",
        "",
        False,
    ]


def test_the_readme_is_short_and_has_two_pictures():
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 130
    assert text.count("![") == 2


def test_the_map_exists():
    tree = re.search(r"## Map\n.*?```text\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)
    for line in tree.group(1).splitlines():
        if line.strip():
            name = line.split()[0]
            assert (ROOT / name).exists(), f"the map names {name}, which is not there"


def test_the_drawing_of_the_layers_is_the_contract():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = (contract["layers"] for contract in contracts if contract.get("containers") == ["workbench"])
    drawing = re.search(r"```text\n(\+-.*?)```", (ROOT / "docs" / "architecture.md").read_text(), re.DOTALL)
    rows = [re.split(r" {2,}", line.strip("| "))[0] for line in drawing.group(1).splitlines() if line.startswith("| ")]
    packages = {package for layer in layers for package in layer.split(" | ")}
    assert [row for row in rows if packages.issuperset(row.split(" | "))] == layers


def test_modules_that_the_pages_name_exist():
    # What how_to_add.md names is to be written by its reader.
    documents = [page for page in (ROOT / "docs").glob("*.md") if page.name != "how_to_add.md"]
    for document in [ROOT / "README.md", *documents]:
        for name in re.findall(r"`(?:workbench/)?((?:[a-z_]+/)+[a-z_]+\.py)`", document.read_text()):
            places = [ROOT / name, ROOT / "workbench" / name, ROOT / "workbench" / "devices" / name]
            assert any(place.exists() for place in places), f"{document.name} names {name}, which is not there"


def words_of_owners():
    """The words in the file of each module and of each class with its bases, and in all files of each package."""
    words, bases = defaultdict(set), defaultdict(set)
    for file in (ROOT / "workbench").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        here = {file.stem, *re.findall(r"\w+", text)}
        for name, parents in re.findall(r"^class (\w+)(?:\((.*)\))?:", text, re.MULTILINE):
            words[name] |= here
            bases[name] |= set(re.findall(r"\w+", parents)) - {name}
        for owner in (file.stem, file.parent.name):
            words[owner] |= here
        # A package has its packages too.
        words[file.parent.parent.name].add(file.parent.name)
    for name in bases:
        line = [name]
        for owner in line:
            line += bases.get(owner, set()) - set(line)
        words[name] = set().union(*(words[owner] for owner in line if owner in bases))
    return words


def test_members_that_the_pages_name_exist():
    words = words_of_owners()
    for document in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        code = " ".join(re.findall(r"`([^`\n]+)`", document.read_text(encoding="utf-8")))
        for owner, name in re.findall(r"(?<![\w./])(?:workbench\.)?(\w+)\.([A-Za-z_]\w*)\b(?!/)", code):
            # A device in a page is a variable, and what has a dot may be a file.
            if owner in words and owner != "device" and name not in ("py", "md", "yml", "npz", "json"):
                assert name in words[owner], f"{document.name} names {owner}.{name}, which is not there"


def test_the_tables_of_the_family_are_current():
    assert family_table.PAGE.read_text(encoding="utf-8") == family_table.page()


def test_the_tables_of_the_family_are_what_the_command_prints(capsys):
    text = (ROOT / "docs" / "family.md").read_text(encoding="utf-8")
    for options in ([], ["--preconditioner", "neumann:2"], ["--columns", "16"]):
        assert main(["family", *options]) == 0
        for row in capsys.readouterr().out.splitlines():
            assert f"| {' | '.join(re.split(' {2,}', row))} |\n" in text


@pytest.mark.parametrize(("first", "words"), [("jacobi", 16), ("neumann:2", 20)])
def test_words_per_unknown_are_those_counted(first, words):
    assert f"{words} words" in (ROOT / "docs" / "lines.md").read_text(encoding="utf-8")
    (cg,) = [cost for cost in solver_costs("poisson-3d", preconditioner=first) if cost.solver == "cg"]
    assert cg.bytes_per_unknown == 8 * words


# It compiles kernels of every block, where none is kept from before.
@pytest.mark.timeout(900)
def test_the_table_of_devices_is_current():
    try:
        devices.device("opencl")
    except InputError as sentence:
        pytest.skip(str(sentence))
    assert devices_table.PAGE.read_text(encoding="utf-8") == devices_table.page("opencl")


def test_the_table_of_ranks_is_current():
    """Without an accelerator or PETSc their columns are not compared."""
    assert ranks_table.PAGE.read_text(encoding="utf-8") == ranks_table.page()
