"""What a linked kernel takes as its arguments, and object files that are not linked."""

from __future__ import annotations

import ctypes
import pickle

import llvmlite.binding as llvm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.compiler.kinds import KernelError
from workbench.errors import InputError
from workbench.jit import c_abi, compiled, fixed_text, launching, linking, store
from workbench.jit.threads import launch
from workbench.jit.work_stealing import counters

SUM = """
def kernel(taken, out, x):
    for thread in threads(taken):
        for chunk in shared(taken, thread, x.shape[0]):
            out[chunk] = x[chunk]
"""
NUMBERS = """
def kernel(taken, out, pair, a, b, c, whole):
    out[0], out[1] = pair[0][0], pair[1][1]
    out[2], out[3], out[4], out[5] = a, b, c, whole
"""
TYPES = compiled.kinds_of((counters(1), np.zeros(1), np.zeros(1)))


def swapped(x):
    return x.astype(x.dtype.newbyteorder())


@pytest.mark.parametrize(
    "change",
    [
        np.float32,
        np.int64,
        np.complex128,
        lambda x: np.pad(x, 3)[3:-3],
        lambda x: np.frombuffer(x.tobytes()),
        lambda x: x.view(np.recarray),
    ],
)
def test_arrays_of_another_type_have_code_of_their_own(change):
    kernel, x = compiled.generated(SUM), np.arange(5.0)
    for values in (x, change(x), x):
        out = np.zeros(5, complex if change is np.complex128 else float)
        launch(1, kernel, out, values)
        assert (out == x).all()


@pytest.mark.parametrize("wrong", [swapped(np.arange(5.0)), None, "text"])
def test_what_is_no_array_of_numbers_is_refused(wrong):
    kernel, out = compiled.generated(SUM), np.zeros(5)
    launch(1, kernel, out, np.arange(5.0))
    with pytest.raises(
        Exception, match="kernels take arrays, numbers and tuples of them, not a|not supported in kernels"
    ):
        launch(1, kernel, out, wrong)
    launch(1, kernel, out, np.arange(5.0))


@pytest.mark.parametrize(
    "gaps", [np.arange(10.0)[::2], np.zeros((3, 4)).T, np.frombuffer(bytes(41), np.uint8)[1:].view(float)]
)
def test_arrays_with_gaps_are_refused(gaps):
    with pytest.raises(KernelError, match="arrays without gaps, row by row; copy"):
        launch(1, compiled.generated(SUM), np.zeros(5), gaps)


def test_an_array_that_is_read_only_is_read_only():
    kernel, fixed = compiled.generated(SUM), np.arange(5.0)
    fixed.flags.writeable = False
    out = np.zeros(5)
    launch(1, kernel, out, fixed)
    assert (out == fixed).all()
    with pytest.raises(KernelError, match="a store into an array that is read-only: out.chunk"):
        launch(1, kernel, fixed, out)


def test_a_wrong_number_of_arguments_is_an_error():
    kernel, out = compiled.generated(SUM), np.zeros(5)
    launch(1, kernel, out, np.arange(5.0))
    with pytest.raises(Exception, match="2 arguments for 3 parameters"):
        launch(1, kernel, out)


def test_tuples_and_numbers_of_all_kinds():
    kernel, out = compiled.generated(NUMBERS), np.zeros(6, complex)
    for whole in (np.int64(6), 6, np.int32(6)):
        launch(1, kernel, out, (np.full(2, 1.0), np.full(3, 2.0)), np.float32(0.5), 4.25, 5 + 1j, whole)
        assert (out == [1, 2, 0.5, 4.25, 5 + 1j, 6]).all()
    with pytest.raises(Exception, match="entry 1 of a tuple of 1"):
        launch(1, kernel, out, (np.full(2, 1.0),), np.float32(0.5), 4.25, 5 + 1j, 6)


@pytest.mark.parametrize("number", [np.longlong(7), np.ulonglong(7), np.uint8(7), np.intp(7), 7])
def test_integers_of_all_types_are_one_kind(number):
    kernel, out = compiled.generated("def kernel(taken, out, k):\n    out[0] = k + 1\n"), np.zeros(1)
    launch(1, kernel, out, number)
    assert out[0] == 8


@pytest.mark.parametrize("kind", [float, np.float32, np.complex64, complex, np.bool_, int])
def test_numbers_may_be_many(kind):
    names = ", ".join(f"a{k}" for k in range(600))
    sums = "\n".join(f"    out[{k}] = a{k}" for k in range(600))
    kernel, out = compiled.generated(f"def kernel(taken, out, {names}):\n{sums}\n"), np.zeros(600, complex)
    numbers = [kind(k) for k in range(600)]
    launch(1, kernel, out, *numbers)
    assert (out == numbers).all()


class Refuses:
    def __getitem__(self, place):
        raise ZeroDivisionError


@pytest.mark.parametrize("other", [Refuses(), memoryview(np.zeros((2, 2))), [1.0], None])
def test_what_stands_where_a_tuple_was_is_refused(other):
    kernel, out = compiled.generated("def kernel(taken, out, pair):\n    out[0] = pair[0]\n"), np.zeros(1)
    launch(1, kernel, out, (2.0,))
    with pytest.raises(KernelError, match="kernels take arrays, numbers and tuples of them, not a"):
        launch(1, kernel, out, other)
    assert out[0] == 2


LEAVES = st.sampled_from(
    (np.full(3, 2.0), np.full((2, 2), 3, np.uint8), np.full(1, 4, np.complex64), 5.5, np.float32(6.5), 7 - 1j, True, -8)
)


def paths_of(value, path=""):
    """The text and the value of each array and number in nested tuples."""
    if isinstance(value, tuple):
        return [found for k, each in enumerate(value) for found in paths_of(each, f"{path}[{k}]")]
    if isinstance(value, np.ndarray):
        return [(f"{path}[{', '.join('0' * value.ndim)}]", value.flat[0])]
    return [(path, value)]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.recursive(LEAVES, lambda inner: st.lists(inner, min_size=1, max_size=3).map(tuple)), min_size=1))
def test_nested_tuples_of_all_kinds_are_read(arguments):
    found = [each for k, value in enumerate(arguments) for each in paths_of(value, f"a{k}")]
    names = ", ".join(f"a{k}" for k in range(len(arguments)))
    stores = "\n".join(f"    out[{k}] = {path}" for k, (path, _) in enumerate(found))
    kernel, out = compiled.generated(f"def kernel(taken, out, {names}):\n{stores}\n"), np.zeros(len(found), complex)
    launch(1, kernel, out, *arguments)
    assert (out == [value for _, value in found]).all()
    # Code for these types does nothing where an array in the innermost tuple is of another class.
    kinds = compiled.kinds_of((counters(1), out, *arguments))
    before = out.copy()
    assert kernel.compile(kinds).launch(counters(1), (out.view(np.recarray), *arguments)) == launching.WRONG_TYPES
    assert kernel.compile(kinds).launch(counters(1), (out, *arguments[:-1], (arguments[-1],))) == launching.WRONG_TYPES
    assert (out == before).all()


def test_a_damaged_object_is_compiled_again(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    text = SUM.replace("x[chunk]", "3*x[chunk]")
    launch(1, compiled.generated(text), np.zeros(5), np.arange(5.0))
    file = tmp_path / "machine-code" / f"{compiled.generated(text).key(TYPES)}{store.SUFFIX}"
    content = file.read_bytes()
    file.write_bytes(content[:2000] + bytes(64) + content[2064:])
    assert store.read(file.stem) is None
    compiled._generated.pop(text)
    out = np.zeros(5)
    launch(1, compiled.generated(text), out, np.arange(5.0))
    assert (out == 3 * np.arange(5.0)).all()
    assert store.read(file.stem)


TEXT = "define i64 @answer() {\n  ret i64 42\n}\n"


def answer(library):
    return ctypes.CFUNCTYPE(ctypes.c_int64)(library["answer"])()


@pytest.mark.parametrize("stored", [b"", b"junk", bytes(5000)])
def test_a_text_whose_stored_code_does_not_link_is_compiled_again(tmp_path, monkeypatch, stored):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    assert answer(fixed_text.link_text(linking.linker(), TEXT, {}, ("answer",))) == 42
    (file,) = tmp_path.glob("machine-code/*.kernel")
    code = store.read(file.stem)
    store.write(file.stem, stored)
    assert answer(fixed_text.link_text(linking.linker(), TEXT, {}, ("answer",))) == 42
    assert store.read(file.stem) == code


def test_an_interrupt_while_a_text_is_linked_is_forgotten(monkeypatch):
    link = llvm.JITLibraryBuilder.link

    def interrupted(*arguments):
        link(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(llvm.JITLibraryBuilder, "link", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fixed_text.link_text(linking.linker(), TEXT, {}, ("answer",))
    assert answer(fixed_text.link_text(linking.linker(), TEXT, {}, ("answer",))) == 42


@pytest.fixture
def code():
    return c_abi.object_file(compiled.generated(SUM).text(TYPES))


def test_a_symbol_that_the_process_does_not_have_is_refused(code):
    names, machine_code = pickle.loads(code)
    with pytest.raises(RuntimeError, match="needs no_such_symbol, which this process does not have"):
        linking.link(pickle.dumps(([*names, "no_such_symbol"], machine_code)), TYPES)
    # The object file needs a symbol that is not in the list.
    with pytest.raises(RuntimeError, match="symbols"):
        linking.link(pickle.dumps(([name for name in names if name != launching.START], machine_code)), TYPES)
    assert linking.link(code, TYPES)


@pytest.mark.parametrize("length", [0, 200, 1500])
def test_an_object_that_is_cut_is_refused(code, length):
    names, machine_code = pickle.loads(code)
    with pytest.raises(RuntimeError):
        linking.link(pickle.dumps((names, machine_code[:length])), TYPES)


def test_what_cannot_be_linked_is_compiled_again(tmp_path, monkeypatch, code):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    kernel = compiled.generated(SUM.replace("x[chunk]", "5*x[chunk]"))
    names, machine_code = pickle.loads(code)
    store.write(kernel.key(TYPES), pickle.dumps(([*names, "no_such_symbol"], machine_code)))
    out = np.zeros(5)
    launch(1, kernel, out, np.arange(5.0))
    assert (out == 5 * np.arange(5.0)).all()


def test_other_layouts_of_arrays_are_refused_in_a_sentence(monkeypatch):
    assert linking.is_laid_out(np.zeros((2, 3), np.float32), 1.0)
    # As if the number of dimensions had another place.
    monkeypatch.setattr(linking, "DIMENSIONS", linking.DIMENSIONS + 4)
    assert not linking.is_laid_out(np.zeros((2, 3)), 1.0)
    with pytest.raises(InputError, match=r"NumPy [\d.]+ lay out arrays and tuples; install"):
        linking.linker.__wrapped__()
