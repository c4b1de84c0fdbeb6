"""Hybrid solvers and limits of memory on the command line."""

import json

import pytest

from workbench import devices
from workbench.cli import main
from workbench.errors import InputError
from workbench.run import Configuration, configure, read_size


@pytest.fixture(autouse=True, scope="module")
def _opencl():
    try:
        devices.device("opencl")
    except InputError as sentence:
        pytest.skip(str(sentence))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("4096", 4096), ("100MB", 10**8), ("1.5 kB", 1500), ("2GiB", 2**31), ("3KiB", 3072), ("7B", 7), ("1T", 10**12)],
)
def test_sizes(text, expected):
    assert read_size(text) == expected


@pytest.mark.parametrize("text", ["", "MB", "-1MB", "1 parsec", "1e6"])
def test_what_is_no_size(text):
    with pytest.raises(InputError, match="a size is a number of bytes"):
        read_size(text)


def solve(capsys, *arguments):
    status = main(["solve", "poisson27", "--n", "10", "--device", "opencl", *arguments])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def test_a_matrix_larger_than_the_limit(capsys):
    status, out, _ = solve(capsys, "--solver", "hybrid3", "--memory-limit", "200kB", "--json")
    answer = json.loads(out)
    assert status == 0
    assert 12 * answer["nnz"] > 200_000
    assert any("the cores have" in note and "rows that stand for the matrix" in note for note in answer["notes"])


@pytest.mark.parametrize("solver", ["cg", "pipecg", "hybrid1", "hybrid2"])
def test_only_hybrid3_takes_it(capsys, solver):
    status, _, err = solve(capsys, "--solver", solver, "--memory-limit", "200kB")
    assert status == 2
    assert err.startswith("workbench: device opencl may use 0.18 of 0.2 MB for vectors and matrices, and 0.")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--memory-limit", "lots"], "a size is a number"),
        (["--memory-limit", "0"], "memory_limit must be between 1 byte and 8 EiB, got 0"),
        (["--solver", "hybrid3", "--memory-limit", "2kB"], "not enough for one row; raise the limit"),
        (["--solver", "hybrid3:share=2"], "hybrid3: share must be between 0 and 1, got 2"),
        (["--solver", "hybrid3:fused=maybe"], "fused must be true or false"),
        (["--solver", "hybrid4"], "unknown solver 'hybrid4'; did you mean hybrid"),
        (["--solver", "hybrid2", "--preconditioner", "neumann"], "acts element by element"),
        (["--solver", "hybrid", "--device", "cpu"], "device cpu is the cores alone"),
    ],
)
def test_wrong_input_is_one_sentence(capsys, arguments, sentence):
    status, out, err = solve(capsys, *arguments)
    assert status == 2
    assert not out
    assert sentence in err
    assert err.count("\n") == 1


def test_the_limit_is_part_of_the_configuration():
    configuration = configure("poisson5", n=8, memory_limit=12345)
    plain = configuration.to_dict()
    assert Configuration.from_dict(json.loads(json.dumps(plain))) == configuration
    # A record of a version that had no limits.
    del plain["memory_limit"]
    assert Configuration.from_dict(plain).memory_limit is None


def test_the_cores_have_a_limit_too(capsys):
    status = main(["solve", "poisson27", "--n", "10", "--memory-limit", "200kB"])
    assert status == 2
    assert "device cpu may use 0.2 MB and 0." in capsys.readouterr().err
