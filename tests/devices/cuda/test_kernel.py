"""Kernels of CUDA that are compiled side by side; no GPU needed."""

from __future__ import annotations

import threading
from concurrent.futures import Future

import pytest

from workbench.devices.cuda.kernel import Kernel, Kernels
from workbench.jit import compile_time as compiling

PATIENCE = 30
"""Seconds."""


def test_kernels_are_compiled_at_the_same_time():
    both = threading.Barrier(2)

    def build(text, name):
        # Ends only where the other one is compiled meanwhile.
        both.wait(PATIENCE)
        return text, name

    kernels = Kernels(build)
    first, second = kernels.get("a", "f"), kernels.get("b", "g")
    assert (first.wait(), second.wait()) == (("a", "f"), ("b", "g"))
    assert first.ready == ("a", "f")


def test_a_kernel_is_compiled_once_for_a_text_and_a_name():
    compiled = []
    kernels = Kernels(lambda *key: compiled.append(key))
    names = kernels.get("a", "f"), kernels.get("a", "f"), kernels.get("a", "g"), kernels.get("b", "f")
    kernels.wait()
    assert names[0] is names[1]
    assert sorted(compiled) == [("a", "f"), ("a", "g"), ("b", "f")]


def test_an_error_of_the_compiler_is_raised_where_the_kernel_is_waited_for_and_by_every_launch():
    def build(text, name):
        raise SyntaxError(text)

    kernels = Kernels(build)
    kernel = kernels.get("wrong", "f")
    with pytest.raises(SyntaxError, match="wrong"):
        kernels.wait()
    for _ in range(2):
        with pytest.raises(SyntaxError, match="wrong"):
            kernel.wait()


def test_seconds_of_waiting_are_those_of_compiling():
    class Coming(Future):
        """Is there some time after it is waited for, however long this thread was held up before."""

        def result(self, timeout=None):
            if not self.done():
                threading.Timer(0.2, self.set_result, ["compiled"]).start()
                super().result()
            return super().result(timeout)

    kernel = Kernel(Coming(), None)
    before = compiling.spent()
    assert kernel.wait() == "compiled"
    assert compiling.spent() - before > 0.1
    spent = compiling.spent()
    assert kernel.wait() == "compiled"
    assert compiling.spent() == spent
