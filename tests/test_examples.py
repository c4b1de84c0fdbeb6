"""Every public name has a docstring with an example, and every example gives what it says."""

import ast
import doctest
import importlib
import inspect
import itertools

import pytest

from scripts.reference import public
from tests.waiting import LONGEST
from workbench.devices.default_accelerator import default_accelerator
from workbench.devices.operator_protocols import OperatorTraits
from workbench.operators import Operator
from workbench.run import on_both

pytestmark = pytest.mark.timeout(LONGEST)

MOST_LINES = 5
"""Lines of code of an example."""
# A name in two modules, and two names of one object, are one.
PUBLIC = {id(each): (f"{module}.{name}", each) for module, name, each in public() if callable(each)}.values()


def example_of(name, each):
    return doctest.DocTestParser().get_doctest(inspect.getdoc(each) or "", {}, name, each.__module__, 0)


@pytest.mark.parametrize(("name", "each"), [pytest.param(*pair, id=pair[0]) for pair in PUBLIC])
def test_examples_give_what_they_say(name, each, tmp_path, monkeypatch):
    if each is on_both and not default_accelerator()[0]:
        pytest.skip("there is no accelerator")
    monkeypatch.chdir(tmp_path)
    test = example_of(name, each)
    assert test.examples, f"{name} has no example"
    lines = sum(example.source.count("\n") for example in test.examples)
    assert lines <= MOST_LINES, f"the example of {name} has {lines} lines"
    said = []
    assert doctest.DocTestRunner(verbose=False).run(test, out=said.append).failed == 0, "".join(said)


def test_public_members_are_documented():
    """Those of an operator by the protocols that it has."""
    said = {*vars(Operator), *vars(OperatorTraits)}
    bare = [
        f"{name}.{member}"
        for name, each in PUBLIC
        if inspect.isclass(each)
        for member, value in vars(each).items()
        if not member.startswith("_")
        and member not in said
        and (inspect.isroutine(value) or isinstance(value, property))
        if not inspect.getdoc(getattr(each, member))
    ]
    assert not bare


def text_below(module, name):
    """Whether a string stands below the assignment of a name, where the reference finds it; Python does not keep it."""
    whole = ast.parse(inspect.getsource(importlib.import_module(module))).body
    # Names that are imported at first use are imported for type checkers.
    body = [node for part in whole for node in (part.body if isinstance(part, ast.If) else [part])]
    for node, after in itertools.pairwise(body):
        if isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names):
            return text_below(node.module, name)
        if isinstance(node, ast.Assign | ast.AnnAssign) and ast.unparse(node).startswith((f"{name} =", f"{name}: ")):
            return isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
    return False


def test_public_constants_are_documented():
    constants = [(f"workbench.{module}", name) for module, name, each in public() if not callable(each)]
    assert ("workbench.records", "COLUMNS") in constants
    assert not [name for module, name in constants if not text_below(module, name)]
