"""Measures of the structure: what they count, and that the code is not above their bounds."""

from __future__ import annotations

import pytest

from scripts import measures

FILES = {
    "__init__.py": "",
    "errors.py": '"""What is wrong."""\nLIMIT: int = 1\n"""The largest."""\n',
    "run/__init__.py": "from workbench.run.steps import step\n",
    "run/steps.py": 'def step(x: Any, y: Anyone):\n    """Whether it ends."""\n'
    "    return cast(int, x) or cast_of(x)\nfrom workbench.extensions.flow import begin\n",
    "run/deep/petsc_binary.py": "def read():\n    from workbench import errors\n    return getattr(errors, 'LIMIT')\n",
    "extensions/flow/begin.py": "BEGIN = 0\n",
    "solvers/petsc.py": "import workbench.errors\nfrom workbench.run import steps\n",
}


@pytest.fixture
def root(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / "workbench" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("lines with `: Any`", ["workbench/run/steps.py:1"]),
        ("lines with `cast(`", ["workbench/run/steps.py:3"]),
        ("lines with `getattr(`", ["workbench/run/deep/petsc_binary.py:3"]),
        ("docstrings that begin badly", ["workbench/errors.py:1", "workbench/run/steps.py:2"]),
        ("rooms of petsc", ["run", "solvers"]),
        ("rooms of stepping", []),
        ("rooms of flow", ["extensions"]),
        ("modules with one importer", ["workbench.extensions.flow.begin"]),
        ("imports of extensions", ["workbench.run.steps: workbench.extensions.flow.begin"]),
    ],
)
def test_places_of_a_measure(root, name, places):
    assert measures.MEASURES[name](root) == places


def test_a_module_of_one_importer(root):
    (root / "workbench/solvers/petsc.py").write_text("import workbench.errors\n")
    assert measures.MEASURES["modules with one importer"](root) == [
        "workbench.extensions.flow.begin",
        "workbench.run.steps",
    ]


def test_numbers_above_a_bound_are_sentences():
    numbers = dict(measures.BOUNDS)
    assert not measures.above(numbers)
    numbers["files"] += 1
    (sentence,) = measures.above(numbers)
    assert sentence.startswith(f"files: {numbers['files']}, and the bound is {measures.BOUNDS['files']}")


def test_the_code_is_within_its_bounds(capsys):
    assert measures.BOUNDS.keys() == measures.MEASURES.keys()
    assert measures.main([]) == 0, capsys.readouterr().err


def test_places_are_listed_by_name(capsys):
    assert measures.main(["rooms", "of", "petsc"]) == 0
    assert "extensions" in capsys.readouterr().out.split()
    assert measures.main(["rooms of nothing"]) == 2
