"""Machine code is found again only while nothing that it depends on has changed, wherever that is defined."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import types

import numpy as np
import pytest

import workbench
from tests.jit.test_cache import start
from workbench.compiler.kinds import KernelError
from workbench.jit import compiled
from workbench.jit.compiled import Kernel
from workbench.jit.threads import launch

KERNEL = """
from helpers import scaled
from workbench.compiler.words import shared, threads
from workbench.jit.compiled import kernel


@kernel()
def scale(taken, x):
    for thread in threads(taken):
        for k in shared(taken, thread, x.size):
            x[k] = scaled(x[k])
"""
HELPERS = """
import far


def scaled(value):
    return far.added(value * far.FACTOR)
"""
FAR = """
from constants import SHIFT

FACTOR = {factor}


def added(value):
    return value {sign} SHIFT
"""
RUN = """
import json, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from kernels import scale
from workbench.jit import compiler
from workbench.jit.threads import launch

asked, ask = [], compiler.compile_elsewhere
compiler.compile_elsewhere = lambda text: asked.append(text) or ask(text)
x = np.ones(3)
launch(1, scale, x)
print(json.dumps({"x": x.tolist(), "compiled": sum(isinstance(text, tuple) for text in asked)}))
"""


def program(folder, *, factor=2.0, sign="+", shift=1.0):
    """Write a kernel, its helpers one and two modules away, and a constant three away."""
    texts = {
        "kernels": KERNEL,
        "helpers": HELPERS,
        "far": FAR.format(factor=factor, sign=sign),
        "constants": f"SHIFT = {shift}\n",
    }
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)


def test_changed_helpers_and_constants_of_other_modules_run_and_unchanged_ones_are_not_compiled_again(tmp_path):
    def result(**changed):
        program(tmp_path / "source", **changed)
        return start(tmp_path / "cache", tmp_path / "source", script=RUN, PYTHONDONTWRITEBYTECODE=1)

    assert result() == {"x": [3.0] * 3, "compiled": 1}
    assert result(sign="-") == {"x": [1.0] * 3, "compiled": 1}
    assert result(shift=10.0) == {"x": [12.0] * 3, "compiled": 1}
    assert result() == {"x": [3.0] * 3, "compiled": 0}


@pytest.fixture
def kernels(tmp_path, monkeypatch):
    """The kernel of this program in this process."""
    program(tmp_path / "source")
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(tmp_path / "source")
    yield importlib.import_module("kernels")
    for name in ("kernels", "helpers", "far", "constants"):
        sys.modules.pop(name, None)


def test_a_module_that_is_loaded_again_has_kernels_of_its_own(kernels, tmp_path):
    x = np.ones(3)
    launch(1, kernels.scale, x)
    assert (x == 3).all()
    program(tmp_path / "source", sign="- 7 *")
    for name in ("far", "helpers", "kernels"):
        importlib.reload(sys.modules[name])
    launch(1, kernels.scale, x)
    assert (x == -1).all()


def test_a_process_with_other_values_than_the_file_keeps_its_own(kernels, monkeypatch):
    """A module may be changed on disk while it runs, or in memory only."""
    monkeypatch.setattr(sys.modules["far"], "SHIFT", 7.0)
    x = np.ones(3)
    launch(1, kernels.scale, x)
    assert (x == 9).all()


def test_all_kernels_read_only_what_their_keys_hold():
    found = 0
    for module in pkgutil.walk_packages(workbench.__path__, "workbench."):
        if module.name.endswith("__main__"):
            continue
        try:
            members = vars(importlib.import_module(module.name))
        except ImportError:  # what is not installed here
            continue
        for value in list(members.values()):
            if isinstance(value, Kernel) and not value.source.text:
                assert compiled.dependencies_of(value.py_func)
                found += 1
    assert found > 30


def of(text, **known):
    """The dependencies of the function `f` of a text."""
    module = types.ModuleType("made_here")
    vars(module).update(known)
    exec(text, vars(module))
    return compiled.dependencies_of(vars(module)["f"])


@pytest.mark.parametrize("name", ["made_here", "__main__", "builtins", "workbench.errors"])
def test_a_kernel_that_calls_a_function_without_a_text_is_refused(name, kernels, monkeypatch):
    """As of a module that is made in memory, of a line that is typed in, or executed in the name of another."""
    namespace = {"__name__": name}
    exec("def scaled(value): return 2 * value", namespace)
    monkeypatch.setattr(kernels, "scaled", namespace["scaled"])
    with pytest.raises(KernelError, match="function scaled has no text, which kernels are read from; define it in a"):
        launch(1, kernels.scale, np.ones(3))


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("def f(x): return x + C", {"C": 1}, {"C": 2}),
        ("def f(x): return x + C", {"C": 1}, {"C": 1.0}),
        ("def f(x): return x + C[0]", {"C": (1, 2)}, {"C": (1, 3)}),
        ("def f(x): return x + C[0]", {"C": np.zeros(3)}, {"C": np.array([0, 0, -0.0])}),
        ("def f(x): return [C for _ in range(x)]", {"C": np.float32(1)}, {"C": np.float64(1)}),
        ("def g(C):\n    return lambda x: x + C\nf = g(D)", {"D": 1}, {"D": 2}),
        ("def f(x, c=C): return x + c", {"C": 1}, {"C": 2}),
        ("def f(x): return m.C + x", {"m": types.SimpleNamespace}, {"m": int}),
    ],
)
def test_a_value_that_a_kernel_reads_is_part_of_its_key(text, first, second, monkeypatch):
    monkeypatch.setattr(compiled, "source_of", lambda function: types.SimpleNamespace(text="", licences=None))
    assert of(text, **first) == of(text, **first)
    assert of(text, **first) != of(text, **second)


def test_what_has_no_value_for_a_key_is_refused(monkeypatch):
    monkeypatch.setattr(compiled, "source_of", lambda function: types.SimpleNamespace(text="", licences=None))
    with pytest.raises(TypeError, match="made_here.C, a dict, whose value is no part of its key"):
        of("def f(x): return C[x]", C={1: 2})
