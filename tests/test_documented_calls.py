"""Every call in README.md and docs runs as it is written, but for those in `NOT_RUN`, each with its reason.

Python: fenced and indented blocks, and calls of public names in the text. Commands: `workbench ...` as a line and in
the text; those that do not run here are parsed, and configured where they solve. Names that a page leaves to its
reader, such as A and b, are those of `given`.
"""

import ast
import gzip
import re
import shlex
import textwrap
from pathlib import Path

import numpy as np
import pytest
from scipy.io import mmwrite
from scipy.sparse.linalg import aslinearoperator

import workbench.live
import workbench.run
import workbench.spectra
from tests.conftest import grid_stencil, tar_gz
from tests.test_programs import program_of
from tests.waiting import LIMIT, LONGEST
from workbench import cli
from workbench.cli import program
from workbench.cli.solving import configuration_of
from workbench.extensions.petsc import library as petsc
from workbench.records import save
from workbench.registry import blocks as registry

pytestmark = pytest.mark.timeout(LONGEST)

ROOT = Path(__file__).parents[1]
# The package of how_to_extend.md is built, installed and run by tests/packaging/test_extension_wheel.py.
DOCUMENTS = (page for page in (ROOT / "docs").glob("*.md") if page.name != "how_to_extend.md")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCUMENTS)]
MINUTES = "takes minutes; tests of the same code are smaller"
PAPERS = "takes longer than a test may; tests/papers computes parts of it"
RANKS = "starts processes for seconds; the command of docs/command_line.md runs, and tests/ranks solves on ranks"
SERVES = "takes the place of this process; tests/packaging/test_wheel.py runs it"
NOT_RUN = {
    'from workbench.advise import advise\nprint(advise("bubbles-3d", n=64).text())': MINUTES,
    '"""Scaling by one number."""': "a file of its own, which tests/test_docs.py runs",
    "accelerator.run(updates)": "lines of a schedule, whose names are those of its file",
    "solve poisson125 --n 165 --param form=matrix-free": MINUTES,
    "solve poisson125 --n 165 --param form=matrix-free --rtol 1e-5": MINUTES,
    "solve poisson125 --n 40 --solver hybrid3 --device opencl --memory-limit 100MB": "compiles for 20 s",
    "solve poisson-fd --n 800 --solver mpcg --preconditioner schwarz:4x4,overlap=4 --cluster tcp://host:8786": (
        "needs a scheduler at that address"
    ),
    "sweep bubbles-3d --n 64 96 128 --preconditioner jacobi neumann:2 --workers tcp://host:8786": (
        "needs a scheduler at that address"
    ),
    "solve PROBLEM --solver block-cg --rhs random:16": "PROBLEM is the reader's",
    "solve two-layer --n 64 --preconditioner richardson:0.25": "of the file that tests/test_docs.py runs",
    "advise bubbles-3d --n 128": MINUTES,
    "advise rising-bubbles --n 64": "compiles for all pairs; tests/analysis ranks three",
    "advise rising-bubbles --n 64 --param density_ratio=0.001": "as before",
    "reproduce two-level table2": PAPERS,
    "reproduce two-level table2 --max-n 256": PAPERS,
    "reproduce two-level table2 --max-n 1024": PAPERS,
    "reproduce two-level table2 --max-n 128": PAPERS,
    "reproduce two-level claim --max-n 128": "of the file that tests/test_docs.py runs",
    "reproduce --all --quick --output report": PAPERS,
    "reproduce hysing case2": PAPERS,
    "reproduce block-cg fig6": PAPERS,
    "reproduce mpcg table3": PAPERS,
    "reproduce hybrid-pipecg best": PAPERS,
    "calibrate --output here.toml": "measures for 10 s; tests/machine has it in small",
    "doctor": "tests/cli/test_cli.py runs it",
    "solve bubbles-3d --n 128 --preconditioner neumann:2 --deflation levelset:32 --ranks 2": RANKS,
    "solve bubbles-3d --n 24 --preconditioner neumann:2 --deflation levelset:4 --ranks 2": RANKS,
    "solve two-layer --n 64 --engine petsc --deflation stripes --ranks 2": "tests/extensions/petsc has two ranks",
    'flow --n 48 --until 0.1 --against "preconditioner=mg deflation=none" --against "start=zero" --film bubbles.gif': (
        "draws pictures for seconds; the film of docs/command_line.md is made"
    ),
    "app": SERVES,
    "app --no-browser --port 8866": SERVES,
}
UNCONVERGED = ("solve two-layer --solver pipecg --true-every 10",)
"""Exit status 1, since the page is about what limits its accuracy."""
MODULES = workbench.run, workbench.spectra, workbench.live
PUBLIC = {name for module in MODULES for name in module.__all__}


def text_of(page):
    return re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def blocks_of(page):
    """Fenced and indented Python blocks."""
    text = page.read_text(encoding="utf-8")
    fenced = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    indented = map(textwrap.dedent, re.findall(r"(?:^    .+\n)+", text_of(page), re.MULTILINE))
    return [*fenced, *(block for block in indented if block.startswith(("from ", "import ")))]


def calls_of(page):
    """Calls of public names in the text, without those that leave something out."""
    for span in re.findall(r"`([^`\n]+)`", text_of(page)):
        try:
            tree = ast.parse(span)
        except SyntaxError:
            continue
        called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        called = {name.removeprefix("workbench.run.").removeprefix("workbench.live.") for name in called}
        shortened = any(isinstance(node, ast.Constant) and node.value is ... for node in ast.walk(tree))
        if called & PUBLIC and not shortened:
            yield span


def commands_of(page):
    """What follows `workbench` on lines of their own, and in the text where an argument follows the verb."""
    text = text_of(page)
    lines = re.findall(r"^    (?:\$ )?(?:\.venv/bin/)?workbench ([^#\n]+)", text, re.MULTILINE)
    spans = re.findall(r"`(?:\.venv/bin/)?workbench ([a-z]+ [^`\n]+)`", text)
    return [command.strip() for command in (*lines, *spans)]


def is_run(text):
    """Of a block the beginning is listed. tests/test_programs.py runs the examples in other programs."""
    if program_of(text):
        return False
    without = re.search(r"petsc:|engine\W+petsc|pcdeflation", text) and not petsc.installed()
    return not without and text not in NOT_RUN and not ("\n" in text and text.startswith(tuple(NOT_RUN)))


@pytest.fixture(autouse=True, scope="module")
def registered_here():
    """Blocks that pages register are there for their commands, also in a process that does not test the Python of these
    pages, and gone for the tests of other files."""
    present = {kind: registry.registered(kind) for kind in registry.kinds()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_registry", present)
        for page in PAGES:
            for block in blocks_of(page):
                if "\n@register\n" in block and is_run(block):
                    exec(compile(block, page.name, "exec"), {})
        yield


@pytest.fixture
def given(tmp_path, monkeypatch):
    """What the pages leave to their reader."""
    monkeypatch.chdir(tmp_path)
    matrix = grid_stencil((8, 8)).to_csr()
    mmwrite("matrix.mtx", matrix)
    places = np.linspace(0.0, 1.0, 64)
    configuration = workbench.run.configure("two-layer", n=8)
    run = workbench.run.Run(configuration)
    save(workbench.run.run_through(run).record(), "some.run.npz")
    session = workbench.run.Session(configuration)
    session.wait(LIMIT)
    names = {name: getattr(module, name) for module in MODULES for name in module.__all__}
    b = np.ones(64)
    return names | {
        "workbench": workbench,
        "A": matrix,
        "operator": aslinearoperator(matrix),
        "b": b,
        "K": np.exp(-50 * np.subtract.outer(places, places) ** 2) + 0.01 * np.eye(64),
        "c": np.arange(64.0),
        "B": np.stack([b, np.arange(64.0)], axis=1),
        "configuration": configuration,
        "entries": [configuration, workbench.run.configure("two-layer", n=8, solver="pipecg")],
        "run": run,
        "session": session,
    }


def ids(page):
    return page.name


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_python_of_a_page_runs_as_written(page, given):
    for block in filter(is_run, blocks_of(page)):
        exec(compile(block, page.name, "exec"), given)
    for call in filter(is_run, calls_of(page)):
        tree = ast.parse(call)
        last = tree.body.pop()
        exec(compile(tree, page.name, "exec"), given)
        view = eval(compile(ast.unparse(last.value), page.name, "eval"), given)
        getattr(view, "close", lambda: None)()


def make_files(folder):
    """The matrix, right-hand side and start that commands name."""
    folder.mkdir()
    matrix = b"%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 2 2\n2 1 1\n"
    b = b"%%MatrixMarket matrix array real general\n2 1\n1\n2\n"
    (folder / "matrix.mtx.gz").write_bytes(gzip.compress(matrix))
    (folder / "matrix.tar.gz").write_bytes(tar_gz({"matrix/matrix.mtx": matrix, "matrix/matrix_b.mtx": b}))
    np.save(folder / "start.npy", np.ones(2))


@pytest.mark.parametrize("page", [page for page in PAGES if commands_of(page)], ids=ids)
def test_commands_of_a_page_run_as_written(page, given, capsys):
    make_files(Path("some"))
    for command in commands_of(page):
        if is_run(command):
            status = cli.main(shlex.split(command))
            assert status == (command in UNCONVERGED), (command, capsys.readouterr().err)


def test_commands_that_do_not_run_here_are_configured():
    for page in PAGES:
        for command in commands_of(page):
            options = program.parsed(shlex.split(command))
            if command.startswith("solve") and not re.search("PROBLEM|richardson|some/matrix", command):
                configuration_of(options)


def test_the_list_of_what_does_not_run_is_current():
    present = [text for page in PAGES for text in (*blocks_of(page), *calls_of(page), *commands_of(page))]
    for key in NOT_RUN:
        assert any(text.startswith(key) for text in present), f"no page has {key}"
